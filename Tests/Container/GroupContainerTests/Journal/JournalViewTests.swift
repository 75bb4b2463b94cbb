import GroupSystemCalls
import TestSupport
import Testing

@testable import GroupContainer
@testable import GroupLog

@Suite(.timeLimit(.minutes(1)))
struct `Journal views` {
    /// Makes items whose records the journal no longer has.
    private static func checkpointed() throws -> SmallJournal {
        let small = try SmallJournal()
        _ = try small.tester.write(bytes: [1], to: "a")
        _ = try small.tester.write(bytes: [1], to: "d/b")
        try small.rotate(files: 4)
        #expect(try small.log.segmentNumbers().first.map { $0 > 1 } == true)
        return small
    }

    private static func place(_ path: String) throws -> ItemLocation { try ItemLocation(Array(path.utf8)) }

    private static func fresh(_ small: SmallJournal, forLookingUp: Bool) throws -> JournalView {
        let journal = small.member.journal
        var tree = try forLookingUp ? JournalView(forLookingUpIn: journal) : JournalView(journal)
        try tree.catchUp(journal)
        return tree
    }

    @Test(arguments: [true, false])
    func `a journal view contains items from the checkpoint and from the records behind it`(forLookingUp: Bool) throws {
        let small = try Self.checkpointed()
        _ = try small.tester.write(bytes: [2], to: "c")
        _ = try small.tester.move("d", to: "e")
        let tree = try Self.fresh(small, forLookingUp: forLookingUp)
        let whole = try small.member.recordedTree()
        #expect(try tree.item(at: Self.place("a"))?.generation == 1)
        #expect(try tree.item(at: Self.place("d/b")) == nil)
        #expect(try tree.item(at: Self.place("e/b"))?.generation == 3)
        #expect(try tree.item(at: Self.place("c"))?.state.inode == small.temporary.status(of: "c").inode)
        #expect(whole.treeIndex.count == 4)
        #expect(try tree.item(at: Self.place("e")) == whole.item(at: Self.place("e")))
    }

    @Test func `a view for lookups becomes one of all items where directories with much in them are moved often`()
        throws
    {
        let small = try Self.checkpointed()
        let journal = small.member.journal
        var tree = try JournalView(forLookingUpIn: journal, mostWork: 20)
        for number in 0..<6 { _ = try small.tester.write(bytes: [2], to: "d/\(number)") }
        for number in 0..<3 { _ = try small.tester.move("d/\(number)", to: "d/moved-\(number)") }
        try tree.catchUp(journal)
        #expect(tree.isForLookingUp, "a file has nothing in it")
        var name = "d"
        for number in 0..<6 {
            _ = try small.tester.move(ItemPath(name), to: "d\(number)")
            name = "d\(number)"
        }
        _ = try small.tester.remove("\(name)/5")
        try tree.catchUp(journal)
        #expect(!tree.isForLookingUp)
        let whole = try small.member.recordedTree()
        for path in ["a", name, "\(name)/b", "\(name)/3", "\(name)/moved-2"] {
            #expect(try tree.item(at: Self.place(path)) != nil, "\(path)")
            #expect(try tree.item(at: Self.place(path)) == whole.item(at: Self.place(path)), "\(path)")
        }
        for path in ["d", "d/b", "d4/b", "\(name)/5", "\(name)/2"] {
            #expect(try tree.item(at: Self.place(path)) == nil)
        }
        // It reads on.
        _ = try small.tester.move(ItemPath(name), to: "e")
        try tree.catchUp(journal)
        #expect(try tree.item(at: Self.place("e/b")) == small.member.recordedTree().item(at: Self.place("e/b")))
    }

    @Test func `generations of items come from the checkpoint after their records are gone`() throws {
        let small = try Self.checkpointed()
        #expect(try small.tester.generation(of: "a") == 1)
        #expect(code { try small.tester.write(bytes: [3], to: "a", if: .generation(2)) } == .conflict)
        guard let generation = try small.tester.write(bytes: [3], to: "a", if: .generation(1)).generation else {
            Issue.record("it was not written")
            return
        }
        #expect(try small.tester.generation(of: "a") == generation)
        #expect(try small.container.status().sequence.rawValue == generation.rawValue)
    }

    @Test(arguments: [true, false])
    func `a journal view goes on from the checkpoint after its place has been dropped`(forLookingUp: Bool) throws {
        let small = try SmallJournal()
        _ = try small.tester.write(bytes: [1], to: "a")
        var tree = try Self.fresh(small, forLookingUp: forLookingUp)
        let old = tree.position
        try small.rotate(files: 5)
        _ = try small.tester.write(bytes: [1], to: "b")
        // The dropped segment is not even mapped any more.
        small.log.forgetAll(last: 1)
        try tree.catchUp(small.member.journal)
        #expect(try small.log.segmentNumbers().first.map { $0 > old.segment } == true)
        #expect(try tree.item(at: Self.place("a"))?.generation == 1)
        #expect(try tree.item(at: Self.place("b")) != nil)
        let record = ChangeRecord(
            .created, path: [0x63], state: nil, isCoordinated: false, processIdentifier: 0, purpose: [], time: 0)
        #expect(try tree.append(record, to: small.member.journal))
        var late = JournalView(beginningAt: old)
        #expect(try !late.append(record, to: small.member.journal))
    }

    @Test func `a journal view is read from the first record as long as it is kept, whatever the checkpoint`() throws {
        let small = try SmallJournal(files: 16)
        _ = try small.tester.write(bytes: [1], to: "a")
        try small.rotate()
        try small.temporary.put("nonsense", at: ".group/checkpoint")
        for forLookingUp in [true, false] {
            #expect(try Self.fresh(small, forLookingUp: forLookingUp).item(at: Self.place("a"))?.generation == 1)
        }
    }

    // fault: flipped-bit, empty-metadata, unknown-data
    @Test(arguments: ["empty", "cut", "flipped", "newer", "gone", "directory"])
    func `a journal view without a checkpoint and the first record is an error`(damage: String) throws {
        let small = try Self.checkpointed()
        switch damage {
        case "empty": try small.temporary.put("", at: ".group/checkpoint")
        case "cut": try small.temporary.open(".group/checkpoint").setSize(300)
        case "flipped": try small.flipBit(of: ".group/checkpoint", at: 40)
        case "newer": try small.flipBit(of: ".group/checkpoint", at: 8)
        case "directory": try small.temporary.run("sh", "-c", "rm .group/checkpoint; mkdir .group/checkpoint")
        default: try small.temporary.run("rm", ".group/checkpoint")
        }
        for forLookingUp in [true, false] {
            let error = #expect(throws: CoordinationError.self) { try Self.fresh(small, forLookingUp: forLookingUp) }
            #expect(error?.code == (damage == "newer" ? .newerFormat : .damaged), "\(damage)")
            #expect(error?.item == ".group/checkpoint")
        }
        #expect(try small.tester.write(bytes: [7], to: "a") != .unchanged, "what needs no generation goes on")
        #expect(try !small.member.checkJournal().isEmpty)
    }

    // fault: flipped-bit
    @Test func `a damaged checkpoint entry is an error for its item`() throws {
        let small = try Self.checkpointed()
        let size = Int(try small.temporary.status(of: ".group/checkpoint").size)
        // A bit of the last entry's path, which is "d/b".
        try small.flipBit(of: ".group/checkpoint", at: size - 9)
        let error = #expect(throws: CoordinationError.self) { try small.member.recordedItem(at: Self.place("d/b")) }
        #expect(error?.item == ".group/checkpoint")
    }

    // fault: copied-container
    @Test func `a checkpoint of another history is refused`() throws {
        let small = try SmallJournal()
        _ = try small.tester.write(bytes: [1], to: "a")
        try small.rotate(files: 4)
        let other = try SmallJournal()
        try other.rotate(files: 4)
        try small.temporary.run("cp", other.temporary.path + "/.group/checkpoint", ".group/checkpoint")
        #expect(code { try Self.fresh(small, forLookingUp: false) } == .damaged)
    }

    @Test func `a journal view of a place before the checkpoint needs all records from the first on`() throws {
        let small = try SmallJournal()
        _ = try small.tester.write(bytes: [1], to: "a")
        let place = try small.log.end()
        _ = try small.tester.write(bytes: [1], to: "b")
        try small.member.writeCheckpoint(try Self.fresh(small, forLookingUp: false))
        let tree = try #require(try JournalView(small.member.journal, at: place))
        #expect(try tree.item(at: Self.place("a"))?.generation == 1)
        #expect(try tree.item(at: Self.place("b")) == nil)
        try small.rotate(files: 4)
        #expect(try JournalView(small.member.journal, at: place) == nil)
    }

    // fault: copied-container
    @Test func `a checkpoint from a time that was rolled back is refused`() throws {
        let small = try SmallJournal()
        try small.rotate(files: 4)
        try small.temporary.run("cp", "-r", ".group/journal", "backup")
        try small.rotate(files: 3)
        try small.temporary.run("sh", "-c", "rm .group/journal/*.log; cp backup/*.log .group/journal")
        small.log.forgetAll(last: 5)
        // The new segments have the same numbers and lengths; no checkpoint is made, as none can be read.
        try small.fill(files: 4)
        #expect(try small.log.segment(8)?.header.number == 8)
        for forLookingUp in [true, false] {
            #expect(code { try Self.fresh(small, forLookingUp: forLookingUp) } == .damaged)
        }
    }

    // fault: copied-container
    @Test func `a checkpoint beyond the journal's end is refused`() throws {
        let small = try SmallJournal()
        try small.rotate(files: 4)
        try small.temporary.run("cp", "-r", ".group/journal", "backup")
        try small.rotate(files: 4)
        // The journal is restored, and the checkpoint is not.
        try small.temporary.run("sh", "-c", "rm .group/journal/*.log; cp backup/*.log .group/journal")
        small.log.forgetAll(last: 5)
        #expect(code { try Self.fresh(small, forLookingUp: false) } == .damaged)
        #expect(code { try Self.fresh(small, forLookingUp: true) } == .damaged)
    }
}
