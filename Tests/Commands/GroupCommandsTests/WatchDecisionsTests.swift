import GroupCommands
import GroupContainer
import Testing

@testable import watch_group

@Suite struct `Decisions of watch-group` {
    @Test func `lines are flushed in blocks, each line after a moment at the latest`() {
        var flushing = Flushing()
        #expect(!flushing.hasUnwritten)
        let moments = [1_000, 1_000 + Flushing.longestWait - 1, 1_000 + Flushing.longestWait]
        let late = moments.map { flushing.note(100, at: $0) }
        #expect(late == [false, false, true] && flushing.hasUnwritten)
        flushing.noteFlush()
        #expect(!flushing.hasUnwritten)
        let full = [Flushing.mostBytes - 1, 1].map { flushing.note($0, at: 0) }
        #expect(full == [false, true])
    }

    @Test func `a bookmark is due at the beginning, and once after each quiet time`() {
        var bookmarks = Bookmarks()
        let looks: [(UInt64, Int64)] = [(0, 0), (0, .max), (3, Bookmarks.quiet - 1), (3, Bookmarks.quiet), (3, .max)]
        let answers = looks.map { bookmarks.isDue(at: $0.0, idle: $0.1) }
        #expect(answers == [true, false, false, true, false])
        bookmarks.noteRescan()
        let afterRescan = bookmarks.isDue(at: 3, idle: 0)
        bookmarks.noteBookmark(at: 7)
        let afterSnapshot = bookmarks.isDue(at: 7, idle: .max)
        #expect(afterRescan && !afterSnapshot)
    }

    @Test func `a failed command is run again after longer and longer pauses, at most a minute`() {
        var retry = Retry()
        #expect(retry.wait(from: 5) == 0)
        var pauses: [Int64] = []
        for _ in 0..<20 {
            let pause = retry.noteFailure(at: 1_000)
            #expect(retry.wait(from: 1_000) == pause && retry.wait(from: 1_000 + pause) == 0)
            pauses.append(pause / 1_000_000)
        }
        #expect(pauses.prefix(8) == [500, 1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000])
        #expect(pauses.dropFirst(7).allSatisfy { $0 == 60_000 } && retry.failures == 20)
    }
}
