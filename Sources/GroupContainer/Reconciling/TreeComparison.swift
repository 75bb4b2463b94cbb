// Imports nothing: no file, clock or process.

/// A directory that was opened to be compared.
struct DirectoryListing: Sendable {
    /// Nil where it could not be watched.
    var watch: Int32?
    var inode: UInt64
    /// With what stands there; nil for one that vanished meanwhile.
    var entries: [(name: [UInt8], state: ItemState?)]
    /// It is another container: what is in it is not listed.
    var isContainer = false
}

/// Goes through directories, some at a time, and finds what is not as the journal has it. Each is watched before it is
/// listed, so what comes later is told by an event.
struct TreeComparison: Sendable {
    private var directories: [ItemLocation?] = []
    private var waiting = Set<ItemLocation?>()
    /// Told at the end, so that what stands elsewhere by now is told as moved.
    private var gone: [ItemLocation] = []

    var isOver: Bool { directories.isEmpty && gone.isEmpty }

    mutating func add(_ directory: ItemLocation?) {
        if waiting.insert(directory).inserted { directories.append(directory) }
    }

    /// A directory was moved meanwhile. Where it was is looked at, too: another one may stand there.
    mutating func noteMove(from origin: ItemLocation, to goal: ItemLocation) {
        for directory in directories {
            if directory == origin { add(goal) }
            if let place = directory?.moved(from: origin, to: goal) { add(place) }
        }
        gone += gone.compactMap { $0.moved(from: origin, to: goal) }
    }

    /// The next directory to list, the last one that was found first; nil when all are done.
    mutating func next() -> ItemLocation?? {
        guard let directory = directories.popLast() else { return nil }
        waiting.remove(directory)
        return .some(directory)
    }

    /// What is to be looked at in a directory, as the listing has it.
    mutating func take(_ listing: DirectoryListing, of directory: ItemLocation?, _ treeIndex: TreeIndex)
        -> [ItemLocation]
    {
        var missing = treeIndex.entries(of: directory)
        var differing: [ItemLocation] = []
        for (name, state) in listing.entries {
            guard let state, let location = ItemLocation.entry(name, of: directory) else { continue }
            missing.remove(location)
            if ExternalChange.decide(known: treeIndex[location], found: state, by: .comparison) != .nothing {
                differing.append(location)
            }
            if state.type == .directory {
                add(location)
            } else if !treeIndex.entries(of: location).isEmpty {
                gone.append(location)
            }
        }
        gone += missing
        return differing
    }

    /// What was missed, once all directories are done.
    mutating func takeGone() -> [ItemLocation] {
        if !directories.isEmpty { return [] }
        defer { gone = [] }
        return gone
    }
}
