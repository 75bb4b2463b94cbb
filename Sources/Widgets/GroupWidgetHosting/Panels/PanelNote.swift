// Imports nothing: no file, clock or process.

/// Why a panel does not show what it should, and when it will.
package struct PanelNote: Hashable, Sendable {
    /// The reason.
    package enum Subject: Hashable, Sendable {
        /// The process ended by itself, or was ended for this reason; the last snapshot is shown.
        case ended(String)
        /// The provider failed, with this cause; the last snapshot is shown.
        case failed(String)
        /// A refresh waits for its turn.
        case deferred(RefreshSchedule.Reason)
        /// The widget has not answered yet: the view of an earlier host is shown.
        case old
        /// The widget runs although it is not visible, as other processes would wait for its locks.
        case held(String)
    }

    package var subject: Subject
    /// When the next try is, in nanoseconds since 1970; nil if none is scheduled.
    package var again: Int64?

    package init(_ subject: Subject, again: Int64? = nil) { (self.subject, self.again) = (subject, again) }

    /// Whether something is wrong, not only late.
    package var isFault: Bool {
        switch subject {
        case .deferred, .old, .held: false
        case .ended, .failed: true
        }
    }

    /// Whether the view may be outdated, so that its age is shown.
    package var showsAge: Bool { isFault || subject == .old }

    /// The text for people, without the time.
    package var text: String {
        switch subject {
        case .ended(let how): how
        case .failed(let cause): "failed: \(cause)"
        case .old: "not refreshed yet"
        case .held(let what): "not suspended: \(what)"
        case .deferred(.budget): "deferred: budget"
        case .deferred(.backOff): "deferred: failure"
        case .deferred(.timeline): "deferred: timeline"
        }
    }
}
