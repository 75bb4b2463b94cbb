import GroupContainerTesting
import ShelfShared
import Testing

@Suite struct ShelfTests {
    let clock = ManualClock()

    @Test func theWidgetShowsWhatTheAppHasPut() async throws {
        try await withTemporaryContainer(group: Shelf.group) { temporary in
            let (container, widget) = (temporary.container, LatestThing(clock: clock))
            try await Shelf.put("book", in: container)

            let first = try await widget.refreshed(in: container, clock: clock)
            #expect(first.result == .newData)
            #expect(first.snapshot == "book")

            // Nothing has changed: nothing is rendered.
            #expect(try await widget.refreshed(in: container, clock: clock).result == .noData)

            // An hour later the next entry is due, without a refresh.
            clock.advance(by: .seconds(3_600))
            #expect(first.timeline?.entry(at: clock.date)?.snapshot == "still book")
        }
    }
}
