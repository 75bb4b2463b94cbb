package import GroupContainer

/// One refresh, between its lease and its end: gather, let somebody render, decide, deliver, move on. Blocks while it
/// reads the journal; the waiting and the rendering are its callers'.
package struct RefreshSession: Sendable {
    private let file: PrivateFile
    private let previous: WidgetRecord?
    private let cursor: Cursor
    private let situation: RefreshDecision.Situation
    /// The changes since the last refresh that concern the widget.
    package let changes: [Change]

    /// The file whose lease is to be held during the session.
    package static func file(ofKind kind: String, in container: Container) throws(CoordinationError) -> PrivateFile {
        try WidgetRecord.file(ofKind: kind, in: container)
    }

    package init(_ file: PrivateFile, _ container: Container, interests: [Interest]) throws(CoordinationError) {
        self.file = file
        try container.noteUncoordinatedChanges()
        previous = try WidgetRecord.read(file)
        // Without a place of its own it begins at the present: what it renders now shows all that was before.
        var reader = try container.recordedChanges(
            since: previous?.place.map(ChangeOrigin.cursor) ?? .now,
            matching: ChangeFilter(including: interests.map(\.pattern)))
        var changes: [Change] = []
        var isLost = false
        while let change = try reader.next(timeout: .zero) {
            if case .rescan = change.kind { isLost = true } else { changes.append(change) }
        }
        self.changes = changes
        cursor = reader.cursor
        situation = RefreshDecision.Situation(
            hasPrevious: previous != nil, isLost: isLost, relevantChanges: changes.count)
    }

    /// The snapshot that was delivered last.
    package var lastSnapshot: [UInt8]? { previous?.snapshot.map { Array($0) } }

    /// Nothing that concerns the widget changed: the answer is noData, without rendering. Nil: render.
    package func answerWithoutRendering() throws(CoordinationError) -> UpdateResult? {
        guard let decision = RefreshDecision.before(situation) else { return nil }
        try carryOut(decision, nil)
        return decision.result
    }

    /// What the provider did.
    package enum Rendering: Sendable {
        /// Its snapshot.
        case rendered([UInt8])
        /// There is none to ask.
        case notRendered
        /// It did not succeed.
        case failed
    }

    /// Decides, delivers what is new, and only then moves on: a crash in between means that it is delivered again.
    package func finish(_ rendering: Rendering, deliver: () throws -> Void) throws -> UpdateResult {
        var snapshot: [UInt8]?
        let decision: RefreshDecision
        switch rendering {
        case .rendered(let new):
            snapshot = new
            decision = .after(.rendered(equalsPrevious: new == lastSnapshot))
        case .notRendered: decision = .after(.notRendered)
        case .failed: decision = .after(.failed)
        }
        if decision.result == .newData { try deliver() }
        try carryOut(decision, snapshot)
        return decision.result
    }

    private func carryOut(_ decision: RefreshDecision, _ snapshot: [UInt8]?) throws(CoordinationError) {
        var record = previous ?? WidgetRecord(cursor: cursor.description)
        if decision.movesCursor { record.cursor = cursor.description }
        if decision.keepsSnapshot, let snapshot { record.snapshot = .init(snapshot) }
        if decision.movesCursor && record != previous { try record.write(file) }
    }
}
