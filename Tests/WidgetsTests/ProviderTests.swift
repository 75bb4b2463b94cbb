import Foundation
import GroupContainer
import GroupSystemCalls
import Testing
import Widgets

/// Does what the test says, and counts.
private final class Scripted: WidgetProvider {
    static let kind = "scripted"
    let interests: [Interest] = [.path("data/**")]
    let update = Guarded<@Sendable (Context) async throws -> UpdateResult>({ _ in .newData })
    let shown = Guarded<@Sendable (Context) async throws -> Timeline<String>>({ _ in Timeline("one") })
    let renderings = Guarded(0)

    func performUpdate(in context: Context) async throws -> UpdateResult {
        try await update.withLock { $0 }(context)
    }

    func snapshot(in context: Context) async throws -> String { "" }

    func timeline(in context: Context) async throws -> Timeline<String> {
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
        onFailure: @escaping @Sendable (any Error) -> Void = { _ in }
    ) async throws -> UpdateResult {
        var refresh = Refresh(
            provider, in: place.container, environment: environment, deadline: deadline, onFailure: onFailure)
        refresh.shortestInterval = .zero
        return try await refresh.update(isReload: isReload) { _ in }
    }

    // case 39
    @Test func `that hangs has failed at its deadline, what it says later is dropped, and what was shown is kept`()
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
        #expect(try await Refresh(provider, in: place.container).last()?.timeline == Timeline("one"))
        // The change is not forgotten, and nobody holds the lock.
        provider.show(Timeline("two"))
        #expect(try await refresh() == .newData)
    }

    // case 39
    @Test func `that throws, or says that it failed, is asked again`() async throws {
        struct Thrown: Error {}
        provider.update.withLock { $0 = { _ in throw Thrown() } }
        #expect(try await refresh() == .failed)
        provider.update.withLock { $0 = { _ in .failed } }
        #expect(try await refresh() == .failed)
        provider.update.withLock { $0 = { _ in .newData } }
        #expect(try await refresh() == .newData)
        #expect(provider.renderingCount == 1)
    }

    @Test func `that says noData renders nothing, unless there is nothing to show`() async throws {
        provider.update.withLock { $0 = { _ in .noData } }
        #expect(try await refresh() == .newData)
        try place.write("x", to: "data/a")
        #expect(try await refresh() == .noData)
        #expect(provider.renderingCount == 1)
    }

    @Test func `that says noData renders all the same where a reload is asked for, or it is shown in other room`()
        async throws
    {
        provider.shown.withLock { $0 = { Timeline("\($0.environment.maximumSize.columns)") } }
        provider.update.withLock { $0 = { _ in .noData } }
        #expect(try await refresh() == .newData)
        let wide = WidgetEnvironment(maximumSize: WidgetSize(columns: 120, rows: 3))
        #expect(try await refresh(wide) == .newData)
        #expect(try await Refresh(provider, in: place.container).last()?.timeline == Timeline("120"))
        provider.show(Timeline("two"))
        #expect(try await refresh(wide, isReload: true) == .newData)
        #expect(try await Refresh(provider, in: place.container).last()?.timeline == Timeline("two"))
    }

    @Test func `is asked whatever changed where somebody asks for a reload, and only what can be seen counts`()
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

    @Test func `is asked when its timeline says so`() async throws {
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

    @Test func `is asked where it is shown in another environment`() async throws {
        provider.shown.withLock { $0 = { Timeline($0.environment.displayMode.rawValue) } }
        let expanded = WidgetEnvironment(displayMode: .expanded)
        #expect(try await refresh() == .newData)
        #expect(try await refresh(expanded) == .newData)
        #expect(try await refresh(expanded) == .noData)
        #expect(try await refresh() == .newData)
        #expect(provider.renderingCount == 3)
    }

    @Test func `whose snapshot has no JSON has failed`() async throws {
        struct Odd: WidgetProvider {
            static let kind = "odd"
            let interests: [Interest] = []
            func snapshot(in context: Context) async throws -> Double { .nan }
        }
        #expect(try await Refresh(Odd(), in: place.container).performUpdate() == .failed)
    }
}

@Suite struct `A timeline` {
    private func date(_ seconds: Double) -> Date { Date(timeIntervalSince1970: seconds) }

    @Test func `shows the last entry whose moment has come`() {
        let timeline = Timeline(
            first: .init(date: date(20), snapshot: "b"),
            [.init(date: date(30), snapshot: "c"), .init(snapshot: "a"), .init(date: date(30), snapshot: "d")],
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
    func `is the same after a line of the protocol`(policy: TimelinePolicy) throws {
        let view = WidgetView(
            title: "t", lines: [.init("x\u{1b}[2J", .warning, url: "todo://item/3", countdown: date(1000))], url: "a:b",
            preferredSize: .init(columns: 3, rows: 4))
        let timeline = Timeline(first: .init(date: date(1.25), snapshot: view), policy: policy)
        let answer = WidgetMessage.answer(.init(id: 3, result: .newData, timeline: timeline, cause: "why"))
        let line = try #require(ProtocolLine.encoded(answer))
        #expect(!line.contains(0x0A))
        #expect(ProtocolLine.decoded(WidgetMessage.self, from: line) == answer)
    }

    @Test func `has an entry`() {
        #expect(ProtocolLine.decoded(Timeline<String>.self, from: Array(#"{"entries":[]}"#.utf8)) == nil)
        #expect(
            ProtocolLine.decoded(Timeline<String>.self, from: Array(#"{"entries":[{"snapshot":"x"}]}"#.utf8))
                == Timeline("x"))
    }
}
