/// What an observation needs besides: folders that can be watched and listed.
protocol ObservedWorld: ExaminedWorld {
    /// Watches a folder, then lists it; nil where there is none, or it may not be entered.
    mutating func list(_ folder: ItemLocation?) throws(CoordinationError) -> FolderListing?
    mutating func unwatch(_ watch: Int32)
}

/// Turns the events of watched folders into looks at the items that they are about, and compares folders that nobody
/// watched before. It keeps the watches: each folder of the container has one, wherever it is moved.
struct Observation<World: ObservedWorld> {
    var examination: Examination<World>
    private(set) var watches = WatchTable()
    private(set) var comparison = TreeComparison()
    private var pairs = RenamePairs()
    /// Looked for in vain since the events were last read to their end. Perhaps a folder around it was moved, of which
    /// an event that is still to be read tells; then what is in that folder is compared.
    private var vanished: [ItemLocation] = []
    /// Of the journal, when the events were last read to their end.
    private var versionBefore = 0

    init(_ world: World, waitsForFolders: Bool = true) {
        examination = Examination(world, waitsForFolders: waitsForFolders)
    }

    /// A half of a rename is missing still: `take` wants to be called again within milliseconds, with what there is.
    var awaitsHalf: Bool { pairs.isWaiting }
    /// Everything that was told of was looked at.
    var isSettled: Bool { comparison.isOver && !pairs.isWaiting && examination.notes.isEmpty }

    /// Events were lost, or this is the beginning.
    mutating func compareEverything() {
        examination.passing = [:]
        comparison.add(nil)
    }

    mutating func watched(_ watch: Int32, _ location: ItemLocation?, inode: UInt64) {
        watches.set(watch, location, inode: inode)
    }

    /// Events, in their order: all that there were, or with `more` only the first.
    mutating func take(_ events: [FolderEvent], more: Bool) throws(CoordinationError) {
        examination.baseline = versionBefore
        for event in events { try take(event) }
        if more { return }
        versionBefore = examination.version
        // Half a rename may be that of a folder in which something was looked for.
        if !pairs.isWaiting {
            vanished = []
            unwatch(watches.forgetReplaced())
        }
        for half in pairs.endRound() { left(half) }
    }

    private mutating func take(_ event: FolderEvent) throws(CoordinationError) {
        if event.kind == .ended { return watches.end(event.watch) }
        guard let folder = watches.location(of: event.watch),
            let location = ItemLocation.entry(event.name, of: folder)
        else { return }
        switch event.kind {
        case .ended: break
        case .content: examination.notes.note(location, .content)
        case .attributes: examination.notes.note(location, .attributes)
        case .removed: examination.noteRemoval(location)
        case .created: appeared(location, isFolder: event.isFolder)
        case .left(let cookie): pairs.left(location, event.isFolder ? watches.detach(location) : nil, cookie: cookie)
        case .arrived(let cookie):
            if let half = pairs.arrived(cookie: cookie) {
                try moved(half, to: location, isFolder: event.isFolder)
            } else {
                appeared(location, isFolder: event.isFolder)
            }
        }
    }

    private mutating func appeared(_ location: ItemLocation, isFolder: Bool) {
        examination.notes.note(location, .comparison)
        if isFolder { comparison.add(location) }
    }

    private mutating func moved(
        _ half: RenamePairs.Half, to goal: ItemLocation, isFolder: Bool
    ) throws(CoordinationError) {
        let origin = half.origin
        if isFolder {
            // By now another folder may have stood where the event's did, and be watched as that.
            let found = try examination.world.found(goal)
            if let folder = half.folder, found == nil || found?.inode == folder.inode {
                watches.attach(folder, at: goal)
                if vanished.contains(where: { $0 == origin || $0.isBelow(origin) }) { comparison.add(goal) }
            } else {
                if let folder = half.folder { unwatch(watches.remove(folder)) }
                comparison.add(goal)
            }
            vanished += vanished.compactMap { $0.moved(from: origin, to: goal) }
            comparison.noteMove(from: origin, to: goal)
            pairs.noteMove(from: origin, to: goal)
        }
        examination.noteMove(from: origin, to: goal, isFolder: isFolder)
    }

    private mutating func left(_ half: RenamePairs.Half) {
        examination.noteRemoval(half.origin)
        if let folder = half.folder { unwatch(watches.remove(folder)) }
    }

    private mutating func unwatch(_ gone: [Int32]) {
        for watch in gone { examination.world.unwatch(watch) }
    }

    /// Looks at what was told of, then compares about so many entries. True if it wrote anything.
    @discardableResult
    mutating func work(comparing limit: Int = 256) throws(CoordinationError) -> Bool {
        var wrote = try examination.work()
        for folder in examination.takeUnlisted() { comparison.add(folder) }
        var listed = 0
        while listed < limit, let folder = comparison.next() {
            listed += 1
            guard let listing = try examination.world.list(folder) else {
                if let folder { vanished.append(folder) }
                continue
            }
            if let watch = listing.watch { watched(watch, folder, inode: listing.inode) }
            listed += listing.entries.count
            for location in comparison.take(listing, of: folder, examination.world.picture) {
                examination.notes.note(location, .comparison)
            }
        }
        for location in comparison.takeGone() { examination.notes.note(location, .comparison) }
        if listed > 0 || !examination.notes.isEmpty, try examination.work() { wrote = true }
        for folder in examination.takeUnlisted() { comparison.add(folder) }
        vanished += examination.takeVanished()
        return wrote
    }
}
