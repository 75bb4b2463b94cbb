// Imports nothing: no file, clock or process.

/// What a watcher needs besides: directories that can be watched and listed.
protocol WatchedFileSystem: FileSystemView {
    /// Watches a directory, then lists it; nil where there is none, or it may not be entered.
    mutating func list(_ directory: ItemLocation?) throws(CoordinationError) -> DirectoryListing?
    mutating func unwatch(_ watch: Int32)
}

/// Turns the events of watched directories into looks at the items that they are about, and compares directories that
/// nobody watched before. It keeps the watches: each directory of the container has one, wherever it is moved.
struct TreeWatcher<View: WatchedFileSystem> {
    var reconciler: Reconciler<View>
    private(set) var watches = WatchTable()
    private(set) var comparison = TreeComparison()
    private var pairs = RenamePairs()
    /// Looked for in vain since the events were last read to their end. Perhaps it was moved, or a directory around it,
    /// of which an event that is still to be read tells: then it is looked at where it went, and that directory is
    /// compared.
    private var vanished: [ItemLocation: Hint] = [:]
    /// Of the journal, when the events were last read to their end.
    private var versionBefore = 0

    init(_ view: View) { reconciler = Reconciler(view) }

    /// A half of a rename is missing still, or where something went on to: `take` wants to be called again within
    /// milliseconds, with what there is.
    var awaitsMore: Bool { pairs.isWaiting || !reconciler.passing.isEmpty }
    /// Everything that was told of was looked at.
    var isSettled: Bool { comparison.isOver && !awaitsMore && reconciler.worklist.isEmpty }

    /// Events were lost, or this is the beginning.
    mutating func compareEverything() {
        reconciler.passing = [:]
        comparison.add(nil)
    }

    /// Of a container inside this one only the directory itself is watched, for what would end its being one.
    mutating func watched(_ watch: Int32, _ location: ItemLocation?, inode: UInt64, isContainer: Bool) {
        watches.set(watch, location, inode: inode)
        unwatch(watches.close(watch, isContainer))
    }

    /// Events, in their order: all that there were, or with `more` only the first.
    mutating func take(_ events: [DirectoryEvent], more: Bool) throws(CoordinationError) {
        reconciler.baseline = versionBefore
        for event in events { try take(event) }
        if more { return }
        versionBefore = reconciler.version
        // Half a rename may be that of a directory in which something was looked for.
        if !pairs.isWaiting {
            vanished = [:]
            reconciler.endPassing()
            for (watch, location) in watches.forgetReplaced() {
                reconciler.view.unwatch(watch)
                comparison.add(location)
            }
        }
        for half in pairs.endRound() { left(half) }
    }

    private mutating func take(_ event: DirectoryEvent) throws(CoordinationError) {
        if event.kind == .ended { return watches.end(event.watch) }
        guard let directory = watches.location(of: event.watch) else { return }
        // It has become a container, or is one no longer.
        if let directory, event.name.first == UInt8(ascii: "."), ContainerMark.isOne(event.name) {
            return comparison.add(directory)
        }
        guard !watches.isClosed(event.watch), let location = ItemLocation.entry(event.name, of: directory) else {
            return
        }
        switch event.kind {
        case .ended: break
        case .content: reconciler.worklist.add(location, .content)
        case .attributes: reconciler.worklist.add(location, .attributes)
        case .removed: reconciler.noteRemoval(location)
        case .created: appeared(location, isDirectory: event.isDirectory)
        case .left(let cookie): pairs.left(location, event.isDirectory ? watches.detach(location) : nil, cookie: cookie)
        case .arrived(let cookie):
            if let half = pairs.arrived(cookie: cookie) {
                try moved(half, to: location, isDirectory: event.isDirectory)
            } else {
                appeared(location, isDirectory: event.isDirectory)
            }
        }
    }

    private mutating func appeared(_ location: ItemLocation, isDirectory: Bool) {
        reconciler.worklist.add(location, .comparison)
        if isDirectory { comparison.add(location) }
    }

    private mutating func moved(
        _ half: RenamePairs.Half, to goal: ItemLocation, isDirectory: Bool
    ) throws(CoordinationError) {
        let origin = half.origin
        if let why = vanished[origin], why >= .content { reconciler.worklist.add(goal, why) }
        if isDirectory {
            // What is in it went missing where it was or where the journal has it, or was found where it is.
            let places = [origin, goal] + (reconciler.passing[origin].map { [$0.location] } ?? [])
            if try !follow(half, to: goal) {
                comparison.add(goal)
            } else if vanished.keys.contains(where: { gone in places.contains { gone == $0 || gone.isBelow($0) } }) {
                comparison.add(goal)
            }
            for (location, why) in vanished {
                guard let place = location.moved(from: origin, to: goal) else { continue }
                if why >= .content { reconciler.worklist.add(place, why) }
                noteVanished(place, why)
            }
            comparison.noteMove(from: origin, to: goal)
            pairs.noteMove(from: origin, to: goal)
        }
        reconciler.noteMove(from: origin, to: goal, isDirectory: isDirectory)
    }

    /// The watch of a directory goes with it. False: the directory at the goal is not that one.
    private mutating func follow(
        _ half: RenamePairs.Half, to goal: ItemLocation
    ) throws(CoordinationError) -> Bool {
        guard let directory = half.directory else { return false }
        let found = try reconciler.view.found(goal)
        if found?.inode != directory.inode {
            // The event was about another one, which stood there before this was found there: the kernel tells of an
            // exchange as of two renames, one after the other.
            if try reconciler.view.found(half.origin)?.inode == directory.inode {
                watches.attach(directory, at: half.origin)
                return false
            }
            if let found, watches.inode(at: goal) == found.inode {
                unwatch(watches.remove(directory))
                comparison.add(half.origin)
                return false
            }
        }
        // Or it has gone on from there, as an event that is still to be read tells.
        watches.attach(directory, at: goal)
        return found == nil || found?.inode == directory.inode
    }

    private mutating func left(_ half: RenamePairs.Half) {
        for place in [half.origin] + half.others { reconciler.noteRemoval(place) }
        guard let directory = half.directory else { return }
        unwatch(watches.remove(directory))
        // It may be there again, and have been watched since, before this was read.
        comparison.add(half.origin)
    }

    private mutating func unwatch(_ gone: [Int32]) {
        for watch in gone { reconciler.view.unwatch(watch) }
    }

    /// Looks at what was told of, then compares about so many entries. True if it wrote anything.
    @discardableResult
    mutating func work(comparing limit: Int = 256) throws(CoordinationError) -> Bool {
        var wrote = try reconciler.work()
        for directory in reconciler.takeUnlisted() { comparison.add(directory) }
        var listed = 0
        while listed < limit, let directory = comparison.next() {
            listed += 1
            guard let listing = try reconciler.view.list(directory) else {
                if let directory { noteVanished(directory, .comparison) }
                continue
            }
            // Another one stands there than was told.
            if let directory, reconciler.view.treeIndex[directory]?.inode != listing.inode {
                noteVanished(directory, .comparison)
            }
            if let watch = listing.watch {
                watched(watch, directory, inode: listing.inode, isContainer: listing.isContainer)
            }
            if listing.isContainer, let directory, try reconciler.removeContents(of: directory) { wrote = true }
            listed += listing.entries.count
            for location in comparison.take(listing, of: directory, reconciler.view.treeIndex) {
                reconciler.worklist.addDifference(location)
            }
        }
        for location in comparison.takeGone() { reconciler.worklist.addDifference(location) }
        if listed > 0 || !reconciler.worklist.isEmpty, try reconciler.work() { wrote = true }
        for directory in reconciler.takeUnlisted() { comparison.add(directory) }
        for (location, why) in reconciler.takeVanished() { noteVanished(location, why) }
        return wrote
    }

    private mutating func noteVanished(_ location: ItemLocation, _ why: Hint) {
        vanished[location] = max(why, vanished[location] ?? why)
    }
}
