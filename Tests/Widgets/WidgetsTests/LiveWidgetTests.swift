import Foundation
import GroupContainer
import GroupContainerTesting
import GroupSystemCalls
import Testing
import Widgets

/// A widget that shows how many of its renderings there were, unless it is to look the same.
private final class Counting: WidgetProvider {
    static let kind = "counting"
    let interests: [WidgetInterest]
    let placeholder: String?
    let renderings = Guarded(0)
    private let make: @Sendable (_ rendering: Int, WidgetContext) throws -> Timeline<String>

    init(
        interests: [WidgetInterest] = [], placeholder: String? = nil,
        _ make: @escaping @Sendable (_ rendering: Int, WidgetContext) throws -> Timeline<String>
    ) {
        self.interests = interests
        self.placeholder = placeholder
        self.make = make
    }

    func snapshot(in context: WidgetContext) async throws -> String { "" }

    func timeline(in context: WidgetContext) async throws -> Timeline<String> {
        try make(
            renderings.withLock {
                $0 += 1; return $0
            }, context)
    }
}

@Suite(.timeLimit(.minutes(2))) struct `A widget without a host` {
    private let temporary: TemporaryContainer

    init() throws { temporary = try TemporaryContainer() }

    /// Runs `body` beside the widget; `body` gets the next text that the widget shows.
    private func follow(
        _ widget: Counting, _ body: @Sendable (_ next: () async -> String?) async throws -> Void
    ) async throws {
        let (texts, continuation) = AsyncStream<String>.makeStream()
        let program = WidgetProgram(widget, in: temporary.container)
        let task = Task {
            defer { continuation.finish() }
            try await program.follow { continuation.yield($0.view.lines.first?.text ?? "") }
        }
        try await body { await texts.first { _ in true } }
        task.cancel()
        _ = await task.result
    }

    private func expect(_ text: String, _ next: () async -> String?) async throws {
        let shown = await next()
        try #require(shown == text)
    }

    @Test func `a widget without interests shows keys of suites that exist and of new ones`() async throws {
        let container = temporary.container
        try GroupDefaults(container, suite: "old").set("a", forKey: "k")
        let widget = Counting { _, context in
            let texts = ["old", "new"].map { suite in
                (try? GroupDefaults(context.container, suite: suite))?.string(forKey: "k") ?? "none"
            }
            return Timeline(texts.joined(separator: " "))
        }
        try await follow(widget) { next in
            try await expect("a none", next)
            try GroupDefaults(container, suite: "old").set("b", forKey: "k")
            try await expect("b none", next)
            try GroupDefaults(container, suite: "new").set("c", forKey: "k")
            try await expect("b c", next)
            try GroupDefaults(container, suite: "new").set("d", forKey: "k")
            try await expect("b d", next)
        }
    }

    @Test func `a rendering that looks the same requests the next one`() async throws {
        let widget = Counting(interests: [.path("none")]) { rendering, context in
            Timeline(
                first: .init(snapshot: rendering < 3 ? "waiting" : "third"),
                policy: rendering < 3 ? .after(context.date) : .never)
        }
        try await follow(widget) { next in
            try await expect("waiting", next)
            try await expect("third", next)
        }
        #expect(widget.renderings.withLock { $0 } == 3)
    }

    @Test func `a widget that keeps a key and an item while it renders is not rendered for them`() async throws {
        let container = temporary.container
        let widget = Counting { rendering, context in
            try GroupDefaults(context.container, suite: "kept").set(rendering, forKey: "renderings")
            try context.coordinator.blocking.write(bytes: Array("\(rendering)".utf8), to: "kept")
            let defaults = try GroupDefaults(context.container, suite: "shown")
            return Timeline("\(defaults.integer(forKey: "k")) \(rendering)")
        }
        try await follow(widget) { next in
            // The first rendering creates the suite, which is new for the second one.
            while await next() != "0 2" {}
            for value in 1...3 {
                try GroupDefaults(container, suite: "shown", purpose: "app").set(value, forKey: "k")
                while let text = await next(), !text.hasPrefix("\(value) ") {}
            }
        }
        let renderings = widget.renderings.withLock { $0 }
        #expect(renderings == 5)
    }

    @Test func `a reload request that no process has served is served once at the start`() async throws {
        let widget = Counting(interests: [.path("none")]) { rendering, _ in Timeline("\(rendering)") }
        try await follow(widget) { next in try await expect("1", next) }
        try await follow(widget) { next in try await expect("1", next) }
        try WidgetCenter(temporary.container).reloadTimelines(ofKind: Counting.kind)
        try await follow(widget) { next in try await expect("2", next) }
        try await follow(widget) { next in try await expect("2", next) }
        #expect(widget.renderings.withLock { $0 } == 2)
    }

    private struct Refusal: Error {}

    @Test func `a widget that fails while its timeline is due waits before each further try`() async throws {
        let clock = ManualClock()
        let due = clock.date.addingTimeInterval(10)
        let widget = Counting(interests: [.path("none")]) { rendering, _ in
            if rendering > 1 { throw Refusal() }
            return Timeline(first: .init(snapshot: "first"), policy: .after(due))
        }
        let program = WidgetProgram(widget, in: temporary.container, clock: clock)
        let (shown, continuation) = AsyncStream<ShownWidget>.makeStream()
        let task = Task { try await program.follow { continuation.yield($0) } }
        var states = shown.makeAsyncIterator()
        #expect(await states.next()?.failure == nil)
        await clock.waitUntilAwaited()
        clock.advance(by: .seconds(10))
        // The view stays, and its failure is shown.
        let state = try #require(await states.next())
        #expect(state.failure != nil && !state.isPlaceholder && state.view.lines.first?.text == "first")
        await clock.waitUntilAwaited()
        clock.advance(by: .milliseconds(999))
        #expect(widget.renderings.withLock { $0 } == 2)
        task.cancel()
        _ = await task.result
    }

    @Test(arguments: [nil, 3_600.0])
    func `a widget is refreshed after the clock was set back, whenever its timeline is due`(due: Double?) async throws {
        let clock = ManualClock()
        let widget = Counting(interests: [.path("none")]) { rendering, context in
            let date = context.date
            return Timeline(
                first: .init(snapshot: "\(rendering)"),
                later: [.init(date: date.addingTimeInterval(60), snapshot: "later")],
                policy: due.map { .after(date.addingTimeInterval($0)) } ?? .never)
        }
        let program = WidgetProgram(widget, in: temporary.container, clock: clock)
        let (shown, continuation) = AsyncStream<ShownWidget>.makeStream()
        let task = Task { try await program.follow { continuation.yield($0) } }
        var states = shown.makeAsyncIterator()
        #expect(await states.next()?.view.lines.first?.text == "1")
        await clock.waitUntilAwaited()
        clock.set(clock.date.addingTimeInterval(-86_400))
        // The widget looks at the clock at least once a minute.
        clock.advance(by: .seconds(60))
        let state = await states.next()
        #expect(state?.view.lines.first?.text == "2" && state?.renderedAt == clock.date)
        task.cancel()
        _ = await task.result
    }

    @Test func `the placeholder is shown before the first rendering, with the reason if that fails`() async throws {
        let widget = Counting(placeholder: "soon") { _, _ in throw Refusal() }
        let program = WidgetProgram(widget, in: temporary.container)
        let (shown, continuation) = AsyncStream<ShownWidget>.makeStream()
        let task = Task { try await program.follow { continuation.yield($0) } }
        var states = shown.makeAsyncIterator()
        for hasFailed in [false, true] {
            let state = try #require(await states.next())
            #expect(
                state.isPlaceholder && state.view.lines.first?.text == "soon" && (state.failure != nil) == hasFailed)
        }
        task.cancel()
        _ = await task.result
    }
}
