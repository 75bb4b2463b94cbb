import GroupContainer

/// The changes of a suite since a widget's last refresh, as far as they concern the widget.
struct SuiteChanges {
    private(set) var changes: [DefaultsChange] = []
    /// Whether the changes are not known in full, so that anything may be different.
    private(set) var isLost = false
    /// The position behind all changes, at which the next refresh begins.
    private(set) var position: WidgetRecord.SuitePosition = .absent

    /// Reads the changes since `position`, where the last refresh ended; nil if that refresh did not read this suite.
    init(
        of suite: String, _ keys: Concerns.Keys, since position: WidgetRecord.SuitePosition?, in container: Container
    ) throws(CoordinationError) {
        let defaults = try GroupDefaults(container, suite: suite)
        // Reading must not create the suite.
        guard defaults.mark != nil else {
            if case .behind = position { isLost = true }
            return
        }
        let origin: ChangeOrigin
        switch position {
        // There was no suite: everything that is set was set since.
        case .absent: origin = .snapshot
        case .behind(let cursor): origin = .cursor(cursor)
        case nil: (origin, isLost) = (.now, true)
        }
        try read(defaults.follow(of: keys.names, since: origin))
    }

    private mutating func read(_ beginning: Follower<DefaultsChange>) throws(CoordinationError) {
        var follower = beginning
        while let change = try follower.next(timeout: .zero) {
            switch change.kind {
            case .rescan, .degraded: isLost = true
            case .set, .removed, .cleared, .present: changes.append(change)
            }
        }
        self.position = .behind(follower.readPosition)
    }
}

extension Concerns.Keys {
    /// The names of the keys; nil for all keys.
    var names: Set<String>? {
        switch self {
        case .all: nil
        case .only(let keys): keys
        }
    }
}
