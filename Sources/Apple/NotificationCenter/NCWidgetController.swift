import Foundation
public import GroupContainer
import GroupWidgetAdapters
import Widgets

/// Access of an app, or of a widget itself, to whether a widget has content.
public final class NCWidgetController: Sendable {
    private let container: Container?

    /// Creates a controller for a widget's own process: the container is that of its host.
    public init() { container = nil }

    /// Creates a controller for the widgets of a container, a type of the product GroupContainer: in an app, which no
    /// host has started.
    public init(_ container: Container) { self.container = container }

    /// Sets whether a widget has content. `bundleID` is its kind. The view of a widget without content has no lines,
    /// and the widget's object is not updated. The value is kept in the container until it is set again, also while the
    /// widget does not run; a widget has content by default. A host that shows the widget reloads it.
    ///
    /// An error (there is no container, `bundleID` is not a valid kind, those of `GroupDefaults.set`) is written to
    /// standard error.
    public func setHasContent(_ flag: Bool, forWidgetWithBundleIdentifier bundleID: String) {
        reportingErrors {
            let container = try Container.chosen(
                container, for: "set whether a widget has content", advice: "pass it: NCWidgetController(container)")
            try ContentFlag(ofKind: bundleID, in: container).set(flag)
        }
    }
}

/// Whether the widget of a kind has content, kept in the container.
struct ContentFlag {
    /// The suite of the group defaults for these flags, with the widgets' kinds as its keys, reserved for them.
    private static let suite = "group-container.today-widgets"

    private let kind: String
    private let container: Container
    private let defaults: GroupDefaults

    init(ofKind kind: String, in container: Container) throws(CoordinationError) {
        self.kind = kind
        self.container = container
        defaults = try GroupDefaults(container, suite: Self.suite)
    }

    /// The flag; true if none was set.
    var isSet: Bool {
        get throws(CoordinationError) { try defaults.readVersion(forKey: kind).value != .bool(false) }
    }

    /// Sets the flag, and then requests a reload, which finds it.
    func set(_ flag: Bool) throws(CoordinationError) {
        let center = try WidgetCenter(container)
        if try isSet != flag { try defaults.set(flag ? nil : .bool(false), forKey: kind) }
        try center.reloadTimelines(ofKind: kind)
    }
}
