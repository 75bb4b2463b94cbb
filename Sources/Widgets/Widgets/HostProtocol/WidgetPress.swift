/// A press of a control, with a name that no other press has: by it, the press is performed at most once.
package struct WidgetPress: Hashable, Sendable {
    package var name: String
    package var action: WidgetAction

    package init(name: String, action: WidgetAction) {
        self.name = name
        self.action = action
    }
}

/// What has become of a press.
package enum PressResult: String, Codable, Hashable, Sendable {
    /// The changes were made.
    case done
    /// Nothing was changed, and nothing will be.
    case notDone
    /// The changes were made or not: what says so cannot be read.
    case unknown
}
