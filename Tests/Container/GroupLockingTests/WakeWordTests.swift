import GroupSystemCalls
import TestSupport
import Testing

@testable import GroupLocking

@Suite(.timeLimit(.minutes(1)))
struct `Interruptions` {
    @Test func `an interruption after the reading of the count ends a sleep, also if it comes first`() throws {
        let directory = try TemporaryDirectory()
        let map = try word(in: directory)
        let seen = Interruption.latest
        Interruption.raise()
        // Neither returns by itself.
        Interruption.wait(since: seen, atMost: .max)
        WritableMap.wait(while: WatchedWord(0, of: map, seen: 0), since: seen, nanoseconds: nil)
        #expect(Interruption.latest != seen)
        #expect(!map.isDamaged)
    }

    @Test func `a sleep on a word ends when the word changes, and after its time`() throws {
        let directory = try TemporaryDirectory()
        let map = try word(in: directory)
        WritableMap.wait(while: WatchedWord(0, of: map, seen: 1), since: .latest, nanoseconds: nil)
        WritableMap.wait(while: WatchedWord(0, of: map, seen: 0), since: .latest, nanoseconds: 1_000_000)
        let waker = Side {
            map.store32(0, 1)
            map.wakeAll(at: 0)
        }
        while map.load32(0) == 0 {
            WritableMap.wait(while: WatchedWord(0, of: map, seen: 0), since: .latest, nanoseconds: nil)
        }
        try waker.answer()
        #expect(!map.isDamaged)
    }

    /// Returns a word that is 0. Without its bytes in the file, each access would be a fault, and no sleep would begin.
    private func word(in directory: TemporaryDirectory) throws -> WritableMap {
        let file = try directory.open("word", [.readingAndWriting, .creating])
        try file.setSize(4_096)
        return try WritableMap(file, size: 4_096)
    }
}
