public import GroupContainer

/// Makes what a widget shows. The provider decides nothing: `Refresh` asks it when something that concerns it changed,
/// compares what it made with what was shown last, and answers `newData` or `noData`.
public protocol WidgetProvider: Sendable {
    /// What is shown. Two snapshots are the same if they encode to the same JSON.
    associatedtype Snapshot: Codable & Sendable

    /// The name under which the container keeps the widget's place and last snapshot: letters, digits, '.', '-', '_'.
    static var kind: String { get }

    /// The same for one provider of several of its type; its type's, unless it says otherwise.
    var kind: String { get }

    /// What concerns it; every item, if the list is empty.
    var interests: [Interest] { get }

    /// Makes the snapshot. It may be asked again for the same changes, after a crash or a failure. Throwing means
    /// `failed`.
    func snapshot(in context: Context) async throws -> Snapshot
}

extension WidgetProvider {
    /// Its type's.
    public var kind: String { Self.kind }
}

/// What a provider gets to make its snapshot from.
public struct Context: Sendable {
    /// The container.
    public let container: Container
    /// Access to its items, under the widget's name.
    public let coordinator: Coordinator
    /// Which items changed since the last refresh that succeeded, as far as they concern the widget; empty at the first
    /// one.
    public let changes: [Change]
    /// The same of keys of the group defaults; of a suite that there was not yet, what is set in it now.
    public let keyChanges: [DefaultsChange]
}
