import Foundation
import GroupContainer
import GroupContainerTesting
import Testing
import Widgets

/// A provider that shows the content of one file, for a time.
private struct Shelf: WidgetProvider {
    struct Empty: Error {}

    static let kind = "shelf"
    var interests: [WidgetInterest] { [.path("shelf.json")] }
    var hangs = false
    var date: Date?

    func snapshot(in context: WidgetContext) async throws -> String {
        let things = try await context.coordinator.read("shelf.json", as: [String].self)
        guard let first = things.first else { throw Empty() }
        if hangs { try await ManualClock().sleep(for: .seconds(1)) }  // allowed: a manual clock
        return first
    }

    func timeline(in context: WidgetContext) async throws -> Timeline<String> {
        let snapshot = try await snapshot(in: context)
        guard let date else { return Timeline(snapshot) }
        return Timeline(
            first: .init(snapshot: snapshot), later: [.init(date: date, snapshot: "late")], policy: .after(date))
    }
}

@Suite(.timeLimit(.minutes(2))) struct `A refresh in a test` {
    private let temporary: TemporaryContainer
    private let clock = ManualClock()

    init() throws { temporary = try TemporaryContainer() }

    private func put(_ things: [String]) async throws {
        _ = try await temporary.container.coordinator(purpose: "a test").write(json: things, to: "shelf.json")
    }

    private func refreshed(_ shelf: Shelf = Shelf()) async throws -> RefreshOutcome<String> {
        try await shelf.refreshed(in: temporary.container, timeLimit: .seconds(5), clock: clock)
    }

    @Test func `a refresh in a test returns newData with the snapshot, and noData without changes`() async throws {
        try await put(["book"])
        let first = try await refreshed()
        #expect(first.result == .newData && first.snapshot == "book" && first.failure == nil)
        let second = try await refreshed()
        #expect(second.result == .noData && second.timeline == nil && second.snapshot == nil)
        try await put(["cup", "book"])
        #expect(try await refreshed().snapshot == "cup")
    }

    @Test func `a failed refresh in a test returns the error`() async throws {
        try await put([])
        let outcome = try await refreshed()
        #expect(outcome.result == .failed && outcome.failure is Shelf.Empty)
    }

    @Test func `a refresh in a test fails at its deadline by the manual clock`() async throws {
        try await put(["book"])
        async let outcome = refreshed(Shelf(hangs: true))
        await clock.waitUntilAwaited()
        clock.advance(by: .seconds(5))
        #expect(try await outcome.failure is ProviderFailure)
    }

    @Test func `a refresh in a test is due when its timeline is over by the manual clock`() async throws {
        try await put(["book"])
        let shelf = Shelf(date: clock.date.addingTimeInterval(60))
        #expect(try await refreshed(shelf).snapshot == "book")
        #expect(try await refreshed(shelf).result == .noData)
        clock.advance(by: .seconds(60))
        // The provider runs again, and returns the time of the next refresh.
        let later = Shelf(date: clock.date.addingTimeInterval(30))
        let outcome = try await refreshed(later)
        #expect(outcome.result == .newData && outcome.timeline?.refreshDate == later.date)
    }
}

@Suite(.timeLimit(.minutes(2))) struct `A live widget in a test` {
    @Test func `a live widget shows the next entry at its moment by the manual clock`() async throws {
        try await withTemporaryContainer { temporary in
            let (container, clock) = (temporary.container, ManualClock())
            _ = try await container.coordinator(purpose: "a test").write(json: ["book"], to: "shelf.json")
            let program = WidgetProgram(
                Shelf(date: clock.date.addingTimeInterval(45)), in: container, clock: clock)
            let (shown, show) = AsyncStream<String>.makeStream()
            let widget = Task { try await program.follow { show.yield($0.view.lines.first?.text ?? "") } }
            var lines = shown.makeAsyncIterator()
            #expect(await lines.next() == "book")
            // The deadline of the refresh is over by then; only the moment of the entry is left.
            await clock.waitUntilAwaited()
            clock.advance(by: .seconds(45))
            #expect(await lines.next() == "late")
            widget.cancel()
        }
    }
}
