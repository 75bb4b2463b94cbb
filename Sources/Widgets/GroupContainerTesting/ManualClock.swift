public import FoundationEssentials
import GroupSystemCalls
public import Widgets

/// A clock that stands still until a test advances it: a `WidgetClock`, and also a `Clock`.
///
///     let clock = ManualClock()
///     async let outcome = widget.refreshed(in: container, timeLimit: .seconds(5), clock: clock)
///     await clock.waitUntilAwaited()    // the refresh waits for its deadline
///     clock.advance(by: .seconds(5))    // which is now
public final class ManualClock: WidgetClock, Clock {
    /// A moment of the clock, which does not jump.
    public struct Instant: InstantProtocol {
        /// The time since the clock was made.
        public let elapsed: Duration

        /// Returns the moment that is later by a duration.
        public func advanced(by duration: Duration) -> Instant { Instant(elapsed: elapsed + duration) }
        /// Returns the time from this moment to the other one.
        public func duration(to other: Instant) -> Duration { other.elapsed - elapsed }
        /// Returns whether a moment is before the other one.
        public static func < (one: Instant, other: Instant) -> Bool { one.elapsed < other.elapsed }
    }

    private let alarms: Guarded<ManualAlarms>

    /// Creates a clock that shows a date: by default 9 September 2001, 01:46:40 UTC.
    public init(at date: Date = Date(timeIntervalSince1970: 1_000_000_000)) {
        alarms = Guarded(ManualAlarms(date: date))
    }

    /// The time of the wall clock.
    public var date: Date { alarms.withLock(\.date) }

    /// The moment of the clock that does not jump.
    public var now: Instant { Instant(elapsed: alarms.withLock(\.elapsed)) }

    /// Zero: the clock has no ticks.
    public var minimumResolution: Duration { .zero }

    /// Advances both clocks. The alarms due in that time ring before this function returns, in their order, each at its
    /// moment.
    public func advance(by duration: Duration) {
        let end = now.elapsed + max(.zero, duration)
        while let action = alarms.withLock({ $0.next(until: end) }) { action() }
    }

    /// Sets the wall clock, as a user or the network does. No alarm rings, and none is moved.
    public func set(_ date: Date) { alarms.withLock { $0.date = date } }

    /// Waits until a number of alarms are set, or tasks sleep, so that a test can advance the clock.
    public func waitUntilAwaited(by count: Int = 1) async {
        await withCheckedContinuation { continuation in
            if alarms.withLock({ $0.isAwaited(by: count, else: continuation) }) { continuation.resume() }
        }
    }

    /// Calls `action` when the clock was advanced by a duration; at once, if that is not positive.
    public func alarm(after duration: Duration, _ action: @escaping @Sendable () -> Void) -> WidgetAlarm {
        if duration <= .zero {
            action()
            return WidgetAlarm {}
        }
        let (number, others) = alarms.withLock { $0.set(at: $0.elapsed + duration, action) }
        for other in others { other.resume() }
        return WidgetAlarm { [alarms] in alarms.withLock { $0.cancel(number) } }
    }

    /// Suspends until a moment. Errors: `CancellationError`, at once, when the task is cancelled.
    public func sleep(until deadline: Instant, tolerance: Duration?) async throws {  // allowed: a test ends it
        let isOver = Kept<Bool>()
        let (ends, end) = AsyncStream<Void>.makeStream()
        let alarm = alarm(after: now.duration(to: deadline)) {
            isOver.keep(true)
            end.finish()
        }
        // The stream ends also with the cancellation of the task.
        for await _ in ends {}
        alarm.cancel()
        if isOver.value != true { throw CancellationError() }
    }
}

/// The state of the clocks, and the alarms.
private struct ManualAlarms {
    private struct Alarm {
        let number: Int
        let moment: Duration
        let action: @Sendable () -> Void
    }

    var date: Date
    private(set) var elapsed = Duration.zero
    private var alarms: [Alarm] = []
    private var count = 0
    private var awaiting: [(count: Int, continuation: CheckedContinuation<Void, Never>)] = []

    init(date: Date) { self.date = date }

    /// Sets an alarm. Returns its number, and the tasks that waited for so many alarms.
    mutating func set(at moment: Duration, _ action: @escaping @Sendable () -> Void) -> (
        number: Int, awaiting: [CheckedContinuation<Void, Never>]
    ) {
        count += 1
        alarms.append(Alarm(number: count, moment: moment, action: action))
        let others = awaiting.filter { $0.count <= alarms.count }.map(\.continuation)
        awaiting.removeAll { $0.count <= alarms.count }
        return (count, others)
    }

    mutating func cancel(_ number: Int) { alarms.removeAll { $0.number == number } }

    /// Returns whether so many alarms are set. If false, the continuation is resumed when they are.
    mutating func isAwaited(by count: Int, else continuation: CheckedContinuation<Void, Never>) -> Bool {
        if alarms.count >= count { return true }
        awaiting.append((count, continuation))
        return false
    }

    /// Advances to the first alarm until `end`, and returns its action; nil without such an alarm, at `end`.
    mutating func next(until end: Duration) -> (@Sendable () -> Void)? {
        let first = alarms.filter { $0.moment <= end }.min { ($0.moment, $0.number) < ($1.moment, $1.number) }
        pass(until: first?.moment ?? end)
        guard let first else { return nil }
        cancel(first.number)
        return first.action
    }

    private mutating func pass(until moment: Duration) {
        let passed = max(.zero, moment - elapsed)
        elapsed += passed
        date += Double(passed.components.seconds) + Double(passed.components.attoseconds) / 1e18
    }
}
