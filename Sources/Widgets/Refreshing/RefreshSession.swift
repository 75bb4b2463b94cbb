import FoundationEssentials
package import GroupContainer

/// One refresh, between its lock and its end: gather, let somebody render, decide, deliver, move on. Blocks while it
/// reads the journal; the waiting and the rendering are its callers'.
package struct RefreshSession: Sendable {
    private let file: PrivateFile
    private let previous: WidgetRecord?
    private let found: Gathering
    private let interests: [String]
    private let environment: WidgetEnvironment?
    private let isReload: Bool
    private let clock: any WidgetClock

    /// The changes of items since the last refresh that concern the widget.
    package var changes: [Change] { found.changes }
    /// The same of keys.
    package var keyChanges: [DefaultsChange] { found.keyChanges }

    /// The file whose lock is to be held during the session.
    package static func file(ofKind kind: String, in container: Container) throws(CoordinationError) -> PrivateFile {
        try WidgetRecord.file(ofKind: kind, in: container)
    }

    /// Of a widget that is shown in that environment, if it has any. A reload renders whatever changed.
    package init(
        _ file: PrivateFile, _ container: Container, interests: [Interest], environment: WidgetEnvironment? = nil,
        isReload: Bool = false, clock: any WidgetClock = SystemWidgetClock()
    ) throws(CoordinationError) {
        (self.file, self.environment, self.isReload, self.clock) = (file, environment, isReload, clock)
        if let (interest, fault) = interests.lazy.compactMap({ one in one.fault.map { (one, $0) } }).first {
            throw .malformedInterest(interest.text, fault)
        }
        previous = try WidgetRecord.read(file)
        let concerns = Concerns(interests)
        self.interests = concerns.texts
        found = try Gathering(concerns, since: previous, in: container)
    }

    /// The snapshot that was delivered last.
    package var lastSnapshot: [UInt8]? { previous?.snapshot }

    /// When what was delivered last asks for a refresh.
    var lastPolicy: TimelinePolicy { previous?.policy ?? .never }

    /// It is to be rendered whatever changed: somebody asked for it, it is shown in another environment than what was
    /// delivered last was made for, or its timeline asks for a refresh by now.
    var isAsked: Bool {
        let isOtherwiseShown = environment != nil && previous?.environment != environment
        let isDue = (previous?.refreshAt).map { $0 <= Int64(nanosecondsOf: clock.date) } ?? false
        return isReload || isOtherwiseShown || isDue || hasOtherInterests
    }

    /// What happened before to what concerns it only now was not looked for.
    private var hasOtherInterests: Bool { previous?.interests.map { $0 != interests } ?? false }

    /// Nothing that concerns the widget changed: the answer is noData, without rendering. Nil: render. For one who
    /// renders there is something to do as long as nothing was rendered, too.
    package func answerWithoutRendering(canRender: Bool = true) throws(CoordinationError) -> UpdateResult? {
        let situation = RefreshDecision.Situation(
            hasPrevious: canRender ? lastSnapshot != nil : previous != nil, isLost: found.isLost,
            relevantChanges: changes.count + keyChanges.count,
            isAsked: isAsked)
        guard let decision = RefreshDecision.before(situation) else { return nil }
        try carryOut(decision, nil)
        return decision.result
    }

    /// What the provider did.
    package enum Rendering: Sendable {
        /// Its snapshot, and when it asks for a refresh, in nanoseconds since 1970.
        case rendered([UInt8], refreshAt: Int64? = nil)
        /// There is none to ask.
        case notRendered
        /// It looked, and what it shows is as it was.
        case unchanged
        /// It did not succeed.
        case failed
    }

    /// Decides, delivers what is new, and only then moves on: a crash in between means that it is delivered again.
    package func finish(_ rendering: Rendering, deliver: () throws -> Void) throws -> UpdateResult {
        var snapshot: [UInt8]?
        var refreshAt = previous?.refreshAt
        let decision: RefreshDecision
        switch rendering {
        case .rendered(let new, let date):
            (snapshot, refreshAt) = (new, date)
            decision = .after(.rendered(equalsPrevious: new == lastSnapshot))
        case .notRendered: decision = .after(.notRendered)
        case .unchanged: decision = .after(.rendered(equalsPrevious: true))
        case .failed: decision = .after(.failed)
        }
        if decision.result == .newData { try deliver() }
        try carryOut(decision, snapshot, refreshAt)
        return decision.result
    }

    private func carryOut(
        _ decision: RefreshDecision, _ snapshot: [UInt8]?, _ refreshAt: Int64?? = nil
    ) throws(CoordinationError) {
        if !decision.movesCursor { return }
        var record = WidgetRecord(cursor: found.cursor, suites: found.suites)
        (record.snapshot, record.renderedAt) = (previous?.snapshot, previous?.renderedAt)
        record.interests = interests
        record.refreshAt = refreshAt ?? previous?.refreshAt
        // What was rendered for another one is not known to look the same in this one.
        record.environment = snapshot == nil ? previous?.environment : environment
        if decision.keepsSnapshot, let snapshot {
            (record.snapshot, record.renderedAt) = (snapshot, Int64(nanosecondsOf: clock.date))
        }
        if record != previous { try record.write(file) }
    }
}
