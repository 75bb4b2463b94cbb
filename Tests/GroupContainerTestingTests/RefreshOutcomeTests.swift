import Foundation
import GroupContainer
import GroupContainerTesting
import Testing
import Widgets

/// Shows what is in one file, and until when.
private struct Shelf: WidgetProvider {
    struct Empty: Error {}

    static let kind = "shelf"
    var interests: [Interest] { [.path("shelf.json")] }
    var hangs = false
    var date: Date?

    func snapshot(in context: Context) async throws -> String {
        let things = try await context.coordinator.read("shelf.json", as: [String].self)
        guard let first = things.first else { throw Empty() }
        if hangs { try await ManualClock().sleep(for: .seconds(1)) }  // allowed: a manual clock
        return first
    }

    func timeline(in context: Context) async throws -> Timeline<String> {
        let snapshot = try await snapshot(in: context)
        guard let date else { return Timeline(snapshot) }
        return Timeline(first: .init(snapshot: snapshot), [.init(date: date, snapshot: "late")], policy: .after(date))
    }
}

@Suite(.timeLimit(.minutes(2))) struct `A refresh in a test` {
    private let temporary: TemporaryContainer
    private let clock = ManualClock()

    init() throws { temporary = try TemporaryContainer() }

    private func put(_ things: [String]) async throws {
        _ = try await temporary.container.coordinator(purpose: "a test").write(things, to: "shelf.json")
    }

    private func refreshed(_ shelf: Shelf = Shelf()) async throws -> RefreshOutcome<String> {
        try await shelf.refreshed(in: temporary.container, deadline: .seconds(5), clock: clock)
    }

    @Test func `tells what was shown, then that nothing changed, then what did`() async throws {
        try await put(["book"])
        let first = try await refreshed()
        #expect(first.result == .newData && first.snapshot == "book" && first.failure == nil)
        let second = try await refreshed()
        #expect(second.result == .noData && second.timeline == nil && second.snapshot == nil)
        try await put(["cup", "book"])
        #expect(try await refreshed().snapshot == "cup")
    }

    @Test func `tells why it failed`() async throws {
        try await put([])
        let outcome = try await refreshed()
        #expect(outcome.result == .failed && outcome.failure is Shelf.Empty)
    }

    @Test func `fails at its deadline, by the clock that it was given`() async throws {
        try await put(["book"])
        async let outcome = refreshed(Shelf(hangs: true))
        await clock.isAwaited()
        clock.advance(by: .seconds(5))
        #expect(try await outcome.failure is ProviderFailure)
    }

    @Test func `comes when its timeline asks for it, by the clock that it was given`() async throws {
        try await put(["book"])
        let shelf = Shelf(date: clock.date.addingTimeInterval(60))
        #expect(try await refreshed(shelf).snapshot == "book")
        #expect(try await refreshed(shelf).result == .noData)
        clock.advance(by: .seconds(60))
        // The provider is asked again, and says when the next one is.
        let later = Shelf(date: clock.date.addingTimeInterval(30))
        let outcome = try await refreshed(later)
        #expect(outcome.result == .newData && outcome.timeline?.refreshDate == later.date)
    }
}

@Suite(.timeLimit(.minutes(2))) struct `A widget that shows itself` {
    @Test func `shows the next entry when its moment comes, by the clock that it was given`() async throws {
        try await withTemporaryContainer { temporary in
            let (container, clock) = (temporary.container, ManualClock())
            _ = try await container.coordinator(purpose: "a test").write(["book"], to: "shelf.json")
            let program = WidgetProgram(
                Shelf(date: clock.date.addingTimeInterval(45)), in: container, clock: clock)
            let (shown, show) = AsyncStream<String>.makeStream()
            let widget = Task { try await program.follow { show.yield($0.view.lines.first?.text ?? "") } }
            var lines = shown.makeAsyncIterator()
            #expect(await lines.next() == "book")
            // The deadline of the refresh is over by then: what is left is the moment of the entry.
            await clock.isAwaited()
            clock.advance(by: .seconds(45))
            #expect(await lines.next() == "late")
            widget.cancel()
        }
    }
}
