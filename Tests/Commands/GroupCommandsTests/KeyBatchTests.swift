import Testing

@testable import watch_group

@Suite struct `A batch of keys` {
    @Test func `a batch of keys has each key once, in the order of the changes`() {
        var batch = KeyBatch(quiet: 10, atMost: 100)
        #expect(batch.isEmpty && batch.wait(from: 0) == .max)
        for key in ["b", "a", "b"] { batch.note(key: key, at: 0) }
        #expect(batch.keys == ["b", "a"] && !batch.isEmpty && !batch.isCleared && !batch.isRescan)
        batch.noteCleared(at: 1)
        batch.noteRescan(at: 2)
        #expect(batch.isCleared && batch.isRescan)
        #expect(batch.successor == KeyBatch(quiet: 10, atMost: 100))
    }

    @Test func `a batch of keys settles after a quiet time, at the latest after its maximum`() {
        var batch = KeyBatch(quiet: 10, atMost: 25)
        batch.note(key: "a", at: 1_000)
        #expect(batch.wait(from: 1_000) == 10 && batch.wait(from: 1_009) == 1 && batch.wait(from: 1_010) == 0)
        batch.note(key: "a", at: 1_009)
        #expect(batch.wait(from: 1_010) == 9)
        batch.note(key: "a", at: 1_018)
        #expect(batch.wait(from: 1_018) == 7, "25 after the first")
        #expect(!batch.isOverdue(at: 1_024) && batch.isOverdue(at: 1_025))
        #expect(batch.wait(from: 1_025) == 0 && batch.wait(from: 2_000) == 0)
        batch.noteRescan(at: 2_000)
        #expect(batch.wait(from: 2_000) == 0)
    }
}
