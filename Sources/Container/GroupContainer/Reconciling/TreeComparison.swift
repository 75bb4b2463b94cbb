// Imports nothing: no file, clock or process.

/// A directory that was opened to be compared.
struct DirectoryListing: Sendable {
    /// The directory's watch; nil if it could not be watched.
    var watch: Int32?
    var inode: UInt64
    /// The entries with their states; nil for an entry that vanished meanwhile.
    var entries: [(name: [UInt8], state: ItemState?)]
    /// Whether the directory is another container, whose contents are not listed.
    var isContainer = false
    /// The watch of a `.group` in the directory that does not make it a container, but may do so later.
    var markWatch: Int32?
}

/// A comparison of directories with the journal's tree, a few directories at a time. Each directory is watched before
/// it is listed, so that later changes cause events.
struct TreeComparison: Sendable {
    private var directories: [ItemLocation?] = []
    /// The same directories, each with whether everything below it is listed, too. If not, a directory below it is
    /// listed only if it is not watched.
    private var waiting: [ItemLocation?: Bool] = [:]
    /// The value in `waiting` of the directory that `next` returned last.
    private var listsWatched = true
    /// Locations where the disk lacks items of the journal, at the location or below it. They are compared at the end,
    /// so that an item that is found in another directory is recorded as moved.
    private var missing: [ItemLocation] = []
    /// Whether everything is to be listed once more after this pass, because events were lost meanwhile.
    private var isRepeated = false
    /// Whether `gone` is from the pass before, too.
    private var hasCarriedOver = false

    /// Whether nothing is left to be listed or compared.
    var isOver: Bool { directories.isEmpty && missing.isEmpty && !isRepeated }

    /// Adds the whole tree. A pass that has begun is finished first, and another pass follows: restarting at each loss
    /// of events might never finish.
    mutating func addEverything() {
        if directories.isEmpty { add(nil) } else if waiting[nil] != true { isRepeated = true }
    }

    /// Adds a directory and everything below it.
    mutating func add(_ directory: ItemLocation?) { add(directory, listsWatched: true) }

    /// Adds a directory that was just recorded as created, and those in it that are not watched. A directory that is
    /// watched was listed, and since then events report what changes in it. Without this, each of many nested
    /// directories would list all that is below it. (A directory that was recorded as moved brings items with it in the
    /// journal. All of them are compared: they may be gone.)
    mutating func addCreated(_ directory: ItemLocation) { add(directory, listsWatched: false) }

    private mutating func add(_ directory: ItemLocation?, listsWatched: Bool) {
        switch waiting.updateValue(listsWatched, forKey: directory) {
        case nil: directories.append(directory)
        case true?: waiting[directory] = true
        case false?: break
        }
    }

    /// Notes that a directory was moved meanwhile. The old location is still compared, because another directory may be
    /// there now.
    mutating func noteMove(from origin: ItemLocation, to goal: ItemLocation) {
        for directory in directories {
            let listsWatched = waiting[directory] ?? true
            if directory == origin { add(goal, listsWatched: listsWatched) }
            if let moved = directory?.moved(from: origin, to: goal) { add(moved, listsWatched: listsWatched) }
        }
        missing += missing.compactMap { $0.moved(from: origin, to: goal) }
    }

    /// Returns the next directory to list, the last one found first; nil when all are done.
    mutating func next() -> ItemLocation?? {
        guard let directory = directories.popLast() else { return nil }
        listsWatched = waiting.removeValue(forKey: directory) ?? true
        return .some(directory)
    }

    /// Returns the locations in the directory that `next` has returned that differ from the journal's tree. Adds the
    /// directories in it to those to be listed, and the missing items to those that are compared at the end.
    mutating func take(
        _ listing: DirectoryListing, of directory: ItemLocation?, _ treeIndex: TreeIndex,
        isWatched: (_ directory: ItemLocation, _ inode: UInt64) -> Bool
    ) -> [ItemLocation] {
        let listsWatched = listsWatched
        var differing: [ItemLocation] = []
        var known = 0
        for (name, state) in listing.entries {
            guard let state, let location = ItemLocation.entry(name, of: directory) else { continue }
            if treeIndex.contains(location) { known += 1 }
            if ExternalChange.decide(known: treeIndex.reported(location), found: state, by: .comparison) != .nothing {
                differing.append(location)
            }
            if state.type == .directory {
                if listsWatched || !isWatched(location, state.inode) { add(location, listsWatched: listsWatched) }
            } else if treeIndex.hasItems(below: location) {
                missing.append(location)
            }
        }
        if known < treeIndex.entryCount(of: directory) {
            let present = Set(listing.entries.lazy.filter { $0.state != nil }.map(\.name))
            missing += treeIndex.entries(of: directory).filter { !present.contains($0.name) }
        }
        return differing
    }

    /// Returns the missing items, once all directories are done. If everything is listed once more, they wait for that,
    /// as they may be found in another directory; but only once.
    mutating func takeGone() -> [ItemLocation] {
        if !directories.isEmpty { return [] }
        if isRepeated {
            isRepeated = false
            add(nil)
            if !hasCarriedOver {
                hasCarriedOver = true
                return []
            }
        }
        hasCarriedOver = false
        defer { missing = [] }
        return missing
    }
}
