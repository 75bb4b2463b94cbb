/// What a host grants. Times in nanoseconds.
package struct HostOptions: Hashable, Sendable {
    /// From its start until a widget has said what it is.
    package var startPatience: Int64 = 10_000_000_000
    /// For giving back what it holds, before it is stopped.
    package var grace: Int64 = 5_000_000_000
    /// How long a widget that holds locks behind its grace is left alone until it is looked at again: at least its
    /// grace.
    package var longestHold: Int64 = 300_000_000_000
    /// Beyond a refresh's deadline, which the widget keeps by itself.
    package var slack: Int64 = 2_000_000_000
    /// From being told to end until it is killed.
    package var exitGrace: Int64 = 1_000_000_000
    /// How long a widget that ended unasked is left alone.
    package var restart = Backoff(shortest: 1_000_000_000, longest: 300_000_000_000)
    /// A widget that lived for so long has not ended at once again.
    package var settledLife: Int64 = 60_000_000_000
    /// The room that the host has.
    package var rooms: [DisplayMode: WidgetSize] = [
        .compact: WidgetSize(columns: 80, rows: 4), .expanded: WidgetSize(columns: 80, rows: 24),
    ]
    /// Somebody looks at it in a debugger: nothing is too late, too large, or suspended, and its end is the host's.
    package var isForDebugging = false

    package init() {}

    func room(_ mode: DisplayMode) -> WidgetSize { rooms[mode] ?? .none }

    /// A moment so far away, or never.
    func deadline(_ time: Int64, after now: Moment) -> Int64 { isForDebugging ? .max : now.monotonic.adding(time) }
}
