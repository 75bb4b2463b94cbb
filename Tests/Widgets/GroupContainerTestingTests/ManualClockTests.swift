import Foundation
import GroupContainerTesting
import Synchronization
import Testing
import Widgets

@Suite(.timeLimit(.minutes(2))) struct `A manual clock` {
    private let clock = ManualClock()

    /// The events, in their order.
    private final class Log: Sendable {
        private let entries = Mutex<[String]>([])
        var all: [String] { entries.withLock { $0 } }
        func add(_ entry: String) { entries.withLock { $0.append(entry) } }
    }

    @Test func `a manual clock stands still until it is advanced, date and instant alike`() {
        let (date, now) = (clock.date, clock.now)
        #expect(clock.date == date && clock.now == now)
        clock.advance(by: .milliseconds(1_500))
        #expect(clock.date == date.addingTimeInterval(1.5))
        #expect(now.duration(to: clock.now) == .milliseconds(1_500))
    }

    @Test func `the alarms of a manual clock ring in order, each at its own moment`() {
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

    @Test func `an alarm that an alarm sets rings, and a canceled alarm does not`() {
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

    @Test func `setting the date of a manual clock rings no alarm`() {
        let log = Log()
        _ = clock.alarm(after: .seconds(1)) { log.add("rang") }
        clock.set(.distantFuture)
        #expect(clock.date == .distantFuture && log.all.isEmpty)
        clock.advance(by: .seconds(1))
        #expect(log.all == ["rang"])
    }

    @Test func `a task sleeps until the manual clock is advanced or the task is canceled`() async throws {
        let sleeper = Task { [clock] in try await clock.sleep(for: .seconds(10)) }  // allowed: a manual clock
        let other = Task { [clock] in try await clock.sleep(for: .seconds(20)) }  // allowed: a manual clock
        await clock.waitUntilAwaited(by: 2)
        clock.advance(by: .seconds(10))
        try await sleeper.value
        other.cancel()
        await #expect(throws: CancellationError.self) { try await other.value }
    }
}
