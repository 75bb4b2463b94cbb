public import GroupContainer
import GroupSystemCalls
import Widgets

/// Whether an app is in front of its user. While one is, refreshes of the container's widgets cost no budget: somebody is
/// working with what they show.
///
/// It ends with the process, however that ends: what says that an app is in front is a lock, which the kernel frees.
public final class AppPresence: Sendable {
    private let center: WidgetCenter
    private let presence = Guarded<Presence?>(nil)

    /// Not in front yet. Errors: as those of `WidgetCenter`.
    public init(_ container: Container) throws(CoordinationError) { center = try WidgetCenter(container) }

    /// The app is in front now.
    public func becomeActive() throws(CoordinationError) {
        try presence.withLock { (presence) throws(CoordinationError) in
            if presence == nil { presence = try center.frontPresence() }
        }
        try center.noteFront()
    }

    /// It is not any more. What it has to save is to be saved before.
    public func resignActive() throws(CoordinationError) {
        presence.withLock { $0 = nil }
        try center.noteFront()
    }
}
