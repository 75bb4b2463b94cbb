import Dispatch
public import FoundationEssentials
import GroupSystemCalls

/// The source of time for refreshes and widgets: the system's clocks, or a test's own clock.
///
/// Waits between processes, such as those for a lock, take place in the kernel, by the kernel's clock.
public protocol WidgetClock: Sendable {
    /// The time of the wall clock, by which timelines change. The wall clock may jump.
    var date: Date { get }

    /// Calls `action` once after a duration, unless the alarm is cancelled before. The duration is measured on a clock
    /// that does not jump.
    func alarm(after duration: Duration, _ action: @escaping @Sendable () -> Void) -> WidgetAlarm
}

/// An action that a clock will do later.
public struct WidgetAlarm: Sendable {
    private let cancellation: @Sendable () -> Void

    /// Creates an alarm. `cancellation` prevents the action, and does nothing after the action.
    public init(cancellation: @escaping @Sendable () -> Void) { self.cancellation = cancellation }

    /// Cancels the alarm: its action is not called any more.
    public func cancel() { cancellation() }
}

/// The system's clocks. System calls: clock_gettime(CLOCK_REALTIME)
public struct SystemWidgetClock: WidgetClock {
    /// Creates a value for the system's clocks, which are the same for the whole process.
    public init() {}

    /// The present time.
    public var date: Date { Date() }

    /// Calls `action` on a dispatch queue after a duration.
    public func alarm(after duration: Duration, _ action: @escaping @Sendable () -> Void) -> WidgetAlarm {
        let timer = Guarded(DispatchSource.makeTimerSource())
        timer.withLock { source in
            // The source keeps itself alive until its event or its cancellation.
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
