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
        /// It has not answered yet: what an earlier host showed is shown.
        case old
        /// It runs although nobody sees it: others would wait for what it holds.
        case held(String)
    }

    package var subject: Subject
    /// When it is tried again, in nanoseconds since 1970; nil: not by itself.
    package var again: Int64?

    package init(_ subject: Subject, again: Int64? = nil) { (self.subject, self.again) = (subject, again) }

    /// Something is wrong, rather than late.
    package var isFault: Bool {
        switch subject {
        case .deferred, .old, .held: false
        case .ended, .failed: true
        }
    }

    /// What is shown may not be true any more: its age is shown with it.
    package var showsAge: Bool { isFault || subject == .old }

    /// For people, without the time.
    package var text: String {
        switch subject {
        case .ended(let how): how
        case .failed(let cause): "failed: \(cause)"
        case .old: "not refreshed yet"
        case .held(let what): "not suspended: \(what)"
        case .deferred(.budget): "deferred: budget"
        case .deferred(.backOff): "deferred: it failed"
        case .deferred(.timeline): "deferred: by its timeline"
        }
    }
}
