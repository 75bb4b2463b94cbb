import GroupSystemCalls
import TestSupport
import Testing

@testable import GroupContainer

@Suite(.timeLimit(.minutes(1)))
struct `Changes that are no longer kept` {
    /// What a follower gives until there is nothing more.
    private static func rest(of follower: inout ChangeFollower) throws -> [String] {
        var lines: [String] = []
        while let change = try follower.next(timeout: .zero) {
            lines.append(change.kind == .rescan ? "rescan" : String(change.path.description.prefix(5)))
        }
        return lines
    }

    @Test func `go file by file, after there is a checkpoint`() throws {
        let small = try SmallJournal(files: 2)
        try small.fill(files: 3)
        #expect(try small.files == ["1.log", "2.log", "3.log", "4.log"])
        #expect(!small.exists(".group/checkpoint"))
        small.member.tendJournal()
        #expect(try small.files == ["3.log", "4.log"])
        #expect(small.exists(".group/checkpoint"))
        #expect(try small.temporary.status(of: ".group/checkpoint").permissions == 0o600)
        #expect(!small.exists(".group/checkpoint.new"))
        try small.rotate()
        #expect(try small.files == ["4.log", "5.log"])
        #expect(try small.container.status().journalFiles == 2)
    }

    @Test func `go with the change that began a new file, once it is acknowledged`() throws {
        let small = try SmallJournal(files: 1)
        try small.fill(files: 2)
        #expect(try small.files.count == 3)
        _ = try small.tester.write(bytes: [1], to: "a", .relaxed)
        #expect(try small.files == ["3.log"])
    }

    @Test func `go when they are old`() throws {
        let small = try SmallJournal(files: 100, age: .zero)
        try small.rotate(files: 3)
        #expect(try small.files == ["4.log"])
    }

    @Test func `stay as long as they are few`() throws {
        let small = try SmallJournal(files: 6)
        try small.rotate(files: 5)
        #expect(try small.files.count == 6)
        var follower = try small.container.recordedChanges(since: .start)
        #expect(try Self.rest(of: &follower).count == Int(small.container.status().sequence))
    }

    @Test func `stay while another member keeps the journal, and while it cannot`() throws {
        let small = try SmallJournal(files: 1)
        let handle = try small.member.lockFile.borrow()
        #expect(try handle.descriptor.tryLock(.exclusive, ByteRange(start: LockRange.keeping, length: 1)))
        try small.rotate(files: 2)
        #expect(try small.files.count == 3)
        #expect(!small.exists(".group/checkpoint"))
        small.member.lockFile.giveBack(handle)
        // In the way of the file that the checkpoint is made in.
        try small.temporary.run("mkdir", ".group/checkpoint.new")
        try small.rotate()
        #expect(try small.files.count == 4)
        try small.temporary.run("rmdir", ".group/checkpoint.new")
        try small.rotate()
        #expect(try small.files == ["5.log"])
    }

    @Test func `are one rescan for who comes back with a cursor among them`() throws {
        let small = try SmallJournal(files: 2)
        _ = try small.tester.write(bytes: [1], to: "a")
        let cursor = try small.container.status().cursor
        try small.rotate(files: 5)
        var follower = try small.container.recordedChanges(since: .cursor(cursor))
        #expect(follower.cursor == (try small.container.status().cursor))
        _ = try small.tester.write(bytes: [1], to: "b")
        #expect(try Self.rest(of: &follower) == ["rescan", "b"])
    }

    @Test func `are one rescan for who was too slow, and then it goes on`() throws {
        let small = try SmallJournal(files: 2)
        for name in ["a", "b", "c"] { _ = try small.tester.write(bytes: [1], to: ItemPath(name)) }
        var follower = try small.container.recordedChanges(since: .start)
        #expect(try follower.next(timeout: .zero)?.path == "a")
        try small.rotate(files: 5)
        // Nor does it have them mapped.
        small.log.forgetAll(last: 1)
        _ = try small.tester.write(bytes: [1], to: "d")
        #expect(try Self.rest(of: &follower) == ["rescan"])
        _ = try small.tester.write(bytes: [1], to: "e")
        #expect(try Self.rest(of: &follower) == ["e"])
    }

    @Test func `are told to who has only the first of them mapped still`() throws {
        let small = try SmallJournal(files: 1)
        _ = try small.tester.write(bytes: [1], to: "a")
        var follower = try small.container.recordedChanges(since: .start)
        let first = try #require(try small.log.file(1))
        try small.rotate(files: 3)
        small.log.forgetAll(last: 4)
        let count = try withExtendedLifetime(first) { try Self.rest(of: &follower) }
        #expect(count == ["rescan"])
    }

    @Test func `are one rescan for a task that follows`() async throws {
        let small = try SmallJournal(files: 1)
        var changes = small.container.changes(since: .start).makeAsyncIterator()
        _ = try small.tester.write(bytes: [1], to: "a")
        #expect(try await changes.next()?.path == "a")
        try small.rotate(files: 3)
        small.log.forgetAll(last: 1)
        #expect(try await changes.next()?.kind == .rescan)
        _ = try small.tester.write(bytes: [1], to: "b")
        #expect(try await changes.next()?.path == "b")
    }

    @Test func `are none that a slow follower still has to come to`() throws {
        let small = try SmallJournal(files: 3)
        _ = try small.tester.write(bytes: [1], to: "a")
        var follower = try small.container.recordedChanges(since: .start)
        var last: UInt64 = 0
        for _ in 0..<6 {
            try small.rotate()
            // Up to a file and a half behind.
            while last + 30 < (try small.container.status().sequence) {
                let change = try #require(try follower.next(timeout: .zero))
                #expect(change.kind != .rescan)
                #expect(change.sequence == last + 1)
                last = change.sequence
            }
        }
        #expect(last > 250)
    }

    // case 43
    @Test func `are no place for who comes back to a journal that was rolled back`() throws {
        let small = try SmallJournal()
        _ = try small.tester.write(bytes: [1], to: "a")
        let before = try small.container.status().cursor
        try small.temporary.run("cp", ".group/journal/1.log", "backup")
        var cursors: [Cursor] = []
        for name in ["b", "c", "d"] {
            _ = try small.tester.write(bytes: [1], to: ItemPath(name))
            cursors.append(try small.container.status().cursor)
        }
        // In place, as rsync does it.
        try small.temporary.run("cp", "backup", ".group/journal/1.log")
        small.log.forgetAll(last: 1)
        for name in ["e", "f", "g"] { _ = try small.tester.write(bytes: [1], to: ItemPath(name)) }
        for cursor in cursors {
            var follower = try small.container.recordedChanges(since: .cursor(cursor))
            #expect(try Self.rest(of: &follower) == ["rescan"])
        }
        var follower = try small.container.recordedChanges(since: .cursor(before))
        #expect(try Self.rest(of: &follower) == ["e", "f", "g"])
    }

    @Test func `are not where following from the start begins`() throws {
        let small = try SmallJournal(files: 2)
        try small.rotate(files: 4)
        let first = try small.log.start()
        #expect(first.file == 4)
        var follower = try small.container.recordedChanges(since: .start)
        #expect(try follower.next(timeout: .zero)?.sequence == first.sequence + 1)
        #expect(try Self.rest(of: &follower).allSatisfy { $0 == "xxxxx" })
    }

    @Test func `do not hold up a member that was idle meanwhile`() throws {
        let small = try SmallJournal(files: 1)
        try small.rotate(files: 4)
        small.log.forgetAll(last: 1)
        let sequence = try small.container.status().sequence
        small.log.forgetAll(last: 1)
        #expect(try small.tester.write(bytes: [1], to: "a") == .written(sequence + 1))
        #expect(try small.files == ["5.log"])
    }

    @Test func `are not begun anew by a member that wakes up in the middle of making a file`() throws {
        let small = try SmallJournal(files: 1)
        try small.fill(files: 1)
        let first = try #require(try small.log.file(1))
        let end = try first.resolve(upTo: .max)
        // It has come as far as this: it knows where the first file ends, and goes on when the second one is long gone.
        try small.rotate(files: 3)
        small.log.forgetAll(last: 1)
        #expect(try small.log.makeFile(after: end).header.number == 5)
        #expect(try small.files == ["5.log"])
        small.log.forgetAll(last: 1)
        #expect(try small.log.successor(of: first, sealedAt: end.offset).header.number == 5)
    }

    @Test func `are not found in a file that such a member left`() throws {
        let small = try SmallJournal(files: 2)
        try small.fill(files: 1)
        let end = try #require(try small.log.file(1)).resolve(upTo: .max)
        try small.rotate(files: 3)
        #expect(try small.files == ["4.log", "5.log"])
        // It is killed between its rename and its look at what else is there: 3.log is empty.
        let header = SegmentHeader(
            salt: 1, number: 3, base: end.sequence, previousEnd: UInt64(end.offset), capacity: 1 << 16,
            container: small.log.surroundings.container, incarnation: small.log.surroundings.incarnation, created: 0)
        try small.temporary.put("", at: ".group/journal/3.log")
        let file = try small.temporary.open(".group/journal/3.log")
        try file.writeAll(header.encoded())
        try file.setSize(1 << 16)
        small.log.forgetAll(last: 3)
        #expect(try small.log.start().file == 4)
        let sequence = try small.container.status().sequence
        small.log.forgetAll(last: 3)
        #expect(try small.tester.write(bytes: [1], to: "a") == .written(sequence + 1))
        #expect(try small.log.last().header.number == 5)
        try small.rotate()
        #expect(try small.files == ["5.log", "6.log"])
    }

    @Test func `are kept while the repair of a change may have to look for its record there`() throws {
        let small = try SmallJournal(files: 1)
        let operation = small.member.memberTable.makeOperation()
        let change = ChangeRecord(
            .created, path: [0x61], state: nil, isCoordinated: true, operation: operation, processIdentifier: 1,
            purpose: [], time: 0)
        let note = IntentRecord(way: .intoPlace, inode: 1, journalFile: 2, journalOffset: 4_096, change: change)
        try small.rotate()
        let entry = try #require(small.member.memberTable.reservePending())
        try small.member.notes.write(note, entry: entry, of: small.member)
        small.member.memberTable.setPending(entry, block: 1 << 62, operation: operation)
        try small.rotate(files: 3)
        #expect(try small.files == ["2.log", "3.log", "4.log", "5.log"])
        small.member.memberTable.clearPending(entry)
        try small.rotate()
        #expect(try small.files == ["6.log"], "the note alone keeps nothing")
    }

    @Test func `are no place where a move is looked for that happened while a lock was awaited`() throws {
        let small = try SmallJournal(files: 1)
        _ = try small.tester.write(bytes: [1], to: "a")
        let request = AccessRequest(
            [.writing("a")], by: small.container.coordinator(purpose: "late"), operation: "write")
        try small.rotate(files: 3)
        small.log.forgetAll(last: 1)
        #expect(try small.tester.move("a", to: "b") > 0)
        guard case .again(let next) = try request.check(request.resolve()) else {
            Issue.record("the move was not followed")
            return
        }
        #expect(try next.resolve().locations["a"]?.bytes == [0x62])
        #expect(try !small.member.journal.contains(operation: [UInt8](repeating: 7, count: 16), from: request.start))
    }

    @Test func `can be kept by a leader that has read them`() throws {
        let small = try SmallJournal(files: 1)
        try small.fill(files: 2)
        var tree = try JournalView(small.member.journal)
        try tree.catchUp(small.member.journal)
        #expect(try small.member.keepCheckpoint(tree))
        #expect(try small.files == ["3.log"])
        #expect(try !small.member.keepCheckpoint(tree), "nothing is due")
        #expect(try small.member.journal.checkpoint.read()?.header.position == tree.position)
    }
}
