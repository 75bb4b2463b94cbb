import GroupSystemCalls
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(1)))
struct `Byte locks` {
    private static let range = ByteRange(start: 100, length: 1)

    /// The outcome of a waiter's thread, and a wait for it.
    private final class Answer: Sendable {
        private let outcomes = Guarded<[LockWaiter.Outcome]>([])
        private let poller: Poller

        init() throws { poller = try Poller() }

        func note(_ outcome: LockWaiter.Outcome) {
            outcomes.withLock { $0.append(outcome) }
            poller.wake()
        }

        var now: LockWaiter.Outcome? { outcomes.withLock { $0.first } }

        func outcome() throws -> LockWaiter.Outcome? {
            _ = try poller.wait(nanoseconds: patience.nanoseconds)
            return now
        }
    }

    @Test func `a byte lock of one descriptor excludes that of another in the same process`() throws {
        let temporary = try TemporaryDirectory()
        let one = try temporary.open("file", [.readingAndWriting, .creating])
        let other = try temporary.open("file", [.readingAndWriting, .creating])
        #expect(try one.tryLock(.exclusive, Self.range))
        #expect(try !other.tryLock(.shared, Self.range))
        #expect(try other.conflict(with: .shared, .all) == Self.range)
        #expect(try other.tryLock(.exclusive, ByteRange(start: 101, length: 1)))
        #expect(try one.tryLock(.none, Self.range))
        #expect(try other.tryLock(.shared, Self.range))
        #expect(try one.tryLock(.shared, Self.range))
        #expect(try !one.tryLock(.exclusive, Self.range))
    }

    @Test func `a byte lock survives the closing of another descriptor of the file`() throws {
        let temporary = try TemporaryDirectory()
        let holder = try temporary.open("file", [.readingAndWriting, .creating])
        let other = try temporary.open("file", [.readingAndWriting, .creating])
        #expect(try holder.tryLock(.exclusive, Self.range))
        let unrelated = try temporary.open("file", [.readingAndWriting, .creating])
        _ = consume unrelated
        #expect(try other.conflict(with: .shared, Self.range) == Self.range)
        _ = consume holder
        #expect(try other.conflict(with: .shared, Self.range) == nil)
    }

    @Test func `a byte lock is granted to a waiter when its holder releases it`() throws {
        let temporary = try TemporaryDirectory()
        let holder = try temporary.open("file", [.readingAndWriting, .creating])
        let waiting = try temporary.open("file", [.readingAndWriting, .creating])
        #expect(try holder.tryLock(.exclusive, Self.range))
        let answer = try Answer()
        let waiter = try LockWaiter([.init(.exclusive, Self.range)], on: waiting.number, done: answer.note)
        #expect(answer.now == nil)
        #expect(try holder.tryLock(.none, Self.range))
        #expect(try answer.outcome() == .granted)
        #expect(try holder.conflict(with: .exclusive, .all) == Self.range)
        waiter.cancel()
        #expect(try waiting.tryLock(.none, .all))
        #expect(try holder.conflict(with: .exclusive, .all) == nil)
    }

    @Test func `a waiter that gives up leaves no byte lock behind, nor those of its earlier steps`() throws {
        let temporary = try TemporaryDirectory()
        let holder = try temporary.open("file", [.readingAndWriting, .creating])
        let waiting = try temporary.open("file", [.readingAndWriting, .creating])
        #expect(try holder.tryLock(.exclusive, Self.range))
        let answer = try Answer()
        let first = ByteRange(start: 0, length: 1)
        let waiter = try LockWaiter(
            [.init(.exclusive, first), .init(.exclusive, Self.range)], on: waiting.number, done: answer.note)
        waiter.cancel()
        #expect(try answer.outcome() == .cancelled)
        #expect(try holder.conflict(with: .exclusive, .all) == nil)
        #expect(try waiting.conflict(with: .exclusive, .all) == Self.range)
    }

    @Test func `a waiter that gives up in the moment of the grant leaves no byte lock behind`() throws {
        let temporary = try TemporaryDirectory()
        let holder = try temporary.open("file", [.readingAndWriting, .creating])
        let waiting = try temporary.open("file", [.readingAndWriting, .creating])
        let probe = try temporary.open("file", [.readingAndWriting, .creating])
        let first = ByteRange(start: 0, length: 1)
        for turn in 0..<200 {
            #expect(try holder.tryLock(.exclusive, Self.range))
            let answer = try Answer()
            let waiter = try LockWaiter(
                [.init(.exclusive, first), .init(.exclusive, Self.range)], on: waiting.number, done: answer.note)
            // The waiter has taken its first step, and its thread is about to sleep in the second.
            let start = monotonicNanoseconds()
            while try probe.conflict(with: .exclusive, first) == nil,
                monotonicNanoseconds() < start + patience.nanoseconds
            {}
            spin(nanoseconds: 20_000)
            #expect(try holder.tryLock(.none, Self.range))
            // From no time at all to one in which the grant has surely arrived.
            spin(nanoseconds: Int64(turn) * 250)
            waiter.cancel()
            switch try answer.outcome() {
            case .cancelled: #expect(try probe.conflict(with: .exclusive, .all) == nil)
            case .granted:
                #expect(try probe.conflict(with: .exclusive, Self.range) == Self.range)
                #expect(try waiting.tryLock(.none, .all))
            case let outcome: Issue.record("\(String(describing: outcome)) in turn \(turn)")
            }
        }
    }

    private func spin(nanoseconds: Int64) {
        let end = monotonicNanoseconds() + nanoseconds
        while monotonicNanoseconds() < end {}
    }
}
