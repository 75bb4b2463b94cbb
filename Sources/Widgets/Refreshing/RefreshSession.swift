package import GroupContainer

/// One refresh, between its lease and its end: gather, let somebody render, decide, deliver, move on. Blocks while it
/// reads the journal; the waiting and the rendering are its callers'.
package struct RefreshSession: Sendable {
    private let file: PrivateFile
    private let previous: WidgetRecord?
    private let found: Gathering

    /// The changes of items since the last refresh that concern the widget.
    package var changes: [Change] { found.changes }
    /// The same of keys.
    package var keyChanges: [DefaultsChange] { found.keyChanges }

    /// The file whose lease is to be held during the session.
    package static func file(ofKind kind: String, in container: Container) throws(CoordinationError) -> PrivateFile {
        try WidgetRecord.file(ofKind: kind, in: container)
    }

    package init(_ file: PrivateFile, _ container: Container, interests: [Interest]) throws(CoordinationError) {
        self.file = file
        previous = try WidgetRecord.read(file)
        found = try Gathering(Concerns(interests), since: previous, in: container)
    }

    /// The snapshot that was delivered last.
    package var lastSnapshot: [UInt8]? { previous?.snapshot }

    /// Nothing that concerns the widget changed: the answer is noData, without rendering. Nil: render.
    package func answerWithoutRendering() throws(CoordinationError) -> UpdateResult? {
        let situation = RefreshDecision.Situation(
            hasPrevious: previous != nil, isLost: found.isLost, relevantChanges: changes.count + keyChanges.count)
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
        if !decision.movesCursor { return }
        var record = WidgetRecord(cursor: found.cursor, suites: found.suites, snapshot: previous?.snapshot)
        if decision.keepsSnapshot, let snapshot { record.snapshot = snapshot }
        if record != previous { try record.write(file) }
    }
}
