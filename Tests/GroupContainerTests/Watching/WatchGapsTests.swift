import Testing

@testable import GroupContainer

@Suite struct `Watch gaps` {
    private func location(_ path: String) throws -> ItemLocation { try ItemLocation(Array(path.utf8)) }

    private func news(_ spots: inout WatchGaps) -> [WatchGaps.News] {
        var all: [WatchGaps.News] = []
        while let next = spots.take() { all.append(next) }
        return all
    }

    @Test func `each watch gap is reported with its reason, and a limit once`() throws {
        let (a, b, c) = (try location("a"), try location("b"), try location("c"))
        var spots = WatchGaps()
        spots.note(a, .unreadable)
        spots.note(a, .unreadable)
        spots.note(b, .noWatchLeft)
        spots.note(c, .noWatchLeft)
        let reported = news(&spots)
        #expect(reported == [.blind(a, .unreadable), .blind(b, .noWatchLeft)])
        #expect(spots.needsComparing)
    }

    @Test func `the end of the last watch gap is reported once`() throws {
        let (a, b) = (try location("a"), try location("b"))
        var spots = WatchGaps()
        spots.note(nil, .noWatchLeft)
        spots.note(a, .unreadable)
        _ = news(&spots)
        // The directory may be listed, and still there is no watch for it.
        spots.noteListed(nil, isWatched: false)
        spots.noteListed(b, isWatched: true)
        spots.noteListed(a, isWatched: false)
        let before = news(&spots)
        #expect(before == [] && spots.needsComparing)
        spots.noteListed(nil, isWatched: true)
        let after = news(&spots)
        #expect(after == [.sighted] && !spots.needsComparing)
        // From then on a limit is reported again.
        spots.note(b, .noWatchLeft)
        let again = news(&spots)
        #expect(again == [.blind(b, .noWatchLeft)])
    }

    @Test func `a watch gap of an unreadable directory needs no comparing`() throws {
        var spots = WatchGaps()
        spots.note(try location("a"), .unreadable)
        #expect(!spots.needsComparing)
    }
}

@Suite struct `Rename pairs` {
    @Test func `the halves of a rename are paired where the directory around them was moved to`() throws {
        let places = try ["d/a", "x", "d", "e/d", "e/d/a"].map { try ItemLocation(Array($0.utf8)) }
        var pairs = RenamePairs()
        pairs.left(places[0], nil, cookie: 1)
        pairs.left(places[1], nil, cookie: 2)
        pairs.noteMove(from: places[2], to: places[3])
        #expect(pairs.arrived(cookie: 1)?.origin == places[4])
        #expect(pairs.arrived(cookie: 1) == nil)
        #expect(pairs.endRound() == [])
        #expect(pairs.isWaiting)
        #expect(pairs.endRound().map(\.origin) == [places[1]])
        #expect(!pairs.isWaiting)
    }
}
