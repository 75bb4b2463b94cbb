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

    /// What is shown before there is a snapshot; without it, only the widget's name.
    var placeholder: Snapshot? { get }

    /// Makes the snapshot. It may be asked again for the same changes, after a crash or a failure. Throwing means
    /// `failed`.
    func snapshot(in context: Context) async throws -> Snapshot

    /// Makes what is shown now and later; the snapshot, until something changes, unless it says otherwise.
    func timeline(in context: Context) async throws -> Timeline<Snapshot>

    /// What is to be done before anything is rendered: fetch, compute, store. `noData`: what is shown is as it was, and
    /// nothing is rendered, if there is anything to show. `newData`, unless it says otherwise: render, and compare.
    /// Throwing means `failed`.
    func performUpdate(in context: Context) async throws -> UpdateResult
}

extension WidgetProvider {
    /// Its type's.
    public var kind: String { Self.kind }

    /// None.
    public var placeholder: Snapshot? { nil }

    /// The snapshot, until something changes.
    public func timeline(in context: Context) async throws -> Timeline<Snapshot> {
        Timeline(try await snapshot(in: context))
    }

    /// Leaves it to the comparison.
    public func performUpdate(in context: Context) async throws -> UpdateResult { .newData }
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
    /// What it is shown in.
    public let environment: WidgetEnvironment
}
