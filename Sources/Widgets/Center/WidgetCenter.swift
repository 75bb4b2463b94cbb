public import GroupContainer

/// What an app says to the widgets of its container, and asks of them, without knowing who shows them.
///
/// A reload request is a key that is set anew: one that is made while nobody shows a widget is heeded when somebody does,
/// and a hundred requests in a row are one reload.
public struct WidgetCenter: Sendable {
    let container: Container
    let defaults: GroupDefaults

    /// The suite of the group defaults that it keeps its values in; not to be used for anything else.
    static let suite = "group-container.widgets"

    /// Of a container. Errors: as those of `GroupDefaults`.
    public init(_ container: Container) throws(CoordinationError) {
        self.container = container
        defaults = try GroupDefaults(container, suite: Self.suite)
    }

    /// Asks that the widgets of a kind be rendered anew, although nothing in the container has changed that concerns
    /// them. Errors: `invalidArgument` where it is no kind, and those of `GroupDefaults.set`.
    public func reloadTimelines(ofKind kind: String) throws(CoordinationError) {
        try WidgetRecord.checkKind(kind)
        try defaults.set(.bool(true), forKey: Self.reloads(ofKind: kind))
    }

    /// The same for all kinds.
    public func reloadAllTimelines() throws(CoordinationError) {
        try defaults.set(.bool(true), forKey: Self.allReloads)
    }

    // MARK: For who shows widgets

    private static let allReloads = "reload"
    private static func reloads(ofKind kind: String) -> String { "reload/\(kind)" }

    /// A number that grows with each request that concerns the kind; 0: there was none.
    package func reloads(ofKind kind: String) throws(CoordinationError) -> UInt64 {
        max(
            try defaults.versionedValue(forKey: Self.allReloads).generation,
            try defaults.versionedValue(forKey: Self.reloads(ofKind: kind)).generation)
    }

    /// Changes of this tell that a reload may have been asked for, an app has come to the front or gone from there, or
    /// another widget is present.
    package func follow() throws(CoordinationError) -> DefaultsFollower { try defaults.follow() }

    private static let frontApp = "app in front"

    /// Whether an app of the container is in front of its user.
    public func isAppInFront() throws(CoordinationError) -> Bool {
        try Presence.isThere(Self.frontApp, in: container)
    }

    /// As long as it lives, one is.
    package func frontPresence() throws(CoordinationError) -> Presence { try Presence(Self.frontApp, in: container) }

    /// Says that it is worth asking again.
    package func noteFront() throws(CoordinationError) { try defaults.set(.bool(true), forKey: "front") }
}
