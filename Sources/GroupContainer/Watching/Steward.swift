import SystemCalls

/// Looks after the changes that are made without coordination, for as long as this member is the one that does: watches
/// every folder, and has what happens there examined. Lives on the hub's thread.
final class Steward {
    let member: Member
    let term: UInt64
    private let examiner: Examiner
    /// Nil where the kernel gives no inotify instance: then only comparing tells.
    private let queue: InotifyQueue?
    private var folders: [Int32: ItemLocation?] = [:]
    private var watches: [ItemLocation?: Int32] = [:]
    /// A folder could not be watched, so the tree is compared every so often.
    private var isDegraded: Bool
    /// Until the next look at what somebody holds, in nanoseconds: longer each time, short again with each event.
    private var backoff: Int64 = Steward.shortest
    private static let shortest: Int64 = 10_000_000
    private static let longest: Int64 = 500_000_000

    init(_ member: Member, term: UInt64, _ queue: InotifyQueue?) throws(CoordinationError) {
        (self.member, self.term, self.queue) = (member, term, queue)
        isDegraded = queue == nil
        examiner = try Examiner(member, term: term)
    }

    deinit { for watch in folders.keys { queue?.unwatch(watch) } }

    /// Takes office: from then on every change is seen, and those from before are in the journal.
    func begin() throws(CoordinationError) {
        try examiner.announceTerm()
        compareEverything()
        try work()
        member.roster.raise(RosterLayout.readyTerm, to: term)
        member.roster.wake(Roster.stewardWord)
    }

    func owns(_ watch: Int32) -> Bool { folders[watch] != nil }

    /// When it wants to be called again without an event, in nanoseconds.
    var restlessness: Int64? {
        if !examiner.postponed.isEmpty { return backoff }
        return isDegraded ? 1_000_000_000 : nil
    }

    var isSuperseded: Bool { examiner.isSuperseded }

    /// Without events: what was postponed, or, where folders cannot be watched, everything.
    func tick() throws(CoordinationError) {
        if isDegraded { compareEverything() }
        backoff = min(backoff * 2, Self.longest)
        try work()
    }

    /// Examines what was noted.
    func work() throws(CoordinationError) {
        if try examiner.work() { member.roster.wake(Roster.journalWord) }
    }

    /// Events were lost, or this is the beginning: watch each folder, then list it, then compare, also with what should
    /// be there.
    func compareEverything() {
        noteTree(nil)
        for known in examiner.picture.items.keys { examiner.note(known, .comparison) }
    }

    private func noteTree(_ top: ItemLocation?) {
        TreeWalk.walk(
            member, from: top,
            enter: { (folder, location) throws(Errno) in try watch(folder, location) },
            visit: { examiner.note($0, .comparison) },
            missed: { _, error in if error != .noSuchEntry && error != .notAFolder { isDegraded = true } })
    }

    private func watch(_ folder: borrowing FileDescriptor, _ location: ItemLocation?) throws(Errno) {
        guard let queue else { return }
        do throws(Errno) {
            let watch = try queue.watch(folder)
            if let before = folders[watch], before != location { watches[before] = nil }
            (folders[watch], watches[location]) = (location, watch)
        } catch {
            // No watch left: the folder is listed all the same, now and every so often.
            if error != .noSpace { throw error }
            isDegraded = true
        }
    }

    /// Takes one event of a folder of its own.
    func note(_ event: InotifyEvent) {
        guard let folder = folders[event.watch] else { return }
        backoff = Self.shortest
        if event.kinds.contains(.ignored) {
            folders[event.watch] = nil
            if watches[folder] == event.watch { watches[folder] = nil }
            return
        }
        if event.name.isEmpty || (folder == nil && event.name.elementsEqual(".group".utf8)) { return }
        let path = (folder.map { $0.bytes + [UInt8(ascii: "/")] } ?? []) + event.name
        guard let location = try? ItemLocation(path) else { return }
        examiner.note(location, evidence(event.kinds))
        guard event.kinds.contains(.isFolder) else { return }
        // Whatever it was watched as before is over; where it stands now it is watched and listed from the top.
        if !event.kinds.isDisjoint(with: [.removed, .movedFrom]) { forgetWatches(of: location) }
        if !event.kinds.isDisjoint(with: [.created, .movedTo]) { noteTree(location) }
    }

    private func evidence(_ kinds: InotifyEvent.Kinds) -> Evidence {
        if !kinds.isDisjoint(with: [.modified, .closedAfterWriting]) { return .content }
        return kinds.contains(.attributesChanged) ? .attributes : .comparison
    }

    private func forgetWatches(of top: ItemLocation) {
        for (location, watch) in watches {
            guard let location, location == top || location.isBelow(top) else { continue }
            queue?.unwatch(watch)
            folders[watch] = nil
            watches[location] = nil
        }
    }
}
