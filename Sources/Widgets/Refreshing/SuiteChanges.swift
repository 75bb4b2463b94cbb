import GroupContainer

/// What happened to a suite since a widget's last refresh, as far as it concerns the widget.
struct SuiteChanges {
    private(set) var changes: [DefaultsChange] = []
    /// What happened cannot be told: anything may be different.
    private(set) var isLost = false
    /// Behind all of it: what the next refresh begins with.
    private(set) var place: WidgetRecord.SuitePlace = .absent

    /// `place` is where the last refresh ended; nil where that did not look at this suite.
    init(
        of suite: String, _ keys: Concerns.Keys, since place: WidgetRecord.SuitePlace?, in container: Container
    ) throws(CoordinationError) {
        let defaults = try GroupDefaults(container, suite: suite)
        // Looking must not make it.
        guard defaults.mark != nil else {
            if case .behind = place { isLost = true }
            return
        }
        let origin: ChangeOrigin
        switch place {
        // There was none: all that is set came since.
        case .absent: origin = .snapshot
        case .behind(let cursor): origin = .cursor(cursor)
        case nil: (origin, isLost) = (.now, true)
        }
        try read(defaults.follow(keys: keys.names, since: origin))
    }

    private mutating func read(_ beginning: DefaultsFollower) throws(CoordinationError) {
        var follower = beginning
        while let change = try follower.next(timeout: .zero) {
            switch change.kind {
            case .rescan, .degraded: isLost = true
            case .set, .removed, .cleared, .present: changes.append(change)
            }
        }
        place = .behind(follower.place)
    }
}

extension Concerns.Keys {
    /// Nil: all.
    var names: Set<String>? {
        switch self {
        case .all: nil
        case .only(let keys): keys
        }
    }
}
