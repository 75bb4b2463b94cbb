import Foundation
import GroupContainer
import GroupContainerTesting
import GroupSystemCalls
import Testing
import WidgetKit
import Widgets

private typealias Timeline = WidgetKit.Timeline

private struct TextEntry: TimelineEntry {
    var date: Date
    var text: String
    var relevance: TimelineEntryRelevance?
}

/// A provider that does what the test sets.
private final class Scripted: TimelineProvider, Sendable {
    typealias Reply = @Sendable (TimelineProviderContext, @escaping @Sendable (Timeline<TextEntry>) -> Void) -> Void

    let reply: Guarded<Reply>

    init(_ reply: @escaping Reply) { self.reply = Guarded(reply) }

    convenience init(_ entries: [TextEntry], _ policy: TimelineReloadPolicy = .never) {
        self.init { _, completion in completion(Timeline(entries: entries, policy: policy)) }
    }

    func placeholder(in context: Context) -> TextEntry {
        TextEntry(date: .distantPast, text: "\(context.family) \(context.isPreview)")
    }

    func getSnapshot(in context: Context, completion: @escaping @Sendable (TextEntry) -> Void) {
        completion(TextEntry(date: .distantPast, text: "snapshot"))
    }

    func getTimeline(in context: Context, completion: @escaping @Sendable (Timeline<TextEntry>) -> Void) {
        reply.withLock { $0 }(context, completion)
    }
}

@Suite struct `A timeline provider` {
    private let temporary: TemporaryContainer
    private let clock = ManualClock()

    private var container: Container { temporary.container }
    private var now: Date { clock.date }

    init() throws { temporary = try TemporaryContainer() }

    private func widget(_ provider: Scripted, kind: String = "scripted") -> TimelineWidget<Scripted> {
        TimelineWidget(provider, kind: kind, clock: clock) { WidgetView(lines: [.init($0.text)]) }
    }

    private func entry(_ text: String, after seconds: Double = 0) -> TextEntry {
        TextEntry(date: now.addingTimeInterval(seconds), text: text)
    }

    private func outcome(
        _ provider: Scripted, kind: String = "scripted", environment: WidgetEnvironment = WidgetEnvironment(),
        isReload: Bool = false
    ) async throws -> RefreshOutcome<WidgetView> {
        try await widget(provider, kind: kind).refreshed(
            in: container, environment: environment, isReload: isReload, clock: clock)
    }

    @Test func `an entry is shown from its date on, and the last one's date is that of the next refresh`()
        async throws
    {
        let widget = TimelineWidget(HourProvider(start: now), kind: "hours", clock: clock) {
            WidgetView(lines: [.init("\($0.hour)")])
        }
        #expect(widget.kind == "hours" && widget.placeholder == WidgetView(lines: [.init("-1")]))
        let timeline = try #require(try await widget.refreshed(in: container, clock: clock).timeline)
        for hour in 0..<5 {
            #expect(timeline.entry(at: now)?.snapshot.lines == [.init("\(hour)")])
            clock.advance(by: .seconds(3600))
        }
        #expect(timeline.refreshDate == now.addingTimeInterval(-3600))
        // That refresh is due, although nothing has changed.
        #expect(try await widget.refreshed(in: container, clock: clock).result == .newData)
    }

    @Test func `entries may come in any order, and those that are over are left out`() async throws {
        let provider = Scripted([
            entry("c", after: 20), entry("x", after: -20), entry("b", after: -10), entry("d", after: 20),
        ])
        let timeline = try #require(try await outcome(provider).timeline)
        #expect(timeline.entries.map { $0.snapshot.lines.map(\.text) } == [["b"], ["c"], ["d"]])
        #expect(timeline.entry(at: now.addingTimeInterval(20))?.snapshot.lines.first?.text == "d")
        let later = try await outcome(Scripted([entry("later", after: 60)]), isReload: true)
        #expect(later.snapshot?.lines == [.init("later")], "the first entry is shown before its date, too")
    }

    @Test func `an entry that looks the same at a later date is noData`() async throws {
        #expect(try await outcome(Scripted([entry("same")])).result == .newData)
        clock.advance(by: .seconds(60))
        #expect(try await outcome(Scripted([entry("same")]), isReload: true).result == .noData)
        #expect(try await outcome(Scripted([entry("other")]), isReload: true).result == .newData)
    }

    @Test func `a policy sets the date of the next refresh, and a date that has come is five minutes later`()
        async throws
    {
        let entries = [entry("a"), entry("b", after: 1000)]
        let soon = now.addingTimeInterval(300)
        let expected: [(TimelineReloadPolicy, [TextEntry], Date?)] = [
            (.never, entries, nil), (.atEnd, entries, now.addingTimeInterval(1000)),
            (.after(now.addingTimeInterval(10)), entries, now.addingTimeInterval(10)),
            (.atEnd, [entry("a")], soon), (.after(.distantPast), entries, soon), (.atEnd, [], soon),
        ]
        for (number, (policy, entries, date)) in expected.enumerated() {
            let timeline = try await outcome(Scripted(entries, policy), kind: "scripted-\(number)").timeline
            #expect(timeline?.refreshDate == date, "\(number)")
        }
        #expect(TimelineReloadPolicy.after(now) == .after(now))
        #expect(TimelineReloadPolicy.after(now) != .after(soon) && TimelineReloadPolicy.atEnd != .never)
    }

    @Test func `what a press requests is done by a closure, and refused without one`() async throws {
        let pressed = TimelineWidget(
            Scripted([]), kind: "pressed", clock: clock, items: { [.writing(ItemPath($0.id))] },
            perform: { action, access in try access.write(text: "done", to: ItemPath(action.id)) }
        ) { WidgetView(lines: [.init($0.text)]) }
        let container = container
        try await WidgetProgram(pressed, in: container).perform(WidgetAction(id: "list"))
        #expect(try container.coordinator(purpose: "tests").blocking.readText("list") == "done")
        let other = widget(Scripted([]))
        await #expect(throws: (any Error).self) {
            try await WidgetProgram(other, in: container).perform(WidgetAction(id: "list"))
        }
    }

    @Test func `a timeline without entries shows the snapshot`() async throws {
        #expect(try await outcome(Scripted([])).snapshot?.lines == [.init("snapshot")])
    }

    @Test func `a second call of the completion handler is ignored`() async throws {
        let (one, two) = (entry("one"), entry("two"))
        let provider = Scripted { _, completion in
            completion(Timeline(entries: [one], policy: .never))
            completion(Timeline(entries: [two], policy: .never))
        }
        #expect(try await outcome(provider).snapshot?.lines == [.init("one")])
    }

    @Test func `the completion handler may be called later, on another thread`() async throws {
        let one = entry("one")
        let provider = Scripted { _, completion in
            DispatchQueue.global().async { completion(Timeline(entries: [one], policy: .never)) }
        }
        #expect(try await outcome(provider).snapshot?.lines == [.init("one")])
    }

    @Test func `a refresh whose completion handler is not called has failed at the deadline`() async throws {
        let late = Guarded<(@Sendable (Timeline<TextEntry>) -> Void)?>(nil)
        let provider = Scripted { _, completion in late.withLock { $0 = completion } }
        let (widget, container, clock) = (widget(provider), container, clock)
        async let outcome = widget.refreshed(in: container, timeLimit: .seconds(5), clock: clock)
        await clock.waitUntilAwaited()
        clock.advance(by: .seconds(5))
        #expect(try await outcome.result == .failed)
        late.withLock { $0 }?(Timeline(entries: [entry("late")], policy: .never))
        #expect(try await WidgetRefresh(widget, in: container).last() == nil)
        #expect(try await self.outcome(Scripted([entry("one")])).result == .newData)
    }

    @Test func `a context has the size for the display mode, in character cells`() async throws {
        let provider = Scripted { context, completion in
            let (family, size) = (context.family, context.displaySize)
            let text = "\(family) \(Int(size.width))x\(Int(size.height)) \(context.isPreview)"
            completion(Timeline(entries: [TextEntry(date: .distantPast, text: text)], policy: .never))
        }
        let compact = WidgetEnvironment(displayMode: .compact, maximumSize: WidgetSize(columns: 40, rows: 3))
        let expanded = WidgetEnvironment(displayMode: .expanded, maximumSize: WidgetSize(columns: 60, rows: 20))
        #expect(
            try await outcome(provider, environment: compact).snapshot?.lines.first?.text == "systemSmall 40x3 false")
        #expect(
            try await outcome(provider, environment: expanded).snapshot?.lines.first?.text == "systemLarge 60x20 false")
        #expect(widget(provider).placeholder?.lines == [.init("systemSmall false")])
    }

    @Test func `only a change of its interests concerns a widget`() async throws {
        let renderings = Guarded(0)
        let provider = Scripted { _, completion in
            renderings.withLock { $0 += 1 }
            completion(Timeline(entries: [], policy: .never))
        }
        let widget = TimelineWidget(provider, kind: "scripted", interests: [.path("a")]) {
            WidgetView(lines: [.init($0.text)])
        }
        _ = try await widget.refreshed(in: container)
        let coordinator = container.coordinator(purpose: "tests")
        _ = try await coordinator.write(bytes: [1], to: "b")
        _ = try await widget.refreshed(in: container)
        #expect(renderings.withLock { $0 } == 1)
        _ = try await coordinator.write(bytes: [1], to: "a")
        _ = try await widget.refreshed(in: container)
        #expect(renderings.withLock { $0 } == 2)
    }

    @Test func `an entry has no importance unless its type gives one`() throws {
        #expect(HourEntry(date: now, hour: 0).relevance == nil)
        let importance = TimelineEntryRelevance(score: 2, duration: 60)
        #expect(TextEntry(date: now, text: "", relevance: importance).relevance?.score == 2)
        #expect(TimelineEntryRelevance(score: 2) == TimelineEntryRelevance(score: 2, duration: 0))
        let content = try JSONEncoder().encode(importance)
        #expect(try JSONDecoder().decode(TimelineEntryRelevance.self, from: content) == importance)
    }

    @Test func `the families have different names`() {
        #expect(WidgetFamily.allCases.count == 8)
        #expect(Set(WidgetFamily.allCases.map(\.description)).count == 8)
        #expect("\(WidgetFamily.systemSmall)" == "systemSmall" && WidgetFamily(rawValue: 0) == .systemSmall)
    }
}
