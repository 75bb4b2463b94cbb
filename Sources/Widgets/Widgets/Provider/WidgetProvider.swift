public import FoundationEssentials
public import GroupContainer

/// Makes what a widget shows. The provider decides nothing: `WidgetRefresh` calls it when something that concerns the
/// widget changed, compares its result with what was shown last, and returns `newData` or `noData`.
public protocol WidgetProvider: Sendable {
    /// What is shown. Two snapshots are equal if they encode to the same JSON.
    associatedtype Snapshot: Codable & Sendable

    /// The name under which the container keeps the widget's position and last snapshot: letters, digits, '.', '-',
    /// '_'.
    static var kind: String { get }

    /// The kind of this provider, if its type has several; by default the type's kind.
    var kind: String { get }

    /// What concerns the widget; every item, and every key of the group defaults, if the list is empty, as it is by
    /// default.
    var interests: [WidgetInterest] { get }

    /// What is shown before there is a snapshot; if nil, only the widget's name.
    var placeholder: Snapshot? { get }

    /// Makes the snapshot. After a crash or a failure, this function may be called again for the same changes. Throwing
    /// means `failed`.
    func snapshot(in context: WidgetContext) async throws -> Snapshot

    /// Makes what is shown now and later; by default the snapshot, until something changes.
    func timeline(in context: WidgetContext) async throws -> Timeline<Snapshot>

    /// Does the work before rendering: fetch, compute, store. `noData` means that the last snapshot is still current.
    /// The refresh then renders nothing, unless no snapshot is stored yet, or a rendering is due anyway: after a reload
    /// request, at the timeline's refresh date, or for another environment or other interests. `newData`, the default,
    /// means to render and compare. Throwing means `failed`.
    func performUpdate(in context: WidgetContext) async throws -> UpdateResult

    /// Returns the items that a press reads or changes; none by default.
    func items(for action: WidgetAction) -> [AccessIntent]

    /// Does what a press requests, in a transaction of the items that `items(for:)` names: all of its changes are made
    /// or, if it throws or the process dies, none. A press is performed at most once, whatever is killed meanwhile; the
    /// host shows whether it was. What is not a change of these items may have been done although the press was not.
    /// The default throws, as a view without controls is not pressed.
    func perform(_ action: WidgetAction, on access: Access) throws
}

extension WidgetProvider {
    /// The kind of the provider's type.
    public var kind: String { Self.kind }

    /// Every item, and every key of the group defaults.
    public var interests: [WidgetInterest] { [] }

    /// No placeholder.
    public var placeholder: Snapshot? { nil }

    /// Makes a timeline of the snapshot, until something changes.
    public func timeline(in context: WidgetContext) async throws -> Timeline<Snapshot> {
        Timeline(try await snapshot(in: context))
    }

    /// Returns `newData`, so that the comparison of snapshots decides.
    public func performUpdate(in context: WidgetContext) async throws -> UpdateResult { .newData }

    /// No items.
    public func items(for action: WidgetAction) -> [AccessIntent] { [] }

    /// Refuses the press.
    public func perform(_ action: WidgetAction, on access: Access) throws {
        throw PressRefusal("this widget has nothing to press")
    }
}

/// A provider that is refreshed each time its widget becomes visible, also if nothing in the container has changed.
package protocol AppearingProvider {}

/// The data from which a provider makes its snapshot.
public struct WidgetContext: Sendable {
    /// The container.
    public let container: Container
    /// Access to the container's items, under the widget's name.
    public let coordinator: Coordinator
    /// The items that changed since the last refresh that succeeded, as far as they concern the widget; empty at the
    /// first refresh.
    public let changes: [Change]
    /// The keys of the group defaults that changed since then; for a suite that did not exist then, the keys that are
    /// set now.
    public let keyChanges: [DefaultsChange]
    /// The environment in which the widget is shown.
    public let environment: WidgetEnvironment
    /// When the refresh began, by its clock.
    public let date: Date
    /// Whether the widget has become visible since the last refresh of this process.
    package let appears: Bool
}
