import GroupSystemCalls
import TestSupport
import Testing

@testable import GroupContainer
@testable import GroupLog
@testable import GroupLocking

@Suite(.timeLimit(.minutes(1)))
struct `Dropped journal segments` {
    /// Returns the paths that a follower gets until there is nothing more.
    private static func rest(of follower: inout Follower<Change>) throws -> [String] {
        var lines: [String] = []
        while let change = try follower.next(timeout: .zero) {
            lines.append(change.kind == .rescan ? "rescan" : String(change.path.description.prefix(5)))
        }
        return lines
    }

    @Test func `old journal segments are dropped once there is a checkpoint`() throws {
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
        #expect(try small.container.status().journalFileCount == 2)
    }

    @Test func `a write that follows a full segment drops the old segments`() throws {
        let small = try SmallJournal(files: 1)
        try small.fill(files: 2)
        #expect(try small.files.count == 3)
        _ = try small.tester.write(bytes: [1], to: "a", durability: .relaxed)
        #expect(try small.files == ["3.log"])
    }

    @Test func `journal segments over the age limit are dropped`() throws {
        let small = try SmallJournal(files: 100, age: .zero)
        try small.rotate(files: 3)
        #expect(try small.files == ["4.log"])
    }

    @Test func `journal segments within the limit stay`() throws {
        let small = try SmallJournal(files: 6)
        try small.rotate(files: 5)
        #expect(try small.files.count == 6)
        var follower = try small.container.recordedChanges(since: .start)
        #expect(try Self.rest(of: &follower).count == Int(small.container.status().sequence.rawValue))
    }

    @Test func `journal segments stay while another member tends the journal, or no checkpoint can be made`() throws {
        let small = try SmallJournal(files: 1)
        let handle = try small.member.lockFile.borrow()
        #expect(try handle.descriptor.tryLock(.exclusive, ByteRange(start: ContainerLock.keeping, length: 1)))
        try small.rotate(files: 2)
        #expect(try small.files.count == 3)
        #expect(!small.exists(".group/checkpoint"))
        small.member.lockFile.giveBack(handle)
        // A directory stands in the way of the file in which the checkpoint is made.
        try small.temporary.run("mkdir", ".group/checkpoint.new")
        try small.rotate()
        #expect(try small.files.count == 4)
        try small.temporary.run("rmdir", ".group/checkpoint.new")
        try small.rotate()
        #expect(try small.files == ["5.log"])
    }

    @Test func `a follower whose cursor is in a dropped segment gets one rescan, then new changes`() throws {
        let small = try SmallJournal(files: 2)
        _ = try small.tester.write(bytes: [1], to: "a")
        let cursor = try small.container.status().cursor
        try small.rotate(files: 5)
        var follower = try small.container.recordedChanges(since: .cursor(cursor))
        #expect(follower.cursor == (try small.container.status().cursor))
        _ = try small.tester.write(bytes: [1], to: "b")
        #expect(try Self.rest(of: &follower) == ["rescan", "b"])
    }

    @Test func `a follower that was too slow gets one rescan, and then new changes`() throws {
        let small = try SmallJournal(files: 2)
        for name in ["a", "b", "c"] { _ = try small.tester.write(bytes: [1], to: ItemPath(name)) }
        var follower = try small.container.recordedChanges(since: .start)
        #expect(try follower.next(timeout: .zero)?.path == "a")
        try small.rotate(files: 5)
        // The dropped segments are not mapped any more, either.
        small.log.forgetAll(last: 1)
        _ = try small.tester.write(bytes: [1], to: "d")
        #expect(try Self.rest(of: &follower) == ["rescan"])
        _ = try small.tester.write(bytes: [1], to: "e")
        #expect(try Self.rest(of: &follower) == ["e"])
    }

    @Test func `a follower that still has only a dropped segment mapped gets one rescan`() throws {
        let small = try SmallJournal(files: 1)
        _ = try small.tester.write(bytes: [1], to: "a")
        var follower = try small.container.recordedChanges(since: .start)
        let first = try #require(try small.log.segment(1))
        try small.rotate(files: 3)
        small.log.forgetAll(last: 4)
        let count = try withExtendedLifetime(first) { try Self.rest(of: &follower) }
        #expect(count == ["rescan"])
    }

    @Test func `a task that follows a journal with dropped segments gets one rescan, and goes on`() async throws {
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

    @Test func `a slow follower within the limit misses no change`() throws {
        let small = try SmallJournal(files: 3)
        _ = try small.tester.write(bytes: [1], to: "a")
        var follower = try small.container.recordedChanges(since: .start)
        var last: UInt64 = 0
        for _ in 0..<6 {
            try small.rotate()
            // The follower is up to a segment and a half behind.
            while last + 30 < (try small.container.status().sequence.rawValue) {
                let change = try #require(try follower.next(timeout: .zero))
                #expect(change.kind != .rescan)
                #expect(change.sequence.rawValue == last + 1)
                last = change.sequence.rawValue
            }
        }
        #expect(last > 250)
    }

    // fault: copied-container
    @Test func `a cursor of a change that was rolled back gives one rescan`() throws {
        let small = try SmallJournal()
        _ = try small.tester.write(bytes: [1], to: "a")
        let before = try small.container.status().cursor
        try small.temporary.run("cp", ".group/journal/1.log", "backup")
        var cursors: [Cursor] = []
        for name in ["b", "c", "d"] {
            _ = try small.tester.write(bytes: [1], to: ItemPath(name))
            cursors.append(try small.container.status().cursor)
        }
        // The file is overwritten in place, as rsync does it.
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

    @Test func `a follower from the start begins with the first segment that is kept`() throws {
        let small = try SmallJournal(files: 2)
        try small.rotate(files: 4)
        let first = try small.log.start()
        #expect(first.segment == 4)
        var follower = try small.container.recordedChanges(since: .start)
        #expect(try follower.next(timeout: .zero)?.sequence.rawValue == first.sequence + 1)
        #expect(try Self.rest(of: &follower).allSatisfy { $0 == "xxxxx" })
    }

    @Test func `a member that was idle appends after its segments were dropped`() throws {
        let small = try SmallJournal(files: 1)
        try small.rotate(files: 4)
        small.log.forgetAll(last: 1)
        let sequence = try small.container.status().sequence.rawValue
        small.log.forgetAll(last: 1)
        #expect(try small.tester.write(bytes: [1], to: "a") == .written(Generation(rawValue: sequence + 1)))
        #expect(try small.files == ["5.log"])
    }

    @Test func `a member that wakes while it makes a segment does not make a dropped one again`() throws {
        let small = try SmallJournal(files: 1)
        try small.fill(files: 1)
        let first = try #require(try small.log.segment(1))
        let end = try first.resolve(upTo: .max)
        // The member has come this far: it knows where the first segment ends, and goes on when the second one is long
        // gone.
        try small.rotate(files: 3)
        small.log.forgetAll(last: 1)
        #expect(try small.log.makeSegment(after: end).header.number == 5)
        #expect(try small.files == ["5.log"])
        small.log.forgetAll(last: 1)
        #expect(try small.log.successor(of: first, sealedAt: end.offset).header.number == 5)
    }

    @Test func `an empty segment that a killed member left among dropped ones is skipped`() throws {
        let small = try SmallJournal(files: 2)
        try small.fill(files: 1)
        let end = try #require(try small.log.segment(1)).resolve(upTo: .max)
        try small.rotate(files: 3)
        #expect(try small.files == ["4.log", "5.log"])
        // The member is killed between its rename and its look at the other segments: 3.log is empty.
        let header = SegmentHeader(
            salt: 1, number: 3, base: end.sequence, previousEnd: UInt64(end.offset), capacity: 1 << 16,
            identity: small.log.configuration.identity, incarnation: small.log.configuration.incarnation, created: 0)
        try small.temporary.put("", at: ".group/journal/3.log")
        let file = try small.temporary.open(".group/journal/3.log")
        try file.writeAll(header.encoded())
        try file.setSize(1 << 16)
        small.log.forgetAll(last: 3)
        #expect(try small.log.start().segment == 4)
        let sequence = try small.container.status().sequence.rawValue
        small.log.forgetAll(last: 3)
        #expect(try small.tester.write(bytes: [1], to: "a") == .written(Generation(rawValue: sequence + 1)))
        #expect(try small.log.last().header.number == 5)
        try small.rotate()
        #expect(try small.files == ["5.log", "6.log"])
    }

    @Test func `journal segments are kept while a repair may have to look for a record in them`() throws {
        let small = try SmallJournal(files: 1)
        let operation = small.member.memberTable.makeOperation()
        let change = ChangeRecord(
            .created, path: [0x61], state: nil, isCoordinated: true, operation: operation, processIdentifier: 1,
            purpose: [], time: 0)
        let record = IntentRecord(way: .intoPlace, inode: 1, journalSegment: 2, journalOffset: 4_096, change: change)
        try small.rotate()
        let entry = try #require(small.member.memberTable.reserveInFlight())
        try small.member.intentFiles.write(
            record, entry: entry, nonce: small.member.memberTable.nonce, in: small.member.directory)
        small.member.memberTable.announce(entry, rangeStart: 1 << 62, operation: operation)
        try small.rotate(files: 3)
        #expect(try small.files == ["2.log", "3.log", "4.log", "5.log"])
        small.member.memberTable.clearInFlight(entry)
        try small.rotate()
        #expect(try small.files == ["6.log"], "the intent record alone keeps nothing")
    }

    @Test func `a request that waited while segments were dropped still finds where its item was moved`() throws {
        let small = try SmallJournal(files: 1)
        _ = try small.tester.write(bytes: [1], to: "a")
        let request = small.container.coordinator(purpose: "late").request(.write("a"))
        try small.rotate(files: 3)
        small.log.forgetAll(last: 1)
        #expect(try small.tester.move("a", to: "b").isChanged)
        guard case .again(let next) = try request.check(request.resolve()) else {
            Issue.record("the move was not followed")
            return
        }
        #expect(try next.resolve().location(of: "a")?.bytes == [0x62])
        #expect(try !small.member.journal.contains(operation: [UInt8](repeating: 7, count: 16), from: request.start))
    }

    @Test func `a leader drops old segments with a checkpoint of what it has read`() throws {
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
