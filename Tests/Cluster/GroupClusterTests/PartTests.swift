import GroupCluster
import Testing

/// The parts of a machine's state that are values: no file, clock or process.
@Suite struct `Parts of a machine's state` {
    private static func name(_ number: UInt64) -> ClusterName { ClusterName(high: 7, low: number) }
    private static func item(_ number: UInt64) -> ItemName { ItemName(name(number), 0) }

    // MARK: Items that are missing

    private static let directory = LocalItem(1)
    private static let file = LocalItem(2)
    private static let tree: LocalTree = {
        var tree = LocalTree()
        tree.put(directory, LocalTree.Node(.root, Array("d".utf8), ItemContent(.directory)))
        tree.put(file, LocalTree.Node(directory, Array("f".utf8), ItemContent(.file, [1])))
        return tree
    }()

    @Test func `an item is gone if a barrier was sent after the last look for it`() {
        var missing = MissingItems()
        func gone(after look: UInt64) -> [LocalItem] {
            missing.gone(barrierAfter: look, in: Self.tree) { _ in false }
        }
        let before = missing.lastLook
        missing.insert(Self.file)
        #expect(gone(after: before) == [], "it may have been renamed between the barrier and the look")
        let look = missing.lastLook
        #expect(gone(after: look) == [Self.file])
        #expect(missing.gone(barrierAfter: look, in: Self.tree) { _ in true } == [], "it is being changed")
        missing.insert(Self.file)
        #expect(gone(after: look) == [], "a record has moved it on since")
        missing.remove(Self.file)
        #expect(missing.isEmpty && gone(after: missing.lastLook) == [])
    }

    @Test func `nothing is gone below a directory that may be found again`() {
        var missing = MissingItems()
        missing.insert(Self.file)
        let look = missing.lastLook
        missing.insert(Self.directory)
        #expect(missing.gone(barrierAfter: look, in: Self.tree) { _ in false } == [])
        #expect(missing.mayBeElsewhere(Self.file, in: Self.tree))
        #expect(
            missing.gone(barrierAfter: missing.lastLook, in: Self.tree) { $0 == Self.directory } == [],
            "the directory is being changed")
        missing.remove(Self.directory)
        #expect(missing.gone(barrierAfter: look, in: Self.tree) { _ in false } == [Self.file])
    }

    // MARK: Items that wait

    @Test func `an item that waits is tried again when its time has come, or when an entry changes it`() {
        var schedule = ItemSchedule()
        let (first, second) = (Self.item(1), Self.item(2))
        schedule.wait(first, until: 100, isPassed: false)
        schedule.wait(second, until: 200, isPassed: true)
        #expect(schedule.next == 100 && schedule.waiting == [first, second])
        schedule.release(at: 100)
        #expect(schedule.waiting == [second] && schedule.next == 200)
        schedule.changed(second)
        #expect(schedule.waiting.isEmpty && schedule.next == nil)
        #expect(!schedule.isCaughtUp(stale: [second], isSending: true), "an entry has changed it: it is awaited again")
    }

    @Test func `values and messages wait for an item, but not for one that is passed`() {
        var schedule = ItemSchedule()
        let (first, second) = (Self.item(1), Self.item(2))
        #expect(schedule.isCaughtUp(stale: [], isSending: false))
        schedule.wait(first, until: 100, isPassed: false)
        #expect(!schedule.isCaughtUp(stale: [first], isSending: false))
        schedule.pass { $0 == first }
        #expect(schedule.isCaughtUp(stale: [first], isSending: false))
        schedule.release(at: 100)
        #expect(schedule.isCaughtUp(stale: [first], isSending: true), "it stays passed while it is tried again")
        #expect(!schedule.isCaughtUp(stale: [first, second], isSending: true))
        schedule.ended()
        #expect(!schedule.isCaughtUp(stale: [first], isSending: true))
    }

    @Test func `a content is loaded once, and again only when the fold has gone on`() {
        var schedule = ItemSchedule()
        let item = Self.item(1)
        let loads = [schedule.beginLoading([1], at: 5), schedule.beginLoading([1], at: 5)]
        #expect(loads == [true, false], "it is being loaded")
        schedule.wait(item, until: 100, isPassed: false)
        schedule.endedLoading([1])
        schedule.isMissing([1], at: 5) { $0 == item }
        #expect(schedule.isCaughtUp(stale: [item], isSending: false))
        let again = [schedule.beginLoading([1], at: 5), schedule.beginLoading([1], at: 6)]
        #expect(again == [false, true], "the cluster does not have it at 5")
        schedule.endedLoading([1])
        schedule.arrived([1]) { $0 == item }
        let last = schedule.beginLoading([1], at: 5)
        #expect(schedule.waiting.isEmpty && last)
    }

    // MARK: History and commits

    @Test func `events that come while history is read are kept until it was compared`() {
        var history = HistoryReading()
        let entry = OrderedEntry(index: 1, revision: 2, machine: Self.name(1), number: 1, bytes: [])
        #expect(history.isWanted && !history.isFollowing)
        let begun = [history.begin(), history.begin()]
        #expect(begun == [true, false], "one reading at a time")
        history.keep(entry)
        history.ended()
        #expect(history.isWanted, "a reading that has ended says nothing yet")
        let joined = history.joined()
        #expect(joined.isNew && joined.events == [entry])
        #expect(history.isFollowing && history.hasRead && !history.isWanted)
        // An event was missed.
        let isBegun = history.begin()
        #expect(isBegun && !history.isFollowing && history.isConnected)
        history.ended()
        let rejoined = history.joined()
        #expect(!rejoined.isNew)
        let losses = [history.lost(at: 0), history.lost(at: 0)]
        #expect(losses == [true, false])
        #expect(history.hasRead, "what was read is known")
    }

    @Test func `the pauses between readings, and between commits, double up to two seconds`() {
        var history = HistoryReading()
        var commits = CommitAttempts()
        var pauses: [(Int64, Int64)] = []
        var (now, then): (Int64, Int64) = (1_000, 1_000)
        for _ in 0..<9 {
            _ = history.lost(at: now)
            // It has ended before the next try was due.
            _ = history.lost(at: now)
            commits.failed(isSurelyNotWritten: true, at: then)
            pauses.append((history.next - now, commits.next - then))
            (now, then) = (history.next, commits.next)
        }
        #expect(history.failures == 9)
        let expected: [Int64] = [40, 80, 160, 320, 640, 1_280, 2_000, 2_000, 2_000].map { $0 * 1_000_000 }
        #expect(pauses.map(\.0) == expected && pauses.map(\.1) == expected)
        _ = history.joined()
        commits.committed()
        _ = history.lost(at: now)
        commits.failed(isSurelyNotWritten: true, at: then)
        #expect(history.next == now + 40_000_000 && commits.next == then + 40_000_000)
    }

    @Test func `an entry may be committed once an attempt has reached etcd, or may have`() throws {
        func request(_ number: UInt64) throws -> CommitRequest {
            var outbox = ClusterOutbox(machine: Self.name(1), number: number - 1)
            let isSent = outbox.send(ClusterEntry(Self.name(9)))
            #expect(isSent)
            return try #require(outbox.request)
        }
        var commits = CommitAttempts()
        #expect(commits.mayBeCommitted, "by the program's last run")
        commits.begin()
        #expect(!commits.mayBeCommitted)
        commits.sent(try request(1))
        #expect(commits.isAwaited && commits.mayBeCommitted, "it is on its way")
        commits.ended(try request(2))
        #expect(commits.isAwaited, "the answer is another attempt's")
        commits.ended(try request(1))
        commits.failed(isSurelyNotWritten: true, at: 0)
        #expect(!commits.mayBeCommitted)
        commits.failed(isSurelyNotWritten: false, at: 0)
        #expect(commits.mayBeCommitted)
        commits.begin()
        commits.reached()
        #expect(commits.mayBeCommitted)
    }

    // MARK: The order of this machine's changes

    private static func set(_ key: String, _ number: Int64) -> ClusterChange {
        .value(ValueChange(Array("s\0\(key)".utf8), .setNumber(number)))
    }

    private static func values(_ key: String, _ number: Int64, at time: Int64, suite: String = "s")
        -> DraftedChange<Int>
    {
        DraftedChange(.values([set(key, number)], suite: suite, position: Int(time)), time: time)
    }

    @Test func `after etcd's room was used up, sending goes on when an eighth of the limit is free`() {
        var limit = RoomLimit(8_000)
        // At 7,900, etcd has given back a few pages by itself: nothing has made room.
        let isExceeded = [8_000, 8_001, 7_900, 7_000, 7_900].map { limit.exceeded(by: $0) }
        #expect(isExceeded == [false, true, true, false, false])
    }

    /// The order of changes, with entries named 1, 2, ….
    private struct Order {
        var order = LocalOrder<Int>(mostChanges: 3, mostBytes: 100)
        var last: UInt64 = 0

        mutating func take(_ new: [DraftedChange<Int>], limit: Int64 = 1_000, now: Int64 = 1_000)
            -> [ClusterOutbox.Draft]
        {
            var last = last
            defer { self.last = last }
            return order.take(new, limit: limit, now: now) {
                last += 1
                return `Parts of a machine's state`.name(last)
            }
        }
    }

    @Test func `changes of items, values and messages are sent in the order of their times`() {
        var order = Order()
        let message = ClusterChange.message(channel: [1], body: [2])
        let drafts = order.take([
            Self.values("a", 1, at: 30), DraftedChange(.item(LocalItem(5)), time: 20), Self.values("b", 2, at: 10),
            DraftedChange(.post(message, identifier: "p"), time: 40),
        ])
        #expect(
            drafts == [
                .entry(ClusterEntry(Self.name(1), [Self.set("b", 2)]), nil), .item(LocalItem(5)),
                .entry(ClusterEntry(Self.name(2), [Self.set("a", 1), message]), nil),
            ])
        let notes = order.order.notes(of: Self.name(2))
        #expect(notes?.suites == ["s"] && notes?.positions == ["s": 30] && notes?.posts == ["p"])
        #expect(order.order.pendingSuites == ["s"] && order.order.hasEntries)
        order.order.forget(Self.name(1))
        order.order.forget(Self.name(2))
        #expect(order.order.pendingSuites.isEmpty && !order.order.hasEntries)
    }

    @Test func `what is younger than the limit is held, with all that comes later of its suite`() {
        var order = Order()
        let drafts = order.take(
            [
                Self.values("a", 1, at: 10), Self.values("b", 1, at: 60),
                Self.values("c", 1, at: 4_000_000_000), Self.values("x", 1, at: 20, suite: "other"),
            ], limit: 50, now: 100)
        #expect(drafts == [.entry(ClusterEntry(Self.name(1), [Self.set("a", 1), Self.set("x", 1)]), nil)])
        #expect(order.order.heldChanges == [Self.set("b", 1), Self.set("c", 1)] && order.order.earliest == 60)
        let later = order.take([], limit: 60, now: 100)
        #expect(later.count == 1)
        #expect(order.order.earliest == nil)
        // A time of the future waits for nothing.
        let future = order.take([Self.values("d", 1, at: 4_000_000_000)], limit: 50, now: 100)
        #expect(future.count == 1)
    }

    @Test func `a key that is set often is sent once, and an entry has a largest size`() {
        var order = Order()
        let add = ClusterChange.value(ValueChange(Array("s\0a".utf8), .add(5)))
        let drafts = order.take([
            Self.values("a", 1, at: 1), DraftedChange(.values([add], suite: "s", position: nil), time: 2),
            Self.values("b", 1, at: 3), Self.values("c", 1, at: 4), Self.values("d", 1, at: 5),
        ])
        #expect(
            drafts == [
                .entry(ClusterEntry(Self.name(1), [Self.set("a", 6), Self.set("b", 1), Self.set("c", 1)]), nil),
                .entry(ClusterEntry(Self.name(2), [Self.set("d", 1)]), nil),
            ])
        let large = ClusterChange.message(channel: [1], body: [UInt8](repeating: 0, count: 90))
        let two = (1...2).map { DraftedChange<Int>(.post(large, identifier: "\($0)"), time: Int64($0)) }
        let entries = order.take(two)
        #expect(entries.count == 2)
    }

    // MARK: Requests

    @Test func `a request is over when its items are applied here and its record says so`() {
        var queue = StrictQueue()
        let name = Self.name(1)
        queue.look(at: [name], now: 100)
        queue.look(at: [name, Self.name(2)], now: 300)
        #expect(queue.age(of: name, at: 400) == 300 && queue.age(of: Self.name(2), at: 400) == 100)
        queue.look(at: [], now: 500)
        #expect(queue.age(of: name, at: 600) == 0, "its record is gone")
        queue.queue(name)
        #expect(queue.isQueued(name) && !queue.isEmpty)
        queue.take(name)
        #expect(queue.isEmpty)
        queue.accept(name, [Self.item(1), Self.item(2)])
        #expect(queue.isUnstored)
        queue.stored()
        #expect(queue.applied { $0 == Self.item(2) }.isEmpty)
        #expect(queue.applied { _ in false } == [name])
        queue.end(name, isAccepted: true)
        #expect(queue.accepted[name] != nil && !queue.isUnstored, "it is kept until its record says so")
        queue.forget(name)
        #expect(queue.accepted.isEmpty && queue.isUnstored)
    }

    @Test func `a request that was refused is sent again after a pause, up to a number of times`() {
        var queue = StrictQueue()
        let name = Self.name(1)
        queue.again(name, at: 100)
        #expect(queue.isQueued(name) && queue.nextRetry == 100 + StrictQueue.retry)
        queue.passed(100)
        #expect(queue.nextRetry != nil)
        queue.passed(100 + StrictQueue.retry)
        #expect(queue.nextRetry == nil)
        let allowed = (0..<60).filter { _ in queue.refused(name) }
        #expect(allowed.count == StrictQueue.mostRefusals - 1)
        queue.end(name, isAccepted: false)
        let isAllowed = queue.refused(name)
        #expect(isAllowed, "the count begins anew")
    }
}
