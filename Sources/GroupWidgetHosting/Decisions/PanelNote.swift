/// Why a panel does not show what it should, and when it will.
package struct PanelNote: Hashable, Sendable {
    /// What stands in the way.
    package enum Subject: Hashable, Sendable {
        /// The process ended by itself, or was ended for this reason; the last snapshot is shown.
        case ended(String)
        /// The provider did not succeed, and says why; the last snapshot is shown.
        case failed(String)
        /// A refresh waits for its turn.
        case deferred(RefreshSchedule.Reason)
    }

    package var subject: Subject
    /// When it is tried again, in nanoseconds since 1970; nil: not by itself.
    package var again: Int64?

    package init(_ subject: Subject, again: Int64? = nil) { (self.subject, self.again) = (subject, again) }

    /// Something is wrong, rather than late.
    package var isFault: Bool {
        if case .deferred = subject { return false }
        return true
    }

    /// For people, without the time.
    package var text: String {
        switch subject {
        case .ended(let how): how
        case .failed(let cause): "failed: \(cause)"
        case .deferred(.budget): "deferred: budget"
        case .deferred(.backOff): "deferred: it failed"
        case .deferred(.timeline): "deferred: by its timeline"
        }
    }
}
