import GroupLocking
import GroupBytes
import GroupLog
import GroupSystemCalls

/// The work of the leader for one term: watches every directory, and has external changes reconciled. Used on the event
/// loop's thread.
final class Leader {
    let container: OpenContainer
    let term: UInt64
    private let view: LiveFileSystem
    private var treeWatcher: TreeWatcher<LiveFileSystem>
    /// The inotify queue; nil if the kernel gives none: changes are then found only by comparing.
    private var queue: InotifyQueue?
    /// The watch of `.group`: members touch the member table in it to find out whether the leader is there.
    private var probeWatch: Int32?
    /// The watch of the journal's directory, which reports that a file was removed there.
    private var journalWatch: Int32?
    /// The time until the next comparison of what another process holds, in nanoseconds: longer each time, short again
    /// with each event.
    private var backoff = Leader.shortest
    private static let shortest: Int64 = 10_000_000
    private static let longest: Int64 = 500_000_000
    private static let halfPatience: Int64 = 5_000_000
    /// The time between two comparisons, where not everything is watched: a second, and twice as long after each that
    /// finds nothing, up to ten seconds. At least ten times what a comparison took.
    private var comparing = Leader.shortestComparing
    private static let shortestComparing: Int64 = 1_000_000_000
    private static let longestComparing: Int64 = 10_000_000_000
    /// Whether an external change was found since the last comparison ended.
    private var hasFound = false
    private var nextComparison = Int64.max
    private var comparisonBegan: Int64?
    /// Whether everything was compared since memory was given back to the kernel.
    private var hasCompared = false
    private var isReady = false
    /// Whether the container may have been removed or moved: it is looked for at the end of the round.
    private var mayBeGone = false
    /// The watches of the directories around the container, which report that one of them was moved.
    private var ancestors = Set<Int32>()
    /// The mounts inside the container.
    private var mounts = Set<Mount>() {
        didSet { servedMounts.set(mounts) }
    }
    private var servedMounts = ServedMounts()
    /// Files whose content was not read: their content is read when there is nothing else to do.
    private var unhashed: [ItemLocation] = []
    private var rest: Int64 = 0
    private var probe: UInt32?

    init(
        _ container: OpenContainer, term: UInt64, _ queue: Result<InotifyQueue, Errno>
    ) throws(CoordinationError) {
        self.container = container
        self.term = term
        // The journal is read once the directories are watched.
        let nothing = JournalView(beginningAt: try translating(container.journal.log.start()))
        view = LiveFileSystem(container, nothing, term: term, under: nil)
        view.wakesReadersLater = true
        if (try? container.directory.root.checkRoom(forFiles: 96)) == nil { view.openDirectories = 1 }
        treeWatcher = TreeWatcher(view)
        switch queue {
        case .success(let queue): (self.queue, view.queue) = (queue, queue)
        case .failure(let error): view.watchGaps.noteNoQueue(WatchGaps.Reason(ofQueue: error))
        }
    }

    /// Watches with a queue that the kernel gives now, and did not give before.
    func adopt(_ queue: InotifyQueue) {
        (self.queue, view.queue) = (queue, queue)
        view.watchGaps.noteQueue()
        watchOwnDirectories()
        watchAncestors()
        compareEverything()
    }

    deinit {
        for watch in treeWatcher.watchNumbers { queue?.unwatch(watch) }
        for watch in [probeWatch, journalWatch].compactMap({ $0 }) { queue?.unwatch(watch) }
    }

    /// Begins the term. Writes the record that begins it: a leader of an earlier term reads that record and stops. Then
    /// watches every directory; what happened before is found by comparing, later.
    func begin() throws(CoordinationError) {
        let record = ChangeRecord(
            .term, path: [], state: nil, isCoordinated: false, processIdentifier: processIdentifier(), purpose: [],
            time: wallNanoseconds(), term: term)
        _ = try container.journal.append(record)
        container.memberTable.set(MemberTableLayout.degraded, to: 0, of: term)
        mounts = Mount.inside(container)
        watchOwnDirectories()
        watchAncestors()
        watchEverything()
        try checkDescriptors()
        container.memberTable.raise(MemberTableLayout.watchTerm, to: term)
        wakeAll()
        try view.load()
        compareEverything()
    }

    private func watchOwnDirectories() {
        guard let queue else { return }
        probeWatch = try? queue.watchAttributesAndRemovals(container.directory.group)
        journalWatch = try? queue.watchAttributesAndRemovals(container.directory.journalDirectory())
    }

    /// Watches the directories around the container, as far as this user may. The kernel reports nothing about a
    /// directory when one around it is moved. These watches stay as long as the queue, because another container of
    /// this process may have the same ones.
    private func watchAncestors() {
        var path = (container.directory.openedAt ?? [])[...]
        while let slash = path.lastIndex(of: UInt8(ascii: "/")) {
            path = path[..<slash]
            if let watch = try? queue?.watchMoves(ofDirectory: path.isEmpty ? [UInt8(ascii: "/")] : Array(path)) {
                ancestors.insert(watch)
            }
        }
        // What was moved before its watch caused no event.
        mayBeGone = true
    }

    private func watchEverything() {
        if queue == nil { return }
        var directories: [ItemLocation?] = [nil]
        while let directory = directories.popLast() {
            reply(isCaughtUp: false)
            guard let found = view.watchOnly(directory) else { continue }
            treeWatcher.watched(found.watch, directory, inode: found.inode, isContainer: found.isContainer)
            directories += found.directories
        }
    }

    func compareEverything() {
        treeWatcher.compareEverything()
        comparisonBegan = monotonicNanoseconds()
        nextComparison = .max
    }

    func owns(_ watch: Int32) -> Bool {
        isOwn(watch) || treeWatcher.owns(watch)
    }

    /// Returns whether a watch is none of a directory of items.
    private func isOwn(_ watch: Int32) -> Bool {
        watch == probeWatch || watch == journalWatch || ancestors.contains(watch)
    }

    /// Notes that the mounts of this process have changed: one may hide the container, or a directory in it. The kernel
    /// reports nothing to the watches of a directory that is hidden, or of one that a second mount shows.
    func noteMounts() {
        mayBeGone = true
        let before = mounts
        mounts = Mount.inside(container)
        for mount in mounts.symmetricDifference(before) { treeWatcher.compare(mount.location) }
    }

    /// The time until the leader has work without an event, in nanoseconds; nil if it has none.
    var timeUntilNextWork: Int64? {
        if !treeWatcher.comparison.isOver || !treeWatcher.reconciler.worklist.isEmpty { return 0 }
        var times: [Int64] = []
        if treeWatcher.awaitsMore { times.append(Self.halfPatience) }
        if !treeWatcher.reconciler.postponed.isEmpty { times.append(backoff) }
        if nextComparison != .max { times.append(max(0, nextComparison - monotonicNanoseconds())) }
        if !unhashed.isEmpty { times.append(rest) }
        if let time = servedMounts.timeUntilNext { times.append(time) }
        // Without a queue and its watch of `.group`, no event arrives when a member touches the table.
        if queue == nil || probeWatch == nil { times.append(250_000_000) }
        return times.min()
    }

    /// Whether another member has opened a later term. The member table is read as well, as there may have been nothing
    /// to read in the journal.
    var isSuperseded: Bool { view.isSuperseded || container.memberTable.map.load64(MemberTableLayout.term) > term }

    private func isRootMoved(_ event: InotifyEvent) -> Bool {
        event.kinds.contains(.watchedMoved)
            && (treeWatcher.watches.location(of: event.watch) == .some(nil) || ancestors.contains(event.watch))
    }

    /// Returns whether the permissions of the container's own directory may have changed, by which everything in it may
    /// be looked at now.
    private func isRootChanged(_ event: InotifyEvent) -> Bool {
        event.kinds.contains(.attributesChanged) && event.name.isEmpty
            && treeWatcher.watches.location(of: event.watch) == .some(nil)
    }

    /// Returns whether `.group` was removed from the container's directory or renamed there, or a file in it removed.
    private func isGroupRemoved(_ event: InotifyEvent) -> Bool {
        if event.watch == probeWatch || event.watch == journalWatch { return event.kinds.contains(.removed) }
        return (event.kinds.contains(.removed) || event.kinds.contains(.movedFrom))
            && event.name == ContainerMark.present
            && treeWatcher.watches.location(of: event.watch) == .some(nil)
    }

    /// Reads the number of the last probe. To be called before events are read: what happened before that probe is
    /// among them.
    func readProbe() { probe = container.memberTable.map.load32(MemberTableLayout.probed) }

    /// Takes the events of its directories: all that there were or, with `more`, those up to now. Then works for a
    /// while.
    func serve(_ events: some Sequence<InotifyEvent>, more: Bool) throws(CoordinationError) {
        view.beginRound()
        let here = events.prefix { !isRootMoved($0) }
        let wasMoved = events.contains(where: isRootMoved)
        if wasMoved || events.contains(where: isGroupRemoved) { mayBeGone = true }
        let directoryEvents = here.compactMap {
            isOwn($0.watch) ? nil : DirectoryEvent($0)
        }
        if !view.watchGaps.isEmpty && here.contains(where: isRootChanged) { compareEverything() }
        try treeWatcher.take(directoryEvents, more: more)
        backoff = directoryEvents.isEmpty ? min(backoff * 2, Self.longest) : Self.shortest
        if monotonicNanoseconds() >= nextComparison { compareEverything() }
        for mount in servedMounts.take(in: container) { treeWatcher.compare(mount.location) }
        defer { noteAppended() }
        if try treeWatcher.work() { hasFound = true }
        if !view.watchGaps.isEmpty && (view.hasAppended || treeWatcher.comparison.isOver) {
            view.closeGapsWithoutItems(limits: treeWatcher.comparison.isOver && comparisonBegan != nil)
        }
        noteAppended()
        noteComparison()
        try checkDescriptors()
        reportWatchGaps()
        try learn(isIdle: directoryEvents.isEmpty && !more)
        // A checkpoint that cannot be written is tried again with the next change; older files of the journal stay
        // until then.
        if directoryEvents.isEmpty && isReady && !more { _ = try? container.keepCheckpoint(view.tree) }
        // The container's directory was moved: changes from now on happen elsewhere, and followers must not receive
        // them.
        if mayBeGone {
            try container.checkIsThere("watch")
            mayBeGone = false
            // The directory may have been elsewhere, and come back.
            if wasMoved { compareEverything() }
        }
        let isCaughtUp = isReady && !more && treeWatcher.isCaughtUp
        if isCaughtUp { view.endRound() }
        if isCaughtUp && unhashed.isEmpty && hasCompared {
            hasCompared = false
            container.journal.log.releasePages()
            releaseFreeMemory()
        }
        // The changes may be recorded by the next leader, which may not have come that far: no probe gets a reply.
        if isSuperseded { return }
        reply(isCaughtUp: isCaughtUp, probe)
    }

    /// Throws where this process may open no further file: another member is to watch, or this one when it can. The
    /// next leader finds by comparing what was missed.
    private func checkDescriptors() throws(CoordinationError) {
        if view.watchGaps.lacksDescriptor { throw CoordinationError(Errno.tooManyFiles, operation: "watch", item: nil) }
    }

    /// Wakes the followers, if there are new records. One in this process may have offered its reader to this thread.
    private func noteAppended() {
        if !view.takeAppended() { return }
        container.memberTable.wake(MemberTable.journalWord, sparesDelivery: true)
        container.directDelivery.deliver()
    }

    private func noteComparison() {
        unhashed += treeWatcher.reconciler.takeUnhashed()
        // A directory that came later could not be watched.
        if nextComparison == .max, comparisonBegan == nil, view.watchGaps.needsComparing {
            nextComparison = monotonicNanoseconds() + comparing
        }
        guard treeWatcher.comparison.isOver, let began = comparisonBegan else { return }
        comparisonBegan = nil
        hasCompared = true
        comparing = hasFound ? Self.shortestComparing : min(comparing * 2, Self.longestComparing)
        hasFound = false
        let now = monotonicNanoseconds()
        nextComparison = view.watchGaps.needsComparing ? now + max(comparing, (now - began) * 10) : .max
        if isReady { return }
        isReady = true
        for (location, item) in view.treeIndex where item.state.type == .file && item.state.contentHash == nil {
            unhashed.append(location)
        }
        container.memberTable.raise(MemberTableLayout.readyTerm, to: term)
        wakeAll()
    }

    /// Reads the content of a few files, and rests for three times as long as that took.
    private func learn(isIdle: Bool) throws(CoordinationError) {
        guard isIdle, !unhashed.isEmpty else { return }
        let began = monotonicNanoseconds()
        var count = 0
        // The number of files counts as well: on a busy machine the time may be over before anything was read.
        while count < 16 || monotonicNanoseconds() - began < 2_000_000, let location = unhashed.popLast() {
            try view.learnHash(of: location)
            count += 1
        }
        rest = (monotonicNanoseconds() - began) * 3
    }

    // MARK: What other processes read

    /// Replies to a probe: writes into the member table that the leader is there, and whether everything from before
    /// the probe is in the journal.
    private func reply(isCaughtUp: Bool, _ probe: UInt32? = nil) {
        let probe = probe ?? container.memberTable.map.load32(MemberTableLayout.probed)
        let isNew = container.memberTable.map.load32(MemberTableLayout.replied) != probe
        if isNew { container.memberTable.reply(to: probe, at: MemberTableLayout.replied) }
        let records = isCaughtUp && container.memberTable.map.load32(MemberTableLayout.recorded) != probe
        if records {
            let count = UInt32(clamping: treeWatcher.reconciler.postponedMoves.count)
            container.memberTable.reply(to: count, at: MemberTableLayout.postponedMoves)
            container.memberTable.reply(to: probe, at: MemberTableLayout.recorded)
        }
        if isNew || records { container.memberTable.wake(MemberTable.leaderWord) }
    }

    private func reportWatchGaps() {
        while let news = view.watchGaps.take() {
            let (path, reason) = WatchGapCause.text(news)
            container.diagnostics.report(
                reason.isEmpty ? .watchingComplete : .watchingDegraded, item: path.isEmpty ? nil : printable(path),
                reason.isEmpty ? "everything is watched again" : reason)
            let record = ChangeRecord(
                .degraded, path: path, state: nil, isCoordinated: false, processIdentifier: processIdentifier(),
                purpose: Array(reason.utf8), time: wallNanoseconds(), term: term)
            let (segment, offset) = container.journal.log.tail()
            let position =
                UInt64(UInt32(truncatingIfNeeded: segment)) << 32 | UInt64(UInt32(truncatingIfNeeded: offset))
            let before = container.memberTable.map.load64(MemberTableLayout.degraded)
            // Before the record: a follower that begins behind the record finds the position, and one that begins
            // before it reads it.
            container.memberTable.set(MemberTableLayout.degraded, to: reason.isEmpty ? 0 : position, of: term)
            guard (try? container.journal.append(record)) != nil else {
                container.memberTable.set(MemberTableLayout.degraded, to: before, of: term)
                continue
            }
            container.memberTable.wake(MemberTable.journalWord)
        }
    }

    private func wakeAll() {
        container.memberTable.wake(MemberTable.leaderWord)
        container.memberTable.wake(MemberTable.journalWord)
    }
}
