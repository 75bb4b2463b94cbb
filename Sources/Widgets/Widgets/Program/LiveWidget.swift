public import FoundationEssentials
import GroupContainer
import GroupSystemCalls

/// What a widget without a host shows.
public struct ShownWidget: Hashable, Sendable {
    /// The visible view; before the first rendering, the provider's placeholder, or a view without lines.
    public var view: WidgetView
    /// When the view was rendered; for a placeholder, when the widget began.
    public var renderedAt: Date
    /// Whether there is no rendering yet.
    public var isPlaceholder = false
    /// Why the last refresh failed, so that the view is older; nil if it succeeded.
    public var failure: String?
}

extension WidgetProgram {
    /// Shows the widget without a host, for as long as the container exists. Calls `show` with what is visible, and
    /// again after each change of it: after a refresh, at a moment of its timeline, or when a refresh fails. The widget
    /// is refreshed at the start, which covers what it missed, after each change that concerns it, after a reload
    /// request, also an earlier one that no process has served, and when its timeline requests it, at most once a
    /// second. After a failure, the next refresh waits for the same time as under a host.
    public func follow(
        _ environment: WidgetEnvironment = WidgetEnvironment(), _ show: @escaping @Sendable (ShownWidget) throws -> Void
    ) async throws {
        _ = container.coordinator(purpose: provider.kind)
        let center = try WidgetCenter(container)
        let (wakes, continuation) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
        let waker = Waker(continuation)
        try await withThrowingTaskGroup(of: Void.self) { group in
            // The streams begin before the first refresh, so that no change between them is missed.
            try follow(Concerns(provider.interests), in: &group, waker)
            let requests = center.defaults.changes()
            group.addTask { for try await _ in requests { waker.requestRefresh() } }
            group.addTask {
                var widget = SelfShown(self, environment, center)
                try await widget.run(wakes, waker, show)
            }
            defer { group.cancelAll() }
            _ = try await group.next()
        }
    }

    private func follow(
        _ concerns: Concerns, in group: inout ThrowingTaskGroup<Void, any Error>,
        _ waker: Waker
    ) throws {
        if let concern = concerns.itemConcern {
            let changes = container.changes(since: .now, matching: concern.filter)
            group.addTask {
                for try await change in changes where concern.isNews(change) { waker.requestRefresh() }
            }
        }
        for (suite, keys) in concerns.suites {
            let changes = try GroupDefaults(container, suite: suite).changes(of: keys.names)
            group.addTask { for try await _ in changes { waker.requestRefresh() } }
        }
        if concerns.isEverything { group.addTask { [container] in try await Self.followKeys(in: container, waker) } }
    }

    /// Follows every key of every suite, also of suites that are created later.
    private static func followKeys(in container: Container, _ waker: Waker) async throws {
        try await withThrowingDiscardingTaskGroup { group in
            for try await suite in container.suites() {
                let changes = try GroupDefaults(container, suite: suite.name).changes()
                group.addTask { for try await _ in changes { waker.requestRefresh() } }
                // Values may have been set before the changes were followed.
                waker.requestRefresh()
            }
        }
    }
}

/// Wakes the loop of a widget without a host.
private final class Waker: Sendable {
    private let continuation: AsyncStream<Void>.Continuation
    /// A reason for a refresh that the loop has not served; the first refresh needs none.
    private let isWanted = Guarded(true)

    init(_ continuation: AsyncStream<Void>.Continuation) { self.continuation = continuation }

    func requestRefresh() {
        isWanted.withLock { $0 = true }
        wake()
    }

    /// Wakes the loop, which then looks at the clock.
    func wake() { continuation.yield() }

    var isRefreshWanted: Bool { isWanted.withLock { $0 } }

    /// What is reported from now on is a reason for another refresh.
    func noteStart() { isWanted.withLock { $0 = false } }
}

/// The loop of a widget without a host.
private struct SelfShown<Provider: WidgetProvider> where Provider.Snapshot: WidgetContent {
    private let program: WidgetProgram<Provider>
    private let environment: WidgetEnvironment
    private let center: WidgetCenter
    private var timeline: Timeline<WidgetView>?
    private var renderedAt: Date
    private var lastRefresh: Date?
    private var failure: String?
    private var ledger = RefreshLedger()
    private var shown: ShownWidget?

    init(_ program: WidgetProgram<Provider>, _ environment: WidgetEnvironment, _ center: WidgetCenter) {
        self.program = program
        self.environment = environment
        self.center = center
        renderedAt = program.clock.date
    }

    mutating func run(
        _ wakes: AsyncStream<Void>, _ waker: Waker, _ show: (ShownWidget) throws -> Void
    ) async throws {
        ledger = await storedLedger()
        if let placeholder = program.provider.placeholder?.view {
            try self.show(placeholder, isPlaceholder: true, show)
        }
        var iterator = wakes.makeAsyncIterator()
        while !Task.isCancelled {
            let schedule = RefreshSchedule.decide(situation(isWanted: waker.isRefreshWanted), at: now)
            if schedule == .now {
                waker.noteStart()
                try await refresh()
                try showPresent(show)
                continue
            }
            try showPresent(show)
            let alarm = delay(until: schedule).map { program.clock.alarm(after: $0) { waker.wake() } }
            _ = await iterator.next()
            alarm?.cancel()
        }
    }

    private var now: Int64 { program.clock.date.nanoseconds }

    private mutating func showPresent(_ show: (ShownWidget) throws -> Void) throws {
        if let view = timeline?.entry(at: program.clock.date)?.snapshot {
            try self.show(view, isPlaceholder: false, show)
        } else if failure != nil {
            let view = program.provider.placeholder?.view ?? WidgetView(lines: [])
            try self.show(view, isPlaceholder: true, show)
        }
    }

    private mutating func show(
        _ view: WidgetView, isPlaceholder: Bool, _ show: (ShownWidget) throws -> Void
    ) throws {
        let present = ShownWidget(view: view, renderedAt: renderedAt, isPlaceholder: isPlaceholder, failure: failure)
        if present == shown { return }
        try show(present)
        shown = present
    }

    private func situation(isWanted: Bool) -> RefreshSchedule.Situation {
        var situation = RefreshSchedule.Situation()
        // A refresh in the future means that the clock was set back: what is shown is for a later date.
        situation.isWanted = isWanted || lastRefresh.map { $0 > program.clock.date } ?? false
        situation.timelineDate = timelineDate()
        situation.failures = ledger.failures
        situation.failedAt = ledger.failedAt
        return situation
    }

    /// Returns when the timeline requests a refresh: once for each date, and at most once a second.
    private func timelineDate() -> Int64? {
        guard let date = timeline?.refreshDate else { return nil }
        guard let lastRefresh else { return date.nanoseconds }
        return date > lastRefresh ? max(date, lastRefresh.addingTimeInterval(1)).nanoseconds : nil
    }

    private mutating func refresh() async throws {
        let cause = Guarded<String?>(nil)
        let refresh = WidgetRefresh(
            program.provider, in: program.container, environment: environment, clock: program.clock
        ) { error in cause.withLock { $0 = failureText(error) } }
        let requested = try center.reloads(ofKind: program.provider.kind)
        let (isReload, hadFailed) = (requested != ledger.reloads, ledger.failures > 0)
        lastRefresh = program.clock.date
        var news: Timeline<WidgetView>?
        let result = try await refresh.update(isReload: isReload) { news = $0.map(\.view) }
        if result != .failed { ledger.noteStart(at: now, spending: nil, reloads: requested) }
        ledger.noteEnd(result, at: now)
        failure = result == .failed ? cause.withLock { $0 } : nil
        if isReload || hadFailed || result == .failed { store(ledger) }
        if let news {
            (timeline, renderedAt) = (news, program.clock.date)
        } else if let last = try await refresh.last() {
            if timeline == nil || last.renderedAt > renderedAt || renderedAt > program.clock.date {
                // Another process that shows the same kind, or an earlier one, rendered this; or the clock was set back.
                (timeline, renderedAt) = (last.timeline.map(\.view), last.renderedAt)
            }
            // A rendering that looks the same may request the next refresh at another date.
            timeline?.policy = last.timeline.policy
        }
    }

    /// Returns the time until the next scheduled work; nil if there is none. At most a minute, so that a jump of the
    /// clock is noticed within that time.
    private func delay(until schedule: RefreshSchedule) -> Duration? {
        var dates = [timeline?.nextChange(after: program.clock.date)].compactMap { $0 }
        if case .deferred(let moment, _) = schedule { dates.append(Date(nanoseconds: moment)) }
        let seconds = dates.map { max(0, $0.timeIntervalSince(program.clock.date)) }
        return seconds.min().map { .nanoseconds(Int64(clampedSeconds: min($0, 60))) }
    }

    /// Reads the ledger of the process that refreshed the widget last. A damaged one counts as none.
    private func storedLedger() async -> RefreshLedger {
        guard !program.container.isReadOnly,
            let file = try? RefreshLedger.file(ofKind: program.provider.kind, in: program.container),
            let holding = try? await file.hold("read what refreshes cost", timeout: .seconds(1))
        else { return RefreshLedger() }
        defer { holding.end() }
        return (try? RefreshLedger(file)) ?? RefreshLedger()
    }

    /// Stores the ledger, without waiting for the lock: a host of the same widget may be writing, and its ledger is
    /// equally good.
    private func store(_ ledger: RefreshLedger) {
        guard !program.container.isReadOnly,
            let file = try? RefreshLedger.file(ofKind: program.provider.kind, in: program.container),
            let holding = try? file.holdBlocking("note a refresh", timeout: .zero)
        else { return }
        defer { holding.end() }
        try? ledger.write(file)
    }
}
