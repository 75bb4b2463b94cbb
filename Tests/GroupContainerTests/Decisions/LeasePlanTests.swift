import TestSupport
import Testing

@testable import GroupContainer

@Suite
struct `A lease plan` {
    private static func block(_ text: String) throws -> LeaseBlock {
        LeaseBlock(try ItemLocation(Array(text.utf8)), key: SipHash(key: (5, 6)))
    }

    private static func part(_ text: String, _ mode: LeaseMode) throws -> LeasePlan.Part {
        LeasePlan.Part(try block(text), mode)
    }

    @Test func `takes each block once, in its strongest mode`() throws {
        let (one, two) = (try Self.block("one"), try Self.block("two"))
        let plan = LeasePlan([(one, .reading), (two, .writing), (one, .writing), (two, .reading), (one, .reading)])
        #expect(plan.parts.count == 2)
        #expect(plan.parts.allSatisfy { $0.mode == .writing })
    }

    @Test func `of readings only stays one`() throws {
        let one = try Self.block("one")
        #expect(Array(LeasePlan([(one, .reading), (one, .reading)]).parts) == [LeasePlan.Part(one, .reading)])
        #expect(LeasePlan([LeasePlan.Part]()).parts.isEmpty)
    }

    @Test func `is the same, ascending, in whatever order its items were named`() throws {
        var wanted = try (0..<40).map { (block: try Self.block("item-\($0)"), mode: LeaseMode.writing) }
        let plan = LeasePlan(wanted)
        #expect(plan.parts.map(\.span) == wanted.map(\.block).sorted().map(\.span))
        var generator = SeededGenerator(seed: 1)
        for _ in 0..<20 {
            wanted.shuffle(using: &generator)
            #expect(LeasePlan(wanted) == plan)
        }
    }

    @Test(arguments: ["a", "a/b", "a/b/c", "a/b/c/d"])
    func `takes a folder for all that is below it`(folder: String) throws {
        var wanted = [try Self.part(folder, .structural), try Self.part("elsewhere", .reading)]
        for inner in ["x", "x/y", "x/y/z", "x/y/z/w"] { wanted.append(try Self.part("\(folder)/\(inner)", .reading)) }
        for order in [wanted, wanted.reversed()] {
            let plan = LeasePlan(order)
            #expect(plan.parts.count == 2)
            #expect(plan.covers(try Self.part("\(folder)/anything/else", .writing)))
            #expect(!plan.covers(try Self.part("elsewhere", .writing)))
        }
    }

    @Test func `of a folder alone leaves what is in it to others`() throws {
        let (plain, inside) = (try Self.part("folder", .writing), try Self.part("folder/item", .writing))
        #expect(!plain.excludes(inside) && !plain.covers(inside))
        let structural = try Self.part("folder", .structural)
        #expect(structural.excludes(inside) && inside.excludes(structural) && structural.covers(inside))
        #expect(structural.excludes(try Self.part("folder/item", .reading)))
        #expect(!inside.covers(structural))
    }

    @Test func `knows which modes go together`() throws {
        let (reading, writing) = (try Self.part("item", .reading), try Self.part("item", .writing))
        #expect(!reading.excludes(reading) && reading.excludes(writing) && writing.excludes(writing))
        #expect(writing.covers(reading) && !reading.covers(writing))
    }

    @Test func `has each leave the turnstile once the lock is there`() throws {
        let span = try Self.block("one").span
        for mode in [LeaseMode.reading, .writing, .structural] {
            let part = try Self.part("one", mode)
            #expect(part.arrival == .exclusive(start: part.span.start, length: 1))
            #expect(part.passage.last == .release(start: part.span.start, length: 1))
        }
        #expect(try Self.part("one", .reading).passage.first == .shared(start: span.start + 1, length: 1))
        #expect(
            try Self.part("one", .writing).passage.first
                == .exclusive(start: span.start + 1, length: LeaseBlock.length - 1))
    }

    @Test func `finds the folders whose turnstiles an item lies behind`() throws {
        let item = try Self.part("a/b/c/d/e", .reading).span
        let folders = try ["a", "a/b", "a/b/c"].map { try Self.part($0, .structural).span }
        #expect(item.enclosing == folders)
        #expect(folders[2].enclosing == Array(folders[..<2]))
        #expect(try Self.part("a/b", .writing).span.enclosing == Array(folders[..<2]))
        #expect(folders[0].enclosing.isEmpty)
    }
}
