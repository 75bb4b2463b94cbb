public import FoundationEssentials
import GroupContainer
import GroupSystemCalls

/// What a widget without a host shows.
public struct ShownWidget: Hashable, Sendable {
    /// The visible view.
    public var view: WidgetView
    /// When the view was rendered.
    public var renderedAt: Date
    /// Why the last refresh failed, so that the view is older; nil if it succeeded.
    public var failure: String?
}

extension WidgetProgram {
    /// Shows the widget without a host, for as long as the container exists. Calls `show` with what is visible, and
    /// again after each change of it: after a refresh, at a moment of its timeline, or when a refresh fails. The widget
    /// is refreshed at the start, which covers what it missed, after each change that concerns it, after a reload
    /// request, when its timeline requests it, and some time after a failure.
    public func follow(
        _ environment: WidgetEnvironment = WidgetEnvironment(), _ show: @escaping @Sendable (ShownWidget) throws -> Void
    ) async throws {
        _ = container.coordinator(purpose: provider.kind)
        let center = try WidgetCenter(container)
        let (wakes, waker) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
        try await withThrowingTaskGroup(of: Void.self) { group in
            // The streams begin before the first refresh, so that no change between them is missed.
            try follow(Concerns(provider.interests), in: &group, waker)
            let requests = center.defaults.changes()
            group.addTask { for try await _ in requests { waker.yield() } }
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
        _ waker: AsyncStream<Void>.Continuation
    ) throws {
        if let concern = concerns.itemConcern {
            let changes = container.changes(since: .now, matching: concern.filter)
            group.addTask {
                for try await change in changes where concern.isNews(change) { waker.yield() }
            }
        }
        for (suite, keys) in concerns.suites {
            let changes = try GroupDefaults(container, suite: suite).changes(of: keys.names)
            group.addTask { for try await _ in changes { waker.yield() } }
        }
        if concerns.isEverything { group.addTask { [container] in try await Self.followKeys(in: container, waker) } }
    }

    /// Follows every key of every suite, also of suites that are created later.
    private static func followKeys(in container: Container, _ waker: AsyncStream<Void>.Continuation) async throws {
        try await withThrowingDiscardingTaskGroup { group in
            for try await suite in container.suites() {
                let changes = try GroupDefaults(container, suite: suite.name).changes()
                group.addTask { for try await _ in changes { waker.yield() } }
                // Values may have been set before the changes were followed.
                waker.yield()
            }
        }
    }
}

/// The loop of a widget without a host.
private struct SelfShown<Provider: WidgetProvider> where Provider.Snapshot: WidgetContent {
    private let program: WidgetProgram<Provider>
    private let environment: WidgetEnvironment
    private let center: WidgetCenter
    private var timeline: Timeline<WidgetView>?
    private var renderedAt: Date
    private var failures = 0
    private var failure: String?
    private var reloads: UInt64 = 0
    private var shown: ShownWidget?

    init(_ program: WidgetProgram<Provider>, _ environment: WidgetEnvironment, _ center: WidgetCenter) {
        self.program = program
        self.environment = environment
        self.center = center
        renderedAt = program.clock.date
    }

    mutating func run(
        _ wakes: AsyncStream<Void>, _ waker: AsyncStream<Void>.Continuation, _ show: (ShownWidget) throws -> Void
    ) async throws {
        reloads = try center.reloads(ofKind: program.provider.kind)
        try await refresh()
        var iterator = wakes.makeAsyncIterator()
        while !Task.isCancelled {
            if let view = timeline?.entry(at: program.clock.date)?.snapshot {
                let present = ShownWidget(view: view, renderedAt: renderedAt, failure: failure)
                if present != shown { try show(present) }
                shown = present
            }
            let alarm = nextDelay().map { program.clock.alarm(after: $0) { waker.yield() } }
            _ = await iterator.next()
            alarm?.cancel()
            try await refresh()
        }
    }

    private mutating func refresh() async throws {
        let cause = Guarded<String?>(nil)
        let refresh = WidgetRefresh(
            program.provider, in: program.container, environment: environment, clock: program.clock
        ) { error in cause.withLock { $0 = "\(error)" } }
        let requested = try center.reloads(ofKind: program.provider.kind)
        var news: Timeline<WidgetView>?
        let result = try await refresh.update(isReload: requested != reloads) { news = $0.map(\.view) }
        if result == .failed {
            (failures, failure) = (failures + 1, cause.withLock { $0 })
        } else {
            (failures, failure, reloads) = (0, nil, requested)
        }
        if let news {
            (timeline, renderedAt) = (news, program.clock.date)
        } else if let last = try await refresh.last() {
            if timeline == nil || last.renderedAt > renderedAt {
                // Another process that shows the same kind, or an earlier one, rendered this.
                (timeline, renderedAt) = (last.timeline.map(\.view), last.renderedAt)
            }
            // A rendering that looks the same may request the next refresh at another date.
            timeline?.policy = last.timeline.policy
        }
    }

    /// Returns the time until the next scheduled work; nil if there is none. At most a minute, so that a jump of the
    /// clock is noticed within that time.
    private func nextDelay() -> Duration? {
        let now = program.clock.date
        let dates = [timeline?.nextChange(after: now), timeline?.refreshDate].compactMap { $0 }
        var seconds = dates.map { max(0, $0.timeIntervalSince(now)) }
        if failures > 0 { seconds.append(Double(Backoff().delay(after: failures)) / 1e9) }
        return seconds.min().map { .nanoseconds(Int64(clampedSeconds: min($0, 60))) }
    }
}
