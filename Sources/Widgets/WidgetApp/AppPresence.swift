public import GroupContainer
import GroupSystemCalls
import Widgets

/// Whether an app is in front of its user. As long as one is, refreshes of the container's widgets take nothing from
/// the budget, as the user works with what they show.
///
/// A presence ends with its process, however the process ends: it is a lock, which the kernel frees.
public final class AppPresence: Sendable {
    private let center: WidgetCenter
    private let presence = Guarded<Presence?>(nil)

    /// Creates a presence of an app that is not in front yet. Errors: as those of `WidgetCenter`.
    public init(_ container: Container) throws(CoordinationError) { center = try WidgetCenter(container) }

    /// Marks the app as in front.
    public func becomeActive() throws(CoordinationError) {
        try presence.withLock { (presence) throws(CoordinationError) in
            if presence == nil { presence = try center.frontPresence() }
        }
        try center.noteFront()
    }

    /// Marks the app as not in front any more. The app saves its data before this call.
    public func resignActive() throws(CoordinationError) {
        presence.withLock { $0 = nil }
        try center.noteFront()
    }
}
