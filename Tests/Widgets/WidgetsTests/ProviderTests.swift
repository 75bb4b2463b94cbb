import Foundation
import GroupContainer
import GroupContainerTesting
import GroupProtocolLines
import GroupSystemCalls
import Testing
import Widgets

/// A provider that does what the test sets, and counts its calls.
private final class Scripted: WidgetProvider {
    static let kind = "scripted"
    let interests: [WidgetInterest] = [.path("data/**")]
    let update = Guarded<@Sendable (WidgetContext) async throws -> UpdateResult>({ _ in .newData })
    let shown = Guarded<@Sendable (WidgetContext) async throws -> Timeline<String>>({ _ in Timeline("one") })
    let renderings = Guarded(0)

    func performUpdate(in context: WidgetContext) async throws -> UpdateResult {
        try await update.withLock { $0 }(context)
    }

    func snapshot(in context: WidgetContext) async throws -> String { "" }

    func timeline(in context: WidgetContext) async throws -> Timeline<String> {
        renderings.withLock { $0 += 1 }
        return try await shown.withLock { $0 }(context)
    }

    var renderingCount: Int { renderings.withLock { $0 } }
    func show(_ timeline: Timeline<String>) { shown.withLock { $0 = { _ in timeline } } }
}

@Suite struct `A provider` {
    private let provider = Scripted()
    private let place: Place

    init() throws { place = try Place() }

    private func refresh(
        _ environment: WidgetEnvironment = WidgetEnvironment(), deadline: Duration? = nil, isReload: Bool = false,
        clock: any WidgetClock = SystemWidgetClock(), onFailure: @escaping @Sendable (any Error) -> Void = { _ in }
    ) async throws -> UpdateResult {
        var refresh = WidgetRefresh(
            provider, in: place.container, environment: environment, timeLimit: deadline, clock: clock,
            onFailure: onFailure)
        refresh.shortestInterval = .zero
        return try await refresh.update(isReload: isReload) { _ in }
    }

    // fault: widget-provider-fails
    @Test func `a provider that misses its deadline has failed, and its late answer is dropped`()
        async throws
    {
        #expect(try await refresh() == .newData)
        try place.write("x", to: "data/a")
        let (gate, open) = AsyncStream<Void>.makeStream()
        provider.shown.withLock {
            $0 = { _ in
                for await _ in gate.map({ $0 }) {}
                return Timeline("late")
            }
        }
        let reasons = Guarded<[String]>([])
        let result = try await refresh(deadline: .milliseconds(10)) { error in
            reasons.withLock { $0.append("\(error)") }
        }
        #expect(result == .failed)
        #expect(reasons.withLock { $0 } == ["scripted: no answer within 0.01 seconds"])
        open.finish()
        #expect(try await WidgetRefresh(provider, in: place.container).last()?.timeline == Timeline("one"))
        // The change is not lost, and the lock is free.
        provider.show(Timeline("two"))
        #expect(try await refresh() == .newData)
    }

    // fault: widget-provider-fails
    @Test func `a provider that throws or returns failed is run again`() async throws {
        struct Thrown: Error {}
        provider.update.withLock { $0 = { _ in throw Thrown() } }
        #expect(try await refresh() == .failed)
        provider.update.withLock { $0 = { _ in .failed } }
        #expect(try await refresh() == .failed)
        provider.update.withLock { $0 = { _ in .newData } }
        #expect(try await refresh() == .newData)
        #expect(provider.renderingCount == 1)
    }

    @Test func `a provider that returns noData renders only if there is no view yet`() async throws {
        provider.update.withLock { $0 = { _ in .noData } }
        #expect(try await refresh() == .newData)
        try place.write("x", to: "data/a")
        #expect(try await refresh() == .noData)
        #expect(provider.renderingCount == 1)
    }

    @Test func `a provider that returns noData renders for a reload or a new environment`()
        async throws
    {
        provider.shown.withLock { $0 = { Timeline("\($0.environment.maximumSize.columns)") } }
        provider.update.withLock { $0 = { _ in .noData } }
        #expect(try await refresh() == .newData)
        let wide = WidgetEnvironment(maximumSize: WidgetSize(columns: 120, rows: 3))
        #expect(try await refresh(wide) == .newData)
        #expect(try await WidgetRefresh(provider, in: place.container).last()?.timeline == Timeline("120"))
        provider.show(Timeline("two"))
        #expect(try await refresh(wide, isReload: true) == .newData)
        #expect(try await WidgetRefresh(provider, in: place.container).last()?.timeline == Timeline("two"))
    }

    @Test func `a provider runs for a reload without a change, and the same view is noData`()
        async throws
    {
        #expect(try await refresh() == .newData)
        #expect(try await refresh() == .noData)
        #expect(provider.renderingCount == 1)
        #expect(try await refresh(isReload: true) == .noData)
        #expect(provider.renderingCount == 2)
        provider.show(Timeline("two"))
        #expect(try await refresh() == .noData)
        #expect(try await refresh(isReload: true) == .newData)
    }

    @Test func `a provider runs at the time that its timeline sets`() async throws {
        provider.show(Timeline(first: .init(snapshot: "one"), policy: .after(.distantFuture)))
        #expect(try await refresh() == .newData)
        #expect(try await refresh() == .noData)
        provider.show(Timeline(first: .init(snapshot: "one"), policy: .after(.distantPast)))
        #expect(try await refresh(isReload: true) == .noData)
        #expect(provider.renderingCount == 2)
        provider.update.withLock { $0 = { _ in .noData } }
        provider.show(Timeline(first: .init(snapshot: "one"), policy: .never))
        #expect(try await refresh() == .noData)
        #expect(provider.renderingCount == 3)
        #expect(try await refresh() == .noData)
        #expect(provider.renderingCount == 3)
    }

    @Test(arguments: [nil, 3_600.0])
    func `a provider runs once after the clock was set back, whenever its timeline is due`(due: Double?) async throws {
        let clock = ManualClock()
        provider.shown.withLock {
            $0 = { context in
                Timeline(
                    first: .init(snapshot: "\(Int(context.date.timeIntervalSince1970))"),
                    policy: due.map { .after(context.date.addingTimeInterval($0)) } ?? .never)
            }
        }
        #expect(try await refresh(clock: clock) == .newData)
        clock.set(clock.date.addingTimeInterval(-86_400))
        #expect(try await refresh(clock: clock) == .newData)
        #expect(try await refresh(clock: clock) == .noData)
        #expect(provider.renderingCount == 2)
        let last = try #require(try await WidgetRefresh(provider, in: place.container).last())
        #expect(last.timeline.entries.map(\.snapshot) == ["999913600"] && last.renderedAt == clock.date)
    }

    @Test func `a view that looks the same after the clock was set back is one of now`() async throws {
        let clock = ManualClock()
        let late = Date(timeIntervalSince1970: 2_000_000_000)
        #expect(try await refresh(clock: clock) == .newData)
        // Looks the same, and wants its next refresh at a date far off.
        clock.set(late)
        provider.shown.withLock {
            $0 = { Timeline(first: .init(snapshot: "one"), policy: .after($0.date.addingTimeInterval(60))) }
        }
        #expect(try await refresh(isReload: true, clock: clock) == .noData)
        let early = Date(timeIntervalSince1970: 1_000_000_100)
        clock.set(early)
        #expect(try await refresh(clock: clock) == .noData)
        #expect(provider.renderingCount == 3)
        let last = try #require(try await WidgetRefresh(provider, in: place.container).last())
        #expect(last.timeline.refreshDate == early.addingTimeInterval(60))
        #expect(last.renderedAt == Date(timeIntervalSince1970: 1_000_000_000))
        // Before the first rendering, too.
        clock.set(Date(timeIntervalSince1970: 999_999_999))
        #expect(try await refresh(clock: clock) == .noData)
        #expect(try await refresh(clock: clock) == .noData)
        #expect(provider.renderingCount == 4)
        #expect(try await WidgetRefresh(provider, in: place.container).last()?.renderedAt == clock.date)
    }

    @Test func `a provider runs for a new environment`() async throws {
        provider.shown.withLock { $0 = { Timeline($0.environment.displayMode.rawValue) } }
        let expanded = WidgetEnvironment(displayMode: .expanded)
        #expect(try await refresh() == .newData)
        #expect(try await refresh(expanded) == .newData)
        #expect(try await refresh(expanded) == .noData)
        #expect(try await refresh() == .newData)
        #expect(provider.renderingCount == 3)
    }

    @Test func `a provider whose snapshot cannot be encoded has failed`() async throws {
        struct Odd: WidgetProvider {
            static let kind = "odd"
            let interests: [WidgetInterest] = []
            func snapshot(in context: WidgetContext) async throws -> Double { .nan }
        }
        #expect(try await WidgetRefresh(Odd(), in: place.container).performUpdate() == .failed)
    }
}

@Suite struct `A timeline` {
    private func date(_ seconds: Double) -> Date { Date(timeIntervalSince1970: seconds) }

    @Test func `a timeline shows the last entry whose moment has come`() {
        let timeline = Timeline(
            first: .init(date: date(20), snapshot: "b"),
            later: [.init(date: date(30), snapshot: "c"), .init(snapshot: "a"), .init(date: date(30), snapshot: "d")],
            policy: .atEnd)
        #expect(timeline.entries.map(\.snapshot) == ["a", "b", "c", "d"])
        #expect(
            [0, 19, 20, 29, 30, 99].map { timeline.entry(at: date($0))?.snapshot } == ["a", "a", "b", "b", "d", "d"])
        #expect(timeline.nextChange(after: date(20)) == date(30))
        #expect(timeline.nextChange(after: date(30)) == nil)
        #expect(timeline.refreshDate == date(30))
        let later = Timeline(first: .init(date: date(20), snapshot: "b"))
        #expect(later.entry(at: date(0))?.snapshot == "b")
    }

    @Test(arguments: [TimelinePolicy.never, .atEnd, .after(Date(timeIntervalSince1970: 12.5))])
    func `a timeline is the same after encoding and decoding`(policy: TimelinePolicy) throws {
        let view = WidgetView(
            title: "t", lines: [.init("x\u{1b}[2J", .warning, url: "todo://item/3", countdown: date(1000))], url: "a:b",
            preferredSize: .init(columns: 3, rows: 4))
        let timeline = Timeline(first: .init(date: date(1.25), snapshot: view), policy: policy)
        let answer = WidgetMessage.answer(.init(id: 3, result: .newData, timeline: timeline, cause: "why"))
        let line = try #require(ProtocolLine.encoded(answer))
        #expect(!line.contains(0x0A))
        #expect(ProtocolLine.decoded(WidgetMessage.self, from: line) == answer)
    }

    @Test func `a timeline has at least one entry`() {
        #expect(ProtocolLine.decoded(Timeline<String>.self, from: Array(#"{"entries":[]}"#.utf8)) == nil)
        #expect(
            ProtocolLine.decoded(Timeline<String>.self, from: Array(#"{"entries":[{"snapshot":"x"}]}"#.utf8))
                == Timeline("x"))
    }
}
