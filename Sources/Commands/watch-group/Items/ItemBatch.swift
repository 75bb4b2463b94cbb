import GroupBytes
import GroupCommandLine
import GroupContainer

/// The input of a COMMAND: changes that settled together, and, after a failure, the changes that came since.
struct ItemBatch: WatchBatch {
    private var paths: [ItemPath] = []
    private var known: Set<ItemPath> = []
    private(set) var isRescan = false

    var isEmpty: Bool { paths.isEmpty && !isRescan }
    var count: Int { paths.count }

    /// Adds the paths of a change (of a move, both). A path is kept once; paths keep the order in which they came.
    mutating func add(_ change: Change, at now: Int64) {
        switch change.kind {
        case .rescan: isRescan = true
        case .bookmark, .degraded: break
        default:
            for path in [change.kind.otherPath, change.path] {
                if let path, known.insert(path).inserted { paths.append(path) }
            }
        }
    }

    /// Returns 0: the changes have settled when they come.
    func wait(from now: Int64) -> Int64 { isEmpty ? .max : 0 }

    /// Returns true: what settles later is another batch.
    func isOverdue(at now: Int64) -> Bool { true }

    var successor: ItemBatch { ItemBatch() }

    func input(separatedByNUL: Bool) -> [UInt8] {
        paths.flatMap { path in
            separatedByNUL ? path.bytes + [0] : Array((PipeText.escaped(path.bytes) + "\n").utf8)
        }
    }
}
