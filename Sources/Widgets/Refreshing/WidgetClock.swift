import Dispatch
public import FoundationEssentials
import GroupSystemCalls

/// Where refreshes and widgets have the time from: the system's clocks, unless a test gives another one.
///
/// What waits between processes, as for a lock, waits in the kernel, by the kernel's clock.
public protocol WidgetClock: Sendable {
    /// The wall clock, by which timelines change; it may jump.
    var date: Date { get }

    /// Calls `action` once when so much time has passed, by a clock that does not jump, unless the alarm is cancelled
    /// before.
    func alarm(after duration: Duration, _ action: @escaping @Sendable () -> Void) -> WidgetAlarm
}

/// Something that a clock is going to do.
public struct WidgetAlarm: Sendable {
    private let cancellation: @Sendable () -> Void

    /// `cancellation` keeps it from happening, and does nothing once it has happened.
    public init(cancellation: @escaping @Sendable () -> Void) { self.cancellation = cancellation }

    /// It is not to happen any more.
    public func cancel() { cancellation() }
}

/// The system's clocks. System calls: clock_gettime(CLOCK_REALTIME)
public struct SystemWidgetClock: WidgetClock {
    /// They are the same for everyone.
    public init() {}

    /// The present time.
    public var date: Date { Date() }

    /// Rings on a queue of its own.
    public func alarm(after duration: Duration, _ action: @escaping @Sendable () -> Void) -> WidgetAlarm {
        let timer = Guarded(DispatchSource.makeTimerSource())
        timer.withLock { source in
            // It keeps itself until it has rung, or is cancelled.
            source.setEventHandler {
                timer.withLock { $0.cancel() }
                action()
            }
            source.schedule(deadline: .now() + .nanoseconds(Int(clamping: duration.nanoseconds)))
            source.activate()
        }
        return WidgetAlarm { timer.withLock { $0.cancel() } }
    }
}
