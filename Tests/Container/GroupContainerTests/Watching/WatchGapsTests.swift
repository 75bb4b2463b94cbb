import Testing

@testable import GroupContainer

@Suite struct `Watch gaps` {
    private func location(_ path: String) throws -> ItemLocation { try ItemLocation(Array(path.utf8)) }

    private func news(_ gaps: inout WatchGaps) -> [WatchGaps.News] {
        var all: [WatchGaps.News] = []
        while let next = gaps.take() { all.append(next) }
        return all
    }

    @Test func `each watch gap is reported with its reason, and a limit once`() throws {
        let (a, b, c) = (try location("a"), try location("b"), try location("c"))
        var gaps = WatchGaps()
        gaps.note(a, .unreadable)
        gaps.note(a, .unreadable)
        gaps.note(b, .noWatchLeft)
        gaps.note(c, .noWatchLeft)
        let reported = news(&gaps)
        #expect(reported == [.gap(a, .unreadable), .gap(b, .noWatchLeft)])
        #expect(gaps.needsComparing)
    }

    @Test func `the end of the last watch gap is reported once`() throws {
        let (a, b) = (try location("a"), try location("b"))
        var gaps = WatchGaps()
        gaps.note(nil, .noWatchLeft)
        gaps.note(a, .unreadable)
        _ = news(&gaps)
        // The directory may be listed, and still there is no watch for it.
        gaps.noteListed(nil, isWatched: false)
        gaps.noteListed(b, isWatched: true)
        gaps.noteListed(a, isWatched: false)
        let before = news(&gaps)
        #expect(before == [] && gaps.needsComparing)
        gaps.noteListed(nil, isWatched: true)
        let after = news(&gaps)
        #expect(after == [.complete] && !gaps.needsComparing)
        // From then on a limit is reported again.
        gaps.note(b, .noWatchLeft)
        let again = news(&gaps)
        #expect(again == [.gap(b, .noWatchLeft)])
    }

    @Test func `a watch gap of an unreadable directory needs no comparing`() throws {
        var gaps = WatchGaps()
        gaps.note(try location("a"), .unreadable)
        #expect(!gaps.needsComparing)
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
