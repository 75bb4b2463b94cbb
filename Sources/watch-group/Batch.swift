import GroupCommandLine
import GroupContainer

/// What a COMMAND is to be told of: changes that settled together, and, after a failure, those that came since.
struct Batch {
    private var paths: [ItemPath] = []
    private var known: Set<ItemPath> = []
    private(set) var isRescan = false
    /// Behind all of it.
    var cursor: Cursor?

    var isEmpty: Bool { paths.isEmpty && !isRescan }
    var count: Int { paths.count }

    /// A path once, in the order in which they came; of a move both.
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

    /// A line a path, escaped as in the lines of watch-group, or as it is with a NUL behind.
    func input(separatedByNUL: Bool) -> [UInt8] {
        paths.flatMap { path in
            separatedByNUL ? path.bytes + [0] : Array((PipeText.escaped(path.bytes) + "\n").utf8)
        }
    }
}
