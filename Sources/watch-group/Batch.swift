import GroupCommandLine
import GroupContainer

/// The input of a COMMAND: changes that settled together, and, after a failure, the changes that came since.
struct Batch {
    private var paths: [ItemPath] = []
    private var known: Set<ItemPath> = []
    private(set) var isRescan = false
    /// The place after all changes of the batch.
    var cursor: Cursor?

    var isEmpty: Bool { paths.isEmpty && !isRescan }
    var count: Int { paths.count }

    /// Adds the paths of a change (of a move, both). A path is kept once; paths keep the order in which they came.
    mutating func add(_ change: Change) {
        switch change.kind {
        case .rescan: isRescan = true
        case .bookmark, .degraded: break
        default:
            for path in [change.kind.otherPath, change.path] {
                if let path, known.insert(path).inserted { paths.append(path) }
            }
        }
    }

    /// Returns a line for each path, escaped as in the lines of watch-group; or each path unescaped, with a NUL after
    /// it.
    func input(separatedByNUL: Bool) -> [UInt8] {
        paths.flatMap { path in
            separatedByNUL ? path.bytes + [0] : Array((PipeText.escaped(path.bytes) + "\n").utf8)
        }
    }
}
