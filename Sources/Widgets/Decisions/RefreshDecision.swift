/// What a refresh found: the answer to "is there something new for me?".
public enum UpdateResult: String, Codable, Hashable, Sendable {
    /// The snapshot is another one than the last that was delivered.
    case newData
    /// Nothing that concerns the widget changed, or what it shows is the same all the same.
    case noData
    /// The provider did not succeed; the last snapshot is kept, and the next refresh gets the same changes again.
    case failed
}

/// When to render, and what follows from it. The rule behind it: the place in the journal moves on only when the
/// provider succeeded, so a crash means the same change again and never a missed one.
struct RefreshDecision: Equatable, Sendable {
    /// What is answered.
    var result: UpdateResult
    /// The place in the journal moves behind the changes that were looked at.
    var movesCursor: Bool
    /// The new snapshot takes the last one's place.
    var keepsSnapshot: Bool

    /// What is known before anything is rendered.
    struct Situation: Equatable, Sendable {
        /// The widget was refreshed before.
        var hasPrevious: Bool
        /// Its place in the journal is of another history: everything may be different.
        var isLost: Bool
        /// How many changes since then concern it.
        var relevantChanges: Int
        /// Somebody asked for a reload, its timeline is at its end, or it is shown in another environment than before.
        var isAsked = false
    }

    /// What the provider did.
    enum Rendering: Equatable, Sendable {
        /// A snapshot, and whether it equals the last one.
        case rendered(equalsPrevious: Bool)
        /// There is no provider: that something changed is all that is asked.
        case notRendered
        case failed
    }

    /// Nil: render, then ask `after`.
    static func before(_ situation: Situation) -> RefreshDecision? {
        if !situation.hasPrevious || situation.isLost || situation.isAsked || situation.relevantChanges > 0 {
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
