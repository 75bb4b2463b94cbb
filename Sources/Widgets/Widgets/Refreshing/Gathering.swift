import GroupContainer

/// What happened since a widget's last refresh, as far as it concerns the widget, and the places behind all of it.
struct Gathering {
    private(set) var changes: [Change] = []
    private(set) var keyChanges: [DefaultsChange] = []
    /// Whether the changes are not known in full, so that anything may be different.
    private(set) var isLost = false
    let cursor: Cursor
    private(set) var suites: [String: WidgetRecord.SuitePlace] = [:]

    /// Gathers the changes since `previous`. A widget that was never refreshed (nil) begins at the present, as its
    /// first snapshot shows all earlier changes.
    init(_ concerns: Concerns, since previous: WidgetRecord?, in container: Container) throws(CoordinationError) {
        let origin = previous.map { ChangeOrigin.cursor($0.cursor) } ?? .now
        let concern = concerns.itemConcern
        if concern != nil { try container.noteUncoordinatedChanges() }
        var reader = try container.recordedChanges(
            since: concern == nil ? .now : origin, matching: concern?.filter ?? .everything)
        while let concern, let change = try reader.next(timeout: .zero) {
            if case .rescan = change.kind { isLost = true }
            // A watch gap is nothing new to show.
            if !change.kind.isMarker, concern.isNews(change) { changes.append(change) }
        }
        cursor = reader.cursor
        for (suite, keys) in concerns.suites.sorted(by: { $0.key < $1.key }) {
            let found = try SuiteChanges(of: suite, keys, since: previous?.suites[suite], in: container)
            keyChanges += found.changes
            isLost = isLost || found.isLost
            suites[suite] = found.place
        }
    }
}
