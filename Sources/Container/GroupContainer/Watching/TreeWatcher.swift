// Imports nothing: no file, clock or process.

/// The file system as a watcher needs it: with directories that can be watched and listed.
protocol WatchedFileSystem: FileSystemView {
    /// Watches a directory, then lists it; nil if there is none, or if it may not be entered.
    mutating func list(_ directory: ItemLocation?) throws(CoordinationError) -> DirectoryListing?
    mutating func unwatch(_ watch: Int32)
    /// Notes that a directory is shown at another location, too, and has its watch for that; nil: that it is not.
    mutating func noteOtherLocation(_ other: ShownLocation?, of directory: ItemLocation?)
    /// Returns whether a directory, or one in it, could not be watched or listed.
    func hasGap(in directory: ItemLocation) -> Bool
    /// Returns the registered database that SQLite keeps this file beside; nil where the location is that of an item.
    func database(of location: ItemLocation) -> ItemLocation?
}

extension WatchedFileSystem {
    func noteOtherLocation(_ other: ShownLocation?, of directory: ItemLocation?) {}
    func hasGap(in directory: ItemLocation) -> Bool { false }
    func database(of location: ItemLocation) -> ItemLocation? { nil }
}

/// Where else a directory is that a mount shows a second time.
enum ShownLocation: Equatable, Sendable {
    case container
    case directory(ItemLocation)
}

/// Turns the events of watched directories into locations for the reconciler, and compares directories that were not
/// watched before. The watcher keeps the watches: each directory of the container has one, wherever it is moved.
struct TreeWatcher<View: WatchedFileSystem> {
    var reconciler: Reconciler<View>
    private(set) var watches = WatchTable()
    /// The directories of the watches of a `.group` that makes no container yet, by their own watches.
    private var marks: [Int32: Int32] = [:]
    private(set) var comparison = TreeComparison()
    private var pairs = RenamePairs()
    /// Events that were read and not taken, each with the round in which it was read. The first one is half of a rename
    /// whose other half may still be read. What happened behind it is recorded behind it.
    private var held: [(event: DirectoryEvent, round: Int)] = []
    /// How often the events were read to their end.
    private var round = 0
    /// Whether records were written before all events were taken.
    private var hasWritten = false
    /// The last rename of an item that the journal has over another one, if it is not recorded yet.
    private var replacement: (from: ItemLocation, to: ItemLocation)?
    /// Locations that were looked for in vain since the events were last read to their end. Such an item, or a
    /// directory around it, may have been moved, which an event that is still to be read reports: the item is then
    /// compared at its new location, and so is that directory.
    private var vanished: [ItemLocation: Hint] = [:]
    /// The value of `Reconciler.version` when the events were last read to their end.
    private var versionBefore = 0

    init(_ view: View) { reconciler = Reconciler(view) }

    /// Whether half of a rename is still missing, or the location where an item moved on to: `take` is then to be
    /// called again within milliseconds, with the events there are.
    var awaitsMore: Bool { !held.isEmpty || !reconciler.pendingRenames.isEmpty }
    /// Whether everything that was reported has been compared.
    var isCaughtUp: Bool { comparison.isOver && !awaitsMore && reconciler.worklist.isEmpty }

    /// Compares the whole tree: at the beginning, and after events were lost.
    mutating func compareEverything() {
        reconciler.forgetMoves()
        comparison.addEverything()
    }

    /// Compares an item and, if it is a directory, everything below it.
    mutating func compare(_ location: ItemLocation) {
        reconciler.worklist.add(location, .comparison)
        comparison.add(location)
    }

    /// Notes a directory's watch. In a container inside this one only its directory itself is watched, for the event
    /// that ends its being a container.
    mutating func watched(_ watch: Int32, _ location: ItemLocation?, inode: UInt64, isContainer: Bool) {
        watches.set(watch, location, inode: inode)
        unwatch(watches.close(watch, isContainer))
    }

    /// Returns whether a watch is that of a directory, or of a `.group` in one.
    func owns(_ watch: Int32) -> Bool { watches.isWatched(watch) || marks[watch] != nil }

    /// The watches to be ended when no one watches any more.
    var watchNumbers: [Int32] { watches.numbers + marks.keys }

    private mutating func noteMark(_ mark: Int32?, of directory: Int32) {
        for (other, owner) in marks where owner == directory && other != mark {
            marks[other] = nil
            unwatch([other])
        }
        if let mark { marks[mark] = directory }
    }

    /// Takes events in their order: all that there were, or with `more` only the first of them.
    mutating func take(_ events: [DirectoryEvent], more: Bool) throws(CoordinationError) {
        reconciler.baseline = versionBefore
        let queue = held + events.map { ($0, round) }
        held = []
        let arrived = Set(queue.compactMap { if case .arrived(let cookie) = $0.event.kind { cookie } else { nil } })
        for (index, (event, read)) in queue.enumerated() {
            // The kernel queues the halves in succession, but they may be read apart.
            if case .left(let cookie) = event.kind, !arrived.contains(cookie), more || read == round,
                queue.count - index <= Self.mostHeld
            {
                if !more, case .some(let directory) = watches.location(of: event.watch),
                    let location = ItemLocation.entry(event.name, of: directory)
                {
                    reconciler.view.awaitRenames(from: location)
                }
                held = Array(queue[index...])
                break
            }
            try take(event)
            // Without an other half, the item has left the container.
            if case .left(let cookie) = event.kind, !arrived.contains(cookie), let half = pairs.arrived(cookie: cookie)
            {
                left(half)
            }
        }
        if more { return }
        round += 1
        versionBefore = reconciler.version
        // Half of a rename may be that of a directory in which an item was looked for.
        if held.isEmpty {
            for half in pairs.takeRest() { left(half) }
            vanished = [:]
            reconciler.resolvePendingRenames()
            for (watch, location) in watches.forgetReplaced() {
                reconciler.view.unwatch(watch)
                comparison.add(location)
            }
        }
    }

    /// The number of events for which half of a rename is held at most: behind so many, the other half does not come.
    private static var mostHeld: Int { 1_024 }

    /// Records the removals and replacements that were taken before an event: a script that acts on a later change relies
    /// on them.
    private mutating func recordRemovals(before event: DirectoryEvent, at location: ItemLocation)
        throws(CoordinationError)
    {
        if reconciler.worklist.removals.isEmpty {
            guard let replacement else { return }
            // The other half of an exchange, which the kernel reports as two renames.
            if case .arrived(let cookie) = event.kind, location == replacement.from,
                pairs.origin(cookie: cookie) == replacement.to
            {
                return
            }
        }
        if try work(comparing: 0) { hasWritten = true }
    }

    private mutating func take(_ event: DirectoryEvent) throws(CoordinationError) {
        if let owner = marks[event.watch] {
            if event.kind == .ended { marks[event.watch] = nil }
            if case .some(.some(let directory)) = watches.location(of: owner) { comparison.add(directory) }
            return
        }
        if event.kind == .ended {
            // Another directory may stand there now, such as the one that a mount has hidden.
            if case .some(.some(let directory)) = watches.location(of: event.watch) { comparison.add(directory) }
            return watches.end(event.watch)
        }
        guard let directory = watches.location(of: event.watch) else { return }
        // The directory has become a container, or is no longer one.
        if let directory, event.name.first == UInt8(ascii: "."), ContainerMark.isOne(event.name) {
            return comparison.add(directory)
        }
        guard !watches.isClosed(event.watch), let location = ItemLocation.entry(event.name, of: directory) else {
            return
        }
        // A commit is written into a file beside the database.
        if let database = reconciler.view.database(of: location) {
            return reconciler.worklist.add(database, .content)
        }
        switch event.kind {
        case .content, .attributes, .created, .arrived: try recordRemovals(before: event, at: location)
        case .removed, .left, .ended: break
        }
        switch event.kind {
        case .ended: break
        case .content: reconciler.worklist.add(location, .content)
        case .attributes:
            reconciler.worklist.add(location, .attributes)
            // Its permissions may have been those that kept it from being watched.
            if event.isDirectory && reconciler.view.hasGap(in: location) { comparison.add(location) }
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
            // Items in the directory were looked for in vain at its old location or at its location in the journal, or
            // were found at its new location.
            let locations = [origin, goal] + (reconciler.pendingRenames[origin].map { [$0.location] } ?? [])
            if try !follow(half, to: goal) {
                comparison.add(goal)
            } else if vanished.keys.contains(where: { missing in
                locations.contains { missing == $0 || missing.isBelow($0) }
            }) {
                comparison.add(goal)
            }
            for (location, why) in vanished {
                guard let moved = location.moved(from: origin, to: goal) else { continue }
                if why >= .content { reconciler.worklist.add(moved, why) }
                noteVanished(moved, why)
            }
            comparison.noteMove(from: origin, to: goal)
            pairs.noteMove(from: origin, to: goal)
        }
        reconciler.noteMove(from: origin, to: goal, isDirectory: isDirectory)
        let tree = reconciler.view.treeIndex
        if tree[origin] != nil && tree[goal] != nil { replacement = (origin, goal) }
    }

    /// Moves the watch of a directory with it. Returns false if the directory at the goal is another one.
    private mutating func follow(
        _ half: RenamePairs.Half, to goal: ItemLocation
    ) throws(CoordinationError) -> Bool {
        guard let directory = half.directory else { return false }
        let found = try reconciler.view.state(at: goal)
        if found?.inode != directory.inode {
            // The event was about another directory, which stood there before this one was found there: the kernel
            // reports an exchange as two renames, one after the other.
            if try reconciler.view.state(at: half.origin)?.inode == directory.inode {
                watches.attach(directory, at: half.origin)
                return false
            }
            if let found, watches.inode(at: goal) == found.inode {
                unwatch(watches.remove(directory))
                comparison.add(half.origin)
                return false
            }
        }
        // The directory is at the goal, or has moved on from there, which an event that is still to be read reports.
        watches.attach(directory, at: goal)
        return found == nil || found?.inode == directory.inode
    }

    private mutating func left(_ half: RenamePairs.Half) {
        for location in [half.origin] + half.others { reconciler.noteRemoval(location) }
        guard let directory = half.directory else { return }
        unwatch(watches.remove(directory))
        // The directory may have come back, and have been watched again, before this event was read.
        comparison.add(half.origin)
    }

    private mutating func unwatch(_ watches: [Int32]) {
        for watch in watches { reconciler.view.unwatch(watch) }
    }

    /// Compares what was reported, then lists directories with about `limit` entries. Returns true if a record was
    /// written.
    @discardableResult
    mutating func work(comparing limit: Int = 256) throws(CoordinationError) -> Bool {
        var wrote = try reconciler.work() || hasWritten
        hasWritten = false
        replacement = nil
        addUnlisted()
        var listed = 0
        while listed < limit, let directory = comparison.next() {
            listed += 1
            guard let listing = try reconciler.view.list(directory) else {
                if let directory { noteVanished(directory, .comparison) }
                continue
            }
            // The directory that stands there is not the one in the journal.
            if let directory, reconciler.view.treeIndex[directory]?.inode != listing.inode {
                noteVanished(directory, .comparison)
            }
            let other = try otherLocation(of: listing, directory)
            reconciler.view.noteOtherLocation(other, of: directory)
            if let watch = listing.watch, other == nil {
                watched(watch, directory, inode: listing.inode, isContainer: listing.isContainer)
                noteMark(listing.isContainer ? nil : listing.markWatch, of: watch)
                if listing.isContainer, let mark = listing.markWatch { unwatch([mark]) }
            }
            if listing.isContainer, let directory, try reconciler.removeContents(of: directory) { wrote = true }
            listed += listing.entries.count
            let differing = comparison.take(listing, of: directory, reconciler.view.treeIndex) { [watches] in
                watches.inode(at: $0) == $1
            }
            for location in differing { reconciler.worklist.addDifference(location) }
        }
        try takeGone()
        if listed > 0 || !reconciler.worklist.isEmpty, try reconciler.work() { wrote = true }
        addUnlisted()
        for (location, why) in reconciler.takeVanished() { noteVanished(location, why) }
        return wrote
    }

    /// Has the items compared that the listed directories lacked. Where such a directory is at its path no more, its items
    /// went with it: an event that is still to be read, or the comparison of the directory around it, shows where to.
    private mutating func takeGone() throws(CoordinationError) {
        var (last, isThere): (ItemLocation?, Bool) = (nil, true)
        for location in comparison.takeGone() {
            if let directory = location.parent, directory != last {
                (last, isThere) = (directory, try reconciler.view.state(at: directory) != nil)
                if !isThere { noteVanished(directory, .comparison) }
            }
            if isThere || location.parent == nil { reconciler.worklist.addDifference(location) }
        }
    }

    private mutating func addUnlisted() {
        for directory in reconciler.takeUnlisted() { comparison.add(directory) }
        for directory in reconciler.takeCreatedDirectories() { comparison.addCreated(directory) }
    }

    /// Returns the other location at which a listed directory is watched, if it stands there, too: a mount shows it
    /// twice.
    private mutating func otherLocation(
        of listing: DirectoryListing, _ directory: ItemLocation?
    ) throws(CoordinationError) -> ShownLocation? {
        guard let watch = listing.watch, let other = watches.location(of: watch), other != directory else { return nil }
        // The container itself is where it is.
        guard let other else { return .container }
        guard let found = try reconciler.view.state(at: other), found.type == .directory, found.inode == listing.inode
        else { return nil }
        return .directory(other)
    }

    private mutating func noteVanished(_ location: ItemLocation, _ why: Hint) {
        vanished[location] = max(why, vanished[location] ?? why)
    }
}
