import Foundation
import GroupContainerTesting
import Synchronization
import Testing
import Widgets

@Suite(.timeLimit(.minutes(2))) struct `A manual clock` {
    private let clock = ManualClock()

    /// What happened, in its order.
    private final class Log: Sendable {
        private let entries = Mutex<[String]>([])
        var all: [String] { entries.withLock { $0 } }
        func add(_ entry: String) { entries.withLock { $0.append(entry) } }
    }

    @Test func `stands still, and then passes on both sides`() {
        let (date, now) = (clock.date, clock.now)
        #expect(clock.date == date && clock.now == now)
        clock.advance(by: .milliseconds(1_500))
        #expect(clock.date == date.addingTimeInterval(1.5))
        #expect(now.duration(to: clock.now) == .milliseconds(1_500))
    }

    @Test func `rings in the order of the moments, each at its own`() {
        let log = Log()
        let begin = clock.now
        for seconds in [3, 1, 2] {
            _ = clock.alarm(after: .seconds(seconds)) { [clock] in
                log.add("\(seconds) at \(begin.duration(to: clock.now).components.seconds)")
            }
        }
        clock.advance(by: .seconds(2))
        #expect(log.all == ["1 at 1", "2 at 2"])
        clock.advance(by: .seconds(60))
        #expect(log.all == ["1 at 1", "2 at 2", "3 at 3"])
    }

    @Test func `rings also for what was set by a ring, but not for what was cancelled`() {
        let log = Log()
        let cancelled = clock.alarm(after: .seconds(1)) { log.add("cancelled") }
        _ = clock.alarm(after: .seconds(1)) { [clock] in
            _ = clock.alarm(after: .seconds(1)) { log.add("second") }
            log.add("first")
        }
        cancelled.cancel()
        clock.advance(by: .seconds(2))
        #expect(log.all == ["first", "second"])
    }

    @Test func `that is set rings nobody`() {
        let log = Log()
        _ = clock.alarm(after: .seconds(1)) { log.add("rang") }
        clock.set(.distantFuture)
        #expect(clock.date == .distantFuture && log.all.isEmpty)
        clock.advance(by: .seconds(1))
        #expect(log.all == ["rang"])
    }

    @Test func `lets tasks sleep until it is moved, or they are cancelled`() async throws {
        let sleeper = Task { [clock] in try await clock.sleep(for: .seconds(10)) }  // allowed: a manual clock
        let other = Task { [clock] in try await clock.sleep(for: .seconds(20)) }  // allowed: a manual clock
        await clock.isAwaited(by: 2)
        clock.advance(by: .seconds(10))
        try await sleeper.value
        other.cancel()
        await #expect(throws: CancellationError.self) { try await other.value }
    }
}
