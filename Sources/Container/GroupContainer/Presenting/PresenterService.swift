import GroupLocking
import GroupLog
import GroupSystemCalls

/// The thread that serves the presenters of a process in a container: it sleeps until they are asked or something has
/// changed, and puts both into their inboxes in the order of the journal. The thread exists only while there are
/// presenters.
final class PresenterService: Sendable {
    private struct State: Sendable {
        var items: [PresentedItem] = []
    }
    private let state = Guarded(State())

    /// The services that run, by their containers, which they keep open.
    private static let services = Guarded([ObjectIdentifier: PresenterService]())

    /// Serves a presenter, too. Errors: `limitReached` where no thread can be started
    static func add(
        _ item: PresentedItem, of container: OpenContainer, _ table: PresenterTable, since start: LogPosition
    )
        throws(CoordinationError)
    {
        let key = ObjectIdentifier(container)
        let (service, isNew) = services.withLock { services -> (PresenterService, Bool) in
            let service = services[key] ?? PresenterService()
            service.state.withLock { $0.items.append(item) }
            defer { services[key] = service }
            return (service, services[key] == nil)
        }
        // The thread, which may be asleep, looks at the new presenter's questions.
        if !isNew { return Interruption.raise() }
        do throws(Errno) {
            try WorkThread.start { service.run(container, table, start) }
        } catch {
            _ = services.withLock { $0.removeValue(forKey: key) }
            throw .noThread(error)
        }
    }

    static func remove(_ item: PresentedItem, of container: OpenContainer) {
        let service = services.withLock { $0[ObjectIdentifier(container)] }
        service?.state.withLock { $0.items.removeAll { $0 === item } }
        Interruption.raise()
    }

    /// Returns the presenters. If there is none, the service ends.
    private func items(of container: OpenContainer) -> [PresentedItem] {
        Self.services.withLock { services in
            let items = state.withLock(\.items)
            if items.isEmpty { services[ObjectIdentifier(container)] = nil }
            return items
        }
    }

    private func run(_ container: OpenContainer, _ table: PresenterTable, _ start: LogPosition) {
        var reading = Reading(container, from: start)
        var lookAt = Int64.min
        while let slot = container.memberTable.slot {
            let seen = Interruption.latest
            let asked = table.asked(of: slot)
            let items = items(of: container)
            if items.isEmpty { return }
            let now = monotonicNanoseconds()
            let isLooking = now >= lookAt
            if isLooking { lookAt = now + Inquiry.period }
            // The questions are taken before the journal is read: the changes of a request that is over are there.
            let taken = items.map { $0.takeQuestions(looking: isLooking) }
            do throws(CoordinationError) {
                try reading.readAll { changes, operation in
                    for item in items { item.deliver(item.events(for: changes, operation: operation)) }
                }
            } catch {
                for (item, found) in zip(items, taken) { item.deliver(found.events) }
                return end(error, of: container)
            }
            for (item, found) in zip(items, taken) {
                item.updateEntry { reading.hasMore }
                item.deliver(found.events)
            }
            let isOpen = taken.contains { $0.isOpen }
            container.memberTable.awaitWake(
                on: MemberTable.journalWord, or: asked, atMost: isOpen ? Inquiry.period : nil, since: seen,
                removals: reading.check.removals
            ) { reading.hasMore }
        }
    }

    /// Delivers to all presenters that nothing is presented any more.
    private func end(_ error: CoordinationError, of container: OpenContainer) {
        _ = Self.services.withLock { $0.removeValue(forKey: ObjectIdentifier(container)) }
        for item in state.withLock(\.items) {
            container.removePresenter(item.entry, number: item.number)
            item.deliver([.ended(error)])
        }
    }
}

/// A position in the journal from which the changes are read, for all presenters of a process.
private struct Reading {
    private let container: OpenContainer
    private var position: LogPosition
    private(set) var check = RemovalCheck()
    /// The part in the election of the leader, which sees external changes.
    private let following: LeaderElection.Following?

    init(_ container: OpenContainer, from start: LogPosition) {
        self.container = container
        position = start
        following = container.beginFollowing()
    }

    var hasMore: Bool { container.journal.log.hasMore(behind: position) }

    /// Passes the changes of each record to `body`, up to the end. Errors: `notFound`, `damaged`
    mutating func readAll(
        _ body: (_ changes: [Change], _ operation: [UInt8]) -> Void
    ) throws(CoordinationError) {
        while true {
            switch try container.journal.step(behind: position) {
            case .entry(let entry):
                position = entry.position
                let cursor = container.journal.cursor(at: position)
                let changes = try Change.changes(in: entry, cursor: cursor, by: .everything) { nil }
                body(changes ?? [rescan], entry.record?.operation ?? ChangeRecord.noOperation)
            case .gap(let next):
                position = next
                body([rescan], ChangeRecord.noOperation)
            case .lost:
                position = try translating(container.journal.log.end())
                body([rescan], ChangeRecord.noOperation)
            case .end:
                try container.checkNotForked("present")
                try check.check(container, "present")
                following?.election.checkLeader()
                return
            }
        }
    }

    private var rescan: Change {
        Change(
            .rescan, sequence: SequenceNumber(rawValue: position.sequence),
            cursor: container.journal.cursor(at: position),
            time: wallNanoseconds())
    }
}
