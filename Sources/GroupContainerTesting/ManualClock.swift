public import FoundationEssentials
import GroupSystemCalls
public import Widgets

/// A clock that stands still until a test says otherwise: for what takes a `WidgetClock`, and for what takes a `Clock`.
///
///     let clock = ManualClock()
///     async let outcome = widget.refreshed(in: container, deadline: .seconds(5), clock: clock)
///     await clock.isAwaited()           // the refresh waits for its deadline
///     clock.advance(by: .seconds(5))    // which is now
public final class ManualClock: WidgetClock, Clock {
    /// A moment of it, which does not jump.
    public struct Instant: InstantProtocol {
        /// Since the clock was made.
        public let elapsed: Duration

        /// So much later.
        public func advanced(by duration: Duration) -> Instant { Instant(elapsed: elapsed + duration) }
        /// How much later the other one is.
        public func duration(to other: Instant) -> Duration { other.elapsed - elapsed }
        /// Whether it is before the other one.
        public static func < (one: Instant, other: Instant) -> Bool { one.elapsed < other.elapsed }
    }

    private let alarms: Guarded<ManualAlarms>

    /// It shows that date: 9 September 2001, 01:46:40 UTC, unless told.
    public init(at date: Date = Date(timeIntervalSince1970: 1_000_000_000)) {
        alarms = Guarded(ManualAlarms(date: date))
    }

    /// What the wall clock shows.
    public var date: Date { alarms.withLock(\.date) }

    /// The moment, by the clock that does not jump.
    public var now: Instant { Instant(elapsed: alarms.withLock(\.elapsed)) }

    /// It has no ticks.
    public var minimumResolution: Duration { .zero }

    /// Lets time pass, on both clocks. What was to happen meanwhile happens before this returns, in its order, each at
    /// its moment.
    public func advance(by duration: Duration) {
        let end = now.elapsed + max(.zero, duration)
        while let action = alarms.withLock({ $0.next(until: end) }) { action() }
    }

    /// Sets the wall clock, as a user or the network does: nobody who waits notices.
    public func set(_ date: Date) { alarms.withLock { $0.date = date } }

    /// Returns once so many alarms are set, or tasks sleep: once it makes sense to let time pass.
    public func isAwaited(by count: Int = 1) async {
        await withCheckedContinuation { continuation in
            if alarms.withLock({ $0.isAwaited(by: count, else: continuation) }) { continuation.resume() }
        }
    }

    /// Calls `action` when so much time was let pass.
    public func alarm(after duration: Duration, _ action: @escaping @Sendable () -> Void) -> WidgetAlarm {
        let (number, others) = alarms.withLock { $0.set(at: $0.elapsed + duration, action) }
        for other in others { other.resume() }
        return WidgetAlarm { [alarms] in alarms.withLock { $0.cancel(number) } }
    }

    /// Suspends until that moment. Errors: `CancellationError`, at once, when the task is cancelled.
    public func sleep(until deadline: Instant, tolerance: Duration?) async throws {  // allowed: passes when told
        let isOver = Kept<Bool>()
        let (ends, end) = AsyncStream<Void>.makeStream()
        let alarm = alarm(after: now.duration(to: deadline)) {
            isOver.keep(true)
            end.finish()
        }
        // Ends also with the task.
        for await _ in ends {}
        alarm.cancel()
        if isOver.value != true { throw CancellationError() }
    }
}

/// What is to happen when.
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

    /// And who waited for it to be set.
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

    /// False: the continuation is resumed when it is.
    mutating func isAwaited(by count: Int, else continuation: CheckedContinuation<Void, Never>) -> Bool {
        if alarms.count >= count { return true }
        awaiting.append((count, continuation))
        return false
    }

    /// The first that is to happen until then, at its moment; then nil, at the end.
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
