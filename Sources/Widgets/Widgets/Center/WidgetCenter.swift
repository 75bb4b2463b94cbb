public import GroupContainer

/// An app's access to the widgets of its container, whichever hosts show them.
///
/// A reload request sets a key anew. A request that is made while no host shows the widget is served when a host does,
/// and a hundred requests in a row are one reload.
public struct WidgetCenter: Sendable {
    let container: Container
    let defaults: GroupDefaults

    /// The suite of the group defaults for the center's values, reserved for them.
    static let suite = "group-container.widgets"

    /// Opens the center of a container. Errors: as those of `GroupDefaults`.
    public init(_ container: Container) throws(CoordinationError) {
        self.container = container
        defaults = try GroupDefaults(container, suite: Self.suite)
    }

    /// Requests that the widgets of a kind are rendered anew, although nothing that concerns them has changed. Errors:
    /// `invalidArgument` if `kind` is not a valid kind, and those of `GroupDefaults.set`.
    public func reloadTimelines(ofKind kind: String) throws(CoordinationError) {
        try WidgetRecord.checkKind(kind)
        try defaults.set(.bool(true), forKey: Self.reloads(ofKind: kind))
    }

    /// Requests that the widgets of all kinds are rendered anew. Errors: those of `GroupDefaults.set`.
    public func reloadAllTimelines() throws(CoordinationError) {
        try defaults.set(.bool(true), forKey: Self.allReloads)
    }

    // MARK: For programs that show widgets

    private static let allReloads = "reload"
    private static func reloads(ofKind kind: String) -> String { "reload/\(kind)" }

    /// Returns a number that grows with each reload request for the kind; 0 if there was none.
    package func reloads(ofKind kind: String) throws(CoordinationError) -> UInt64 {
        max(
            try defaults.readVersion(forKey: Self.allReloads).generation,
            try defaults.readVersion(forKey: Self.reloads(ofKind: kind)).generation
        ).rawValue
    }

    /// Follows the center's values. A change means that a reload may have been requested, that an app may have come to
    /// the front or left it, or that other widgets may be present.
    package func follow() throws(CoordinationError) -> Follower<DefaultsChange> { try defaults.follow() }

    private static let frontApp = "app in front"

    /// Returns whether an app of the container is in front of its user.
    public func isAppInFront() throws(CoordinationError) -> Bool {
        try Presence.isThere(Self.frontApp, in: container)
    }

    /// Returns a presence that marks an app as in front for as long as the presence lives.
    package func frontPresence() throws(CoordinationError) -> Presence { try Presence(Self.frontApp, in: container) }

    /// Sets a key, so that followers check again whether an app is in front.
    package func noteFront() throws(CoordinationError) { try defaults.set(.bool(true), forKey: "front") }
}
