public import GroupContainer
public import Widgets
import GroupSystemCalls

/// The outcome of one refresh.
public struct RefreshOutcome<Snapshot: Codable & Sendable>: Sendable {
    /// The result of the refresh.
    public let result: UpdateResult
    /// The timeline that was delivered; nil unless the result is `newData`.
    public let timeline: Timeline<Snapshot>?
    /// The snapshot that the timeline shows at the time of the refresh; nil without a timeline.
    public let snapshot: Snapshot?
    /// The error because of which the result is `failed`; else nil.
    public let failure: (any Error)?
}

extension WidgetProvider {
    /// Refreshes this widget once, as its host would, and returns the outcome. The container stores the widget's
    /// cursors, so the next refresh gets the changes since this one. With `isReload` the widget is rendered even if
    /// nothing has changed. Errors: those of `WidgetRefresh.update`. An error that the provider throws is returned as
    /// `failure`, and not thrown.
    public func refreshed(
        in container: Container, environment: WidgetEnvironment = WidgetEnvironment(), isReload: Bool = false,
        timeLimit: Duration? = .seconds(30), clock: any WidgetClock = SystemWidgetClock()
    ) async throws -> RefreshOutcome<Snapshot> {
        let failure = Kept<any Error>()
        let refresh = WidgetRefresh(
            self, in: container, environment: environment, timeLimit: timeLimit, clock: clock,
            onFailure: { failure.keep($0) })
        var timeline: Timeline<Snapshot>?
        let result = try await refresh.update(isReload: isReload) { timeline = $0 }
        return RefreshOutcome(
            result: result, timeline: timeline, snapshot: timeline?.entry(at: clock.date)?.snapshot,
            failure: failure.value)
    }
}

/// A value that any thread may set and read.
final class Kept<Value: Sendable>: Sendable {
    private let kept = Guarded<Value?>(nil)

    var value: Value? { kept.withLock { $0 } }

    func keep(_ value: Value) { kept.withLock { $0 = value } }
}
