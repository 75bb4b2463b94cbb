// Imports nothing: no file, clock or process.

/// The result of a refresh.
public enum UpdateResult: String, Codable, Hashable, Sendable {
    /// The snapshot differs from the last one that was delivered.
    case newData
    /// Nothing that concerns the widget changed, or the new snapshot equals the last one.
    case noData
    /// The provider failed; the last snapshot is kept, and the next refresh gets the same changes again.
    case failed
}

/// When to render, and what follows from it. The position in the journal does not move if the provider fails, or if the
/// process crashes before the end of the refresh, so the next refresh gets the same changes again.
struct RefreshDecision: Equatable, Sendable {
    /// The result of the refresh.
    var result: UpdateResult
    /// Whether the position in the journal moves behind the changes that were read.
    var movesCursor: Bool
    /// Whether the new snapshot replaces the last one.
    var keepsSnapshot: Bool

    /// What is known before rendering.
    struct Situation: Equatable, Sendable {
        /// The widget was refreshed before.
        var hasPrevious: Bool
        /// The changes since the last refresh are not known in full: everything may be different.
        var isLost: Bool
        /// How many changes since the last refresh concern the widget.
        var relevantChanges: Int
        /// A reload was requested, the timeline's refresh date has come, or the environment or the interests are others
        /// than before.
        var isRequested = false
    }

    /// What the provider did.
    enum Rendering: Equatable, Sendable {
        /// A snapshot, and whether it equals the last one.
        case rendered(equalsPrevious: Bool)
        /// There is no provider: the caller only wants to know whether something changed.
        case notRendered
        case failed
    }

    /// Decides before rendering; nil: render, then call `after`.
    static func before(_ situation: Situation) -> RefreshDecision? {
        if !situation.hasPrevious || situation.isLost || situation.isRequested || situation.relevantChanges > 0 {
            return nil
        }
        return RefreshDecision(result: .noData, movesCursor: true, keepsSnapshot: false)
    }

    static func after(_ rendering: Rendering) -> RefreshDecision {
        switch rendering {
        case .rendered(equalsPrevious: true): RefreshDecision(result: .noData, movesCursor: true, keepsSnapshot: false)
        case .rendered(equalsPrevious: false): RefreshDecision(result: .newData, movesCursor: true, keepsSnapshot: true)
        case .notRendered: RefreshDecision(result: .newData, movesCursor: true, keepsSnapshot: false)
        case .failed: RefreshDecision(result: .failed, movesCursor: false, keepsSnapshot: false)
        }
    }
}
