public import GroupContainer
import SystemCalls

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
            if presence == nil { presence = try Presence(WidgetCenter.frontApp, in: center.container) }
        }
        try center.noteFront()
    }

    /// It is not any more. What it has to save is to be saved before.
    public func resignActive() throws(CoordinationError) {
        presence.withLock { $0 = nil }
        try center.noteFront()
    }
}

extension WidgetCenter {
    fileprivate static let frontApp = "app in front"

    /// Whether an app of the container is in front of its user.
    public func isAppInFront() throws(CoordinationError) -> Bool {
        try Presence.isThere(Self.frontApp, in: container)
    }

    /// Says that it is worth asking again.
    fileprivate func noteFront() throws(CoordinationError) {
        try defaults.set(.integer(Int(monotonicNanoseconds())), forKey: "front")
    }
}
