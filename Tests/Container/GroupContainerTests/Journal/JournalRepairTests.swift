import GroupSystemCalls
import TestSupport
import Testing

@testable import GroupContainer
@testable import GroupLog

@Suite(.timeLimit(.minutes(1)))
struct `Damaged journals` {
    /// Makes five changes, of "0" to "4", and flips a bit in the third change's record.
    private static func damaged(at place: Int) throws -> SmallJournal {
        let small = try SmallJournal(files: 4)
        var places: [LogPosition] = []
        for number in 0..<5 {
            places.append(try small.log.end())
            _ = try small.tester.write(bytes: [1], to: "\(number)")
        }
        try small.flipBit(of: ".group/journal/1.log", at: places[2].offset + place)
        return small
    }

    private static let (header, body) = (3, 40)

    /// Returns the paths, rescans and error codes that a follower gets.
    private static func all(of follower: inout Follower<Change>) -> [String] {
        var lines: [String] = []
        while lines.count < 100 {
            do {
                guard let change = try follower.next(timeout: .zero) else { return lines }
                lines.append(change.kind == .rescan ? "rescan" : change.path.description)
            } catch {
                lines.append(error.code.rawValue)
            }
        }
        return lines
    }

    private static func all(_ small: SmallJournal, since origin: ChangeOrigin = .start) throws -> [String] {
        var follower = try small.container.recordedChanges(since: origin)
        return all(of: &follower)
    }

    // fault: flipped-bit
    @Test func `a follower of a damaged journal gets one error and one rescan, and goes on`() throws {
        let small = try Self.damaged(at: Self.body)
        var follower = try small.container.recordedChanges(since: .start)
        #expect(Self.all(of: &follower) == ["0", "1", "damaged", "rescan"])
        _ = try small.tester.write(bytes: [1], to: "new")
        #expect(Self.all(of: &follower) == ["new"])
    }

    // fault: flipped-bit
    @Test func `a task that follows a damaged journal gets one error and one rescan`() async throws {
        let small = try Self.damaged(at: Self.body)
        var changes = small.container.changes(since: .start).makeAsyncIterator()
        #expect(try await changes.next()?.path == "0")
        #expect(try await changes.next()?.path == "1")
        await #expect(throws: CoordinationError.self) { try await changes.next() }
        #expect(try await changes.next()?.kind == .rescan)
    }

    // fault: flipped-bit
    @Test func `a journal whose end cannot be found continues in the next segment`() throws {
        let small = try Self.damaged(at: Self.header)
        // One member has read past the damage before, and one has not.
        let cursor = try small.container.status().cursor
        small.log.forgetAll(last: 1)
        guard let generation = try small.tester.write(bytes: [1], to: "new").generation else {
            Issue.record("it was not written")
            return
        }
        #expect(try small.files == ["1.log", "2.log"])
        #expect(generation > 5, "no number is given twice")
        #expect(try Self.all(small) == ["0", "1", "rescan", "new"])
        #expect(try Self.all(small, since: .cursor(cursor)) == ["rescan"])
        #expect(try small.tester.write(bytes: [2], to: "new") == .written(generation + 1))
        // Generations come from the items as they are now.
        #expect(try small.tester.generation(of: "new") == generation + 1)
        #expect(try small.tester.generation(of: "4").map { $0 > generation } == true)
        #expect(try small.tester.generation(of: "1") == 2)
    }

    // fault: flipped-bit
    @Test func `a member that has read past the damage moves on once another member has cut the journal`() throws {
        let small = try Self.damaged(at: Self.header)
        var ahead = try small.container.recordedChanges(since: .now)
        let file = try small.log.last()
        // The member has resolved all records, so it does not look at the broken one.
        #expect(try file.resolve(upTo: .max).sequence == 5)
        #expect(try small.tester.write(bytes: [1], to: "ahead") == .written(6))
        #expect(Self.all(of: &ahead) == ["ahead"])
        file.cut(at: try #require(file.firstBroken))
        _ = try small.tester.write(bytes: [1], to: "new")
        #expect(try small.log.last().header.number == 2)
        #expect(Self.all(of: &ahead) == ["rescan"])
        #expect(try Self.all(small) == ["0", "1", "rescan", "new"])
    }

    // fault: flipped-bit
    @Test func `a journal view appends only at the place up to which it has read, also beyond a cut`() throws {
        let small = try Self.damaged(at: Self.header)
        small.log.forgetAll(last: 1)
        var tree = JournalView(beginningAt: try small.log.start())
        #expect(code { try tree.catchUp(small.member.journal) } == .damaged)
        let record = ChangeRecord(
            .created, path: [0x63], state: nil, isCoordinated: false, processIdentifier: 0, purpose: [], time: 0)
        #expect(try tree.append(record, to: small.member.journal))
        #expect(tree.position.segment == 2)
        #expect(try Self.all(small) == ["0", "1", "rescan", "c"])
    }

    @Test func `a damaged cut mark counts as no cut, and a cut only ever moves earlier`() throws {
        let small = try Self.damaged(at: Self.header)
        let file = try small.log.last()
        file.cut(at: try #require(file.firstBroken))
        #expect(file.cut != nil)
        try small.flipBit(of: ".group/journal/1.log", at: SegmentHeader.cut + 1)
        #expect(file.cut == nil)
        file.cut(at: 8_192)
        #expect(file.cut == 8_192)
        file.cut(at: 5_000 / 8 * 8)
        file.cut(at: 16_384)
        #expect(file.cut == 5_000 / 8 * 8, "only ever earlier")
    }

    // fault: flipped-bit
    @Test(arguments: [header, body])
    func `repairing a damaged journal keeps what is before the damage, and followers get a rescan`(place: Int) throws {
        let small = try Self.damaged(at: place)
        var beginning = try small.container.recordedChanges(since: .start)
        let first = try #require(try beginning.next(timeout: .zero)).cursor
        let last = try small.container.status().cursor
        #expect(
            try small.member.checkJournal().map(\.item) == [".group/journal/1.log", ".group/journal/1.log"].suffix(1))
        let found = try small.member.repairJournal()
        #expect(found.map(\.code) == [.damaged] && found[0].item == ".group/journal/1.log")
        #expect(try small.member.checkJournal() == [])
        #expect(try small.member.repairJournal() == [])
        #expect(try Self.all(small) == ["0", "1", "rescan"])
        #expect(try Self.all(small, since: .cursor(first)) == ["1", "rescan"])
        #expect(try Self.all(small, since: .cursor(last)) == ["rescan"])
        _ = try small.tester.write(bytes: [1], to: "new")
        #expect(try Self.all(small, since: .cursor(first)) == ["1", "rescan", "new"])
        #expect(try small.tester.generation(of: "1") == 2)
        #expect(try small.tester.generation(of: "3").map { $0 > 5 } == true)
    }

    // fault: flipped-bit
    @Test func `repairing a journal works for damage in an older segment`() throws {
        let small = try Self.damaged(at: Self.body)
        try small.fill(files: 2)
        #expect(try small.member.repairJournal().count == 1)
        #expect(try small.files == ["1.log", "2.log", "3.log"])
        let lines = try Self.all(small)
        #expect(lines.prefix(3) == ["0", "1", "rescan"])
        #expect(lines.count > 60 && lines.filter { $0 == "rescan" }.count == 1)
    }

    // fault: flipped-bit, empty-metadata
    @Test(arguments: [true, false])
    func `repairing a journal without a usable checkpoint gives every follower a rescan`(isGone: Bool) throws {
        let small = try SmallJournal(files: 1)
        _ = try small.tester.write(bytes: [1], to: "a")
        try small.rotate(files: 3)
        let cursor = try small.container.status().cursor
        try small.temporary.put("", at: ".group/checkpoint")
        if isGone { try small.temporary.run("rm", ".group/checkpoint") }
        #expect(code { try small.tester.generation(of: "a") } == .damaged)
        #expect(try small.member.repairJournal().map(\.item) == [".group/checkpoint"])
        #expect(try Self.all(small, since: .cursor(cursor)) == ["rescan"])
        #expect(try small.tester.generation(of: "a").map { $0.rawValue > cursor.sequence.rawValue } == true)
        #expect(try small.member.checkJournal() == [])
    }

    // fault: flipped-bit, empty-metadata
    @Test(arguments: [true, false])
    func `repairing a journal works where a segment cannot be read at all`(isLast: Bool) throws {
        let small = try SmallJournal(files: 4)
        _ = try small.tester.write(bytes: [1], to: "a")
        try small.rotate(files: 2)
        let before = try small.container.status().sequence.rawValue
        try small.flipBit(of: ".group/journal/\(isLast ? 3 : 2).log", at: 20)
        small.log.forgetAll(last: 3)
        #expect(try !small.member.checkJournal().isEmpty)
        #expect(try !small.member.repairJournal().isEmpty)
        #expect(try small.member.checkJournal() == [])
        guard let generation = try small.tester.write(bytes: [2], to: "a").generation else {
            Issue.record("it was not written")
            return
        }
        #expect(generation.rawValue > before)
        #expect(try small.tester.generation(of: "a") == generation)
        let changes = try Self.all(small)
        #expect(changes.last == "a", "\(changes)")
    }

    @Test func `a reader ends at a segment that does not lead to the next one, and the doctor names it`() throws {
        let small = try SmallJournal(files: 4)
        let start = try small.log.start()
        try small.rotate(files: 2)
        // The second segment is empty, and the third one ends it behind its first page: no process uses it.
        let (second, third) = (
            try #require(try small.log.segment(2)).header, try #require(try small.log.segment(3)).header
        )
        #expect(third.previousEnd > UInt64(SegmentHeader.size))
        try small.temporary.put("", at: ".group/journal/2.log")
        let file = try small.temporary.open(".group/journal/2.log")
        try file.writeAll(second.encoded())
        try file.setSize(Int(second.capacity))
        small.log.forgetAll(last: 3)
        let operation = [UInt8](repeating: 7, count: 16)
        let error = #expect(throws: CoordinationError.self) {
            try small.member.journal.contains(operation: operation, from: start)
        }
        #expect(error?.code == .damaged)
        #expect(error?.item == ".group/journal/1.log")
        var tree = JournalView(beginningAt: start)
        try tree.catchUp(small.member.journal)
        #expect(try small.member.checkJournal().map(\.item).contains(".group/journal/2.log"))
        #expect(try !small.member.repairJournal().isEmpty)
        #expect(try small.member.checkJournal() == [])
        #expect(try small.tester.write(bytes: [1], to: "new").generation != nil)
    }
}

/// In a process of its own: a child that another test is about to start has copies of all descriptors until it calls
/// `exec`, and with them the locks by which a member is alive. A member that has left would not be gone.
@Suite(.timeLimit(.minutes(2)), .tags(.process))
struct `Journals damaged before a boot` {
    // fault: hole-in-log, flipped-bit
    @Test func `a container whose journal is damaged after a boot opens once it was repaired`() async {
        await #expect(processExitsWith: .success) {
            limitLifetime()
            let temporary = try TemporaryDirectory()
            let path = Array(temporary.path.utf8)
            do {
                let container = try Container(path: temporary.path, creating: true)
                for number in 0..<5 {
                    _ = try container.coordinator(purpose: "tester").blocking.write(bytes: [1], to: "\(number)")
                }
            }
            let log = try WritableMap(temporary.open(".group/journal/1.log"), size: 4 << 20)
            log.write([log.bytes(4_140, count: 1)[0] ^ 1], at: 4_140)
            // The member table gets the identifier of another boot: no real one has an x.
            let memberTable = try WritableMap(temporary.open(".group/members"), size: 4_096)
            memberTable.write([UInt8(ascii: "x")], at: 32)
            #expect(code { try Container(path: temporary.path) } == .damaged)
            do {
                _ = try Membership.join(path: path, creating: nil, until: .never, repairing: true)
            }
            let container = try Container(path: temporary.path)
            #expect(try container.coordinator(purpose: "tester").blocking.generation(of: "4").map { $0 > 5 } == true)
        }
    }
}
