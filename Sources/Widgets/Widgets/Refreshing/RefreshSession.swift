import FoundationEssentials
package import GroupContainer

/// One refresh, between its lock and its end: gathers changes, decides, delivers, and writes the new position. The
/// session blocks while it reads the journal; its callers wait for the lock and render.
package struct RefreshSession: Sendable {
    private let file: PrivateFile
    private let previous: WidgetRecord?
    private let container: Container
    private let found: Gathering
    private let renderer: Renderer?
    private let interests: [String]
    private let environment: WidgetEnvironment?
    private let isReload: Bool
    private let clock: any WidgetClock

    /// The changes of items since the last refresh that concern the widget.
    package var changes: [Change] { found.changes }
    /// The changes of keys since the last refresh that concern the widget.
    package var keyChanges: [DefaultsChange] { found.keyChanges }

    /// Returns the file whose lock the caller holds during the session.
    package static func file(ofKind kind: String, in container: Container) throws(CoordinationError) -> PrivateFile {
        try WidgetRecord.file(ofKind: kind, in: container)
    }

    /// Reads the record, and gathers what changed. `environment` is what the widget is shown in, if anything. A session
    /// with `isReload` renders whatever changed. A change by `renderer` during the session is not new at the next
    /// refresh; otherwise a widget that writes to an item or key of its own interests would be refreshed for ever.
    package init(
        _ file: PrivateFile, _ container: Container, interests: [WidgetInterest], environment: WidgetEnvironment? = nil,
        isReload: Bool = false, renderer: Renderer? = nil, clock: any WidgetClock = SystemWidgetClock()
    ) throws(CoordinationError) {
        self.file = file
        self.container = container
        self.environment = environment
        self.isReload = isReload
        self.clock = clock
        self.renderer = renderer
        if let (interest, fault) = interests.lazy.compactMap({ one in one.fault.map { (one, $0) } }).first {
            throw .malformedInterest(interest.text, fault)
        }
        for pattern in interests.compactMap(\.pattern) {
            try container.checkIsNoLink(pattern: Array(pattern.utf8), operation: "use the interest")
        }
        previous = try WidgetRecord.read(file)
        let concerns = Concerns(interests)
        self.interests = concerns.texts
        found = try Gathering(concerns, since: previous, in: container)
    }

    /// The snapshot that was delivered last.
    package var lastSnapshot: [UInt8]? { previous?.snapshot }

    /// The policy of the timeline that was delivered last.
    var lastPolicy: TimelinePolicy { previous?.policy ?? .never }

    /// Whether to render whatever changed: a caller wants a reload, the environment or the interests differ from those
    /// of the last delivery, the timeline's refresh date has come, or the clock was set back since the last rendering.
    var isRequested: Bool {
        let isOtherwiseShown = environment != nil && previous?.environment != environment
        let now = clock.date.nanoseconds
        let isDue = (previous?.refreshAt).map { $0 <= now } ?? false
        // A view for a later date is not current, and its refresh date may be far off.
        let isFromFuture = [previous?.renderedAt, previous?.refreshSetAt].contains { $0 ?? now > now }
        return isReload || isOtherwiseShown || isDue || isFromFuture || hasOtherInterests
    }

    /// Whether the interests are others than at the last refresh: earlier changes of a new interest were not looked
    /// for.
    private var hasOtherInterests: Bool { previous?.interests.map { $0 != interests } ?? false }

    /// Returns `noData`, and moves the position, if nothing that concerns the widget changed; nil if the caller has to
    /// render. If `canRender`, rendering is also necessary as long as nothing was rendered.
    package func answerWithoutRendering(canRender: Bool = true) throws(CoordinationError) -> UpdateResult? {
        let situation = RefreshDecision.Situation(
            hasPrevious: canRender ? lastSnapshot != nil : previous != nil, isLost: found.isLost,
            relevantChanges: changes.count + keyChanges.count,
            isRequested: isRequested)
        guard let decision = RefreshDecision.before(situation) else { return nil }
        try carryOut(decision, at: found, nil)
        return decision.result
    }

    /// What the provider did, with its snapshot.
    package enum Rendering: Sendable {
        /// A snapshot, and when its timeline requests a refresh, in nanoseconds since 1970.
        case rendered([UInt8], refreshAt: Int64? = nil)
        /// There is no provider.
        case notRendered
        /// The provider looked, and what it shows is unchanged.
        case unchanged
        /// The provider failed.
        case failed
    }

    /// Decides, delivers what is new, and only then moves the position, so that a crash in between repeats the
    /// delivery.
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
        var end = found
        if decision.movesCursor, let renderer { try end.passOverChanges(by: renderer, in: container) }
        try carryOut(decision, at: end, snapshot, refreshAt)
        return decision.result
    }

    private func carryOut(
        _ decision: RefreshDecision, at end: Gathering, _ snapshot: [UInt8]?, _ refreshAt: Int64?? = nil
    ) throws(CoordinationError) {
        if !decision.movesCursor { return }
        var record = WidgetRecord(cursor: end.cursor, suites: end.suites)
        (record.snapshot, record.renderedAt) = (previous?.snapshot, previous?.renderedAt)
        record.interests = interests
        record.refreshAt = refreshAt ?? previous?.refreshAt
        // A snapshot for another environment may look different in this one.
        record.environment = snapshot == nil ? previous?.environment : environment
        record.refreshSetAt = previous?.refreshSetAt
        if let snapshot {
            let now = clock.date.nanoseconds
            record.refreshSetAt = record.refreshAt == nil ? nil : now
            // A rendering that looks the same as one from the future confirms it for now.
            record.renderedAt = record.renderedAt.map { min($0, now) }
            if decision.keepsSnapshot { (record.snapshot, record.renderedAt) = (snapshot, now) }
        }
        if record != previous { try record.write(file) }
    }
}
