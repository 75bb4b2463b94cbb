public import FoundationEssentials
public import GroupContainer
import GroupSystemCalls

/// A refresh of a widget: finds what changed for it, renders, and delivers a new snapshot.
///
/// Guarantees:
/// - A change between two refreshes is never missed, whether or not a process ran in between, and whether the change
///   was coordinated or external.
/// - The widget's position moves on only after the snapshot was delivered, so after a crash the next refresh gets the
///   same changes again.
/// - Refreshes of one kind exclude each other between processes.
/// - There is exactly one result, also where the provider throws, or has not returned before the deadline.
public struct WidgetRefresh<Provider: WidgetProvider>: Sendable {
    private let provider: Provider
    private let container: Container
    private let environment: WidgetEnvironment
    private let timeout: Duration?
    private let timeLimit: Duration?
    private let clock: any WidgetClock
    private let onFailure: @Sendable (any Error) -> Void
    /// The shortest time until the refresh that a timeline requests. An earlier or past date is moved to that time, so
    /// that no process spins.
    package var shortestInterval = Duration.seconds(1)
    /// Whether this process is there for the widget alone.
    package var hasOwnProcess = false
    /// Whether the widget has become visible since the last refresh of this process.
    package var appears = false

    /// Creates a refresh of a provider in a container.
    /// - `environment` is what the widget is shown in.
    /// - `timeout` is how long to wait for another refresh of the same kind; nil has no limit.
    /// - `timeLimit` is how long the provider may take. A provider that takes longer has failed: its task is cancelled,
    ///   and its later result is dropped.
    /// - `clock` gives the time, and calls back at the end of the time limit.
    /// - `onFailure` gets the error when the result is `failed`.
    public init(
        _ provider: Provider, in container: Container, environment: WidgetEnvironment = WidgetEnvironment(),
        timeout: Duration? = Coordinator.lockTimeout, timeLimit: Duration? = .seconds(30),
        clock: any WidgetClock = SystemWidgetClock(),
        onFailure: @escaping @Sendable (any Error) -> Void = { _ in }
    ) {
        self.provider = provider
        self.container = container
        self.environment = environment
        self.timeout = timeout
        self.timeLimit = timeLimit
        self.clock = clock
        self.onFailure = onFailure
    }

    /// Refreshes once, and calls `deliver` with the present snapshot of the timeline if any entry of the timeline is
    /// new.
    ///
    /// An error of the provider is not thrown: the result is then `failed`. Throws what `deliver` throws, and
    /// `CoordinationError`:
    /// - `lockTimedOut`
    /// - `damaged`; if it is the widget's record, once: the record is put aside, and the next refresh begins anew
    /// - `newerFormat`
    /// - `invalidArgument`: the kind, an interest that nothing can match, or a suite's name
    public func performUpdate(_ deliver: (Provider.Snapshot) throws -> Void = { _ in }) async throws -> UpdateResult {
        try await update { timeline in
            if let entry = timeline.entry(at: clock.date) { try deliver(entry.snapshot) }
        }
    }

    /// Refreshes once, and calls `deliver` with the whole timeline if any of its entries is new. With `isReload`, the
    /// provider renders even if nothing changed. Errors: as those of `performUpdate`.
    public func update(
        isReload: Bool = false, delivering deliver: (Timeline<Provider.Snapshot>) throws -> Void
    ) async throws -> UpdateResult {
        try await update(isReload: isReload, confirming: { _ in false }) { timeline, _ in try deliver(timeline) }.result
    }

    /// Refreshes once for a caller that shows the encoded timeline `shown`; nil for a caller that shows none. If the
    /// result is `noData`, but the last timeline differs from `shown`, for example because another process has rendered
    /// it, the last timeline is delivered. Also returns the policy for the next refresh, which may be new although no
    /// entry is.
    package func update(
        isReload: Bool, unlike shown: [UInt8]?,
        delivering deliver: (Timeline<Provider.Snapshot>, [UInt8]) throws -> Void
    ) async throws -> (result: UpdateResult, policy: TimelinePolicy) {
        try await update(isReload: isReload, confirming: { $0 != shown }, delivering: deliver)
    }

    /// Refreshes once. Where nothing is new, the last timeline is delivered if `isMissing` returns true for it.
    /// Delivers with the lock.
    private func update(
        isReload: Bool, confirming isMissing: ([UInt8]) -> Bool,
        delivering deliver: (Timeline<Provider.Snapshot>, [UInt8]) throws -> Void
    ) async throws -> (result: UpdateResult, policy: TimelinePolicy) {
        let file = try RefreshSession.file(ofKind: provider.kind, in: container)
        let holding = try await file.hold("refresh", timeout: timeout)
        defer { holding.end() }
        let session = try RefreshSession(
            file, container, interests: provider.interests, environment: environment, isReload: isReload,
            renderer: hasOwnProcess ? .process : .purpose(provider.kind), clock: clock)
        if let answer = try session.answerWithoutRendering() {
            try confirm(session, isMissing, deliver)
            return (answer, session.lastPolicy)
        }
        var timeline: Timeline<Provider.Snapshot>
        do {
            guard let answer = try await render(session) else {
                let result = try session.finish(.unchanged) {}
                try confirm(session, isMissing, deliver)
                return (result, session.lastPolicy)
            }
            timeline = answer
        } catch {
            onFailure(error)
            return (try session.finish(.failed) {}, session.lastPolicy)
        }
        if let date = timeline.refreshDate {
            timeline.policy = .after(
                max(date, clock.date.addingTimeInterval(Double(shortestInterval.nanoseconds) / 1e9)))
        }
        let refreshAt = timeline.refreshDate.map(\.nanoseconds)
        guard let encoded = RenderedEntries.encoded(timeline) else {
            onFailure(CoordinationError.unencodableWidgetRecord(file))
            return (try session.finish(.failed) {}, session.lastPolicy)
        }
        let result = try session.finish(.rendered(encoded, refreshAt: refreshAt)) { try deliver(timeline, encoded) }
        if result == .noData, isMissing(encoded) { try deliver(timeline, encoded) }
        return (result, timeline.policy)
    }

    private func confirm(
        _ session: RefreshSession, _ isMissing: ([UInt8]) -> Bool,
        _ deliver: (Timeline<Provider.Snapshot>, [UInt8]) throws -> Void
    ) throws {
        guard let last = session.lastSnapshot, isMissing(last),
            var timeline = RenderedEntries.decoded(Provider.Snapshot.self, from: last)
        else { return }
        timeline.policy = session.lastPolicy
        try deliver(timeline, last)
    }

    /// Runs the provider until the deadline; nil if what it shows is unchanged.
    private func render(_ session: RefreshSession) async throws -> Timeline<Provider.Snapshot>? {
        let context = WidgetContext(
            container: container, coordinator: container.coordinator(purpose: provider.kind),
            changes: session.changes, keyChanges: session.keyChanges, environment: environment,
            date: clock.date, appears: appears)
        let (provider, isSettled) = (provider, session.lastSnapshot != nil && !session.isRequested)
        let answer = try await FirstAnswer.of(timeLimit, by: clock) { () async throws -> Timeline<Provider.Snapshot>? in
            switch try await provider.performUpdate(in: context) {
            case .noData where isSettled: nil
            case .failed: throw ProviderFailure(kind: provider.kind, timeLimit: nil)
            case .noData, .newData: try await provider.timeline(in: context)
            }
        }
        guard let answer else { throw ProviderFailure(kind: provider.kind, timeLimit: timeLimit) }
        return answer
    }

    /// Reads what was delivered last from the container, and when it was rendered; nil where there is nothing, or a
    /// snapshot of another type. Errors: as those of `performUpdate`.
    public func last() async throws -> (timeline: Timeline<Provider.Snapshot>, renderedAt: Date)? {
        let file = try RefreshSession.file(ofKind: provider.kind, in: container)
        let holding = try await file.hold("read", timeout: timeout)
        defer { holding.end() }
        guard let record = try WidgetRecord.read(file), let time = record.renderedAt,
            var timeline = record.snapshot.flatMap({ RenderedEntries.decoded(Provider.Snapshot.self, from: $0) })
        else { return nil }
        timeline.policy = record.policy
        return (timeline, Date(nanoseconds: time))
    }
}

/// The error of a provider whose result was `failed`, or that did not return in time.
public struct ProviderFailure: Error, CustomStringConvertible {
    /// The widget's kind.
    public let kind: String
    /// The time that the provider had, where it did not return in time; else nil.
    public let timeLimit: Duration?

    /// A sentence for people.
    public var description: String {
        timeLimit.map { "\(kind): no answer within \($0)" } ?? "\(kind): the widget reported a failure"
    }
}
