import TestSupport
import Testing

@testable import GroupContainer

@Suite
struct `A lock plan` {
    private static func range(_ text: String) throws -> LockRange {
        LockRange(try ItemLocation(Array(text.utf8)), key: SipHash(key: (5, 6)))
    }

    private static func part(_ text: String, _ mode: LockMode) throws -> LockPlan.Part {
        LockPlan.Part(try range(text), mode)
    }

    @Test func `takes each block once, in its strongest mode`() throws {
        let (one, two) = (try Self.range("one"), try Self.range("two"))
        let plan = LockPlan([(one, .reading), (two, .writing), (one, .writing), (two, .reading), (one, .reading)])
        #expect(plan.parts.count == 2)
        #expect(plan.parts.allSatisfy { $0.mode == .writing })
    }

    @Test func `of readings only stays one`() throws {
        let one = try Self.range("one")
        #expect(Array(LockPlan([(one, .reading), (one, .reading)]).parts) == [LockPlan.Part(one, .reading)])
        #expect(LockPlan([LockPlan.Part]()).parts.isEmpty)
    }

    @Test func `is the same, ascending, in whatever order its items were named`() throws {
        var wanted = try (0..<40).map { (item: try Self.range("item-\($0)"), mode: LockMode.writing) }
        let plan = LockPlan(wanted)
        #expect(plan.parts.map(\.range) == wanted.map(\.item).sorted { $0.start < $1.start })
        var generator = SeededGenerator(seed: 1)
        for _ in 0..<20 {
            wanted.shuffle(using: &generator)
            #expect(LockPlan(wanted) == plan)
        }
    }

    @Test(arguments: ["a", "a/b", "a/b/c", "a/b/c/d"])
    func `takes a directory for all that is below it`(directory: String) throws {
        var wanted = [try Self.part(directory, .structural), try Self.part("elsewhere", .reading)]
        for inner in ["x", "x/y", "x/y/z", "x/y/z/w"] {
            wanted.append(try Self.part("\(directory)/\(inner)", .reading))
        }
        for order in [wanted, wanted.reversed()] {
            let plan = LockPlan(order)
            #expect(plan.parts.count == 2)
            #expect(plan.covers(try Self.part("\(directory)/anything/else", .writing)))
            #expect(!plan.covers(try Self.part("elsewhere", .writing)))
        }
    }

    @Test func `of a directory alone leaves what is in it to others`() throws {
        let (plain, inside) = (try Self.part("directory", .writing), try Self.part("directory/item", .writing))
        #expect(!plain.excludes(inside) && !plain.covers(inside))
        let structural = try Self.part("directory", .structural)
        #expect(structural.excludes(inside) && inside.excludes(structural) && structural.covers(inside))
        #expect(structural.excludes(try Self.part("directory/item", .reading)))
        #expect(!inside.covers(structural))
    }

    @Test func `knows which modes go together`() throws {
        let (reading, writing) = (try Self.part("item", .reading), try Self.part("item", .writing))
        #expect(!reading.excludes(reading) && reading.excludes(writing) && writing.excludes(writing))
        #expect(writing.covers(reading) && !reading.covers(writing))
    }

    @Test func `has each leave the turnstile once the lock is there`() throws {
        let range = try Self.range("one")
        for mode in [LockMode.reading, .writing, .structural] {
            let part = try Self.part("one", mode)
            #expect(part.arrival == .exclusive(start: part.range.start, length: 1))
            #expect(part.passage.last == .release(start: part.range.start, length: 1))
        }
        #expect(try Self.part("one", .reading).passage.first == .shared(start: range.start + 1, length: 1))
        #expect(
            try Self.part("one", .writing).passage.first
                == .exclusive(start: range.start + 1, length: LockRange.itemLength - 1))
    }

    @Test func `finds the directories whose turnstiles an item lies behind`() throws {
        let item = try Self.part("a/b/c/d/e", .reading).range
        let directories = try ["a", "a/b", "a/b/c"].map { try Self.part($0, .structural).range }
        #expect(item.enclosing == directories)
        #expect(directories[2].enclosing == Array(directories[..<2]))
        #expect(try Self.part("a/b", .writing).range.enclosing == Array(directories[..<2]))
        #expect(directories[0].enclosing.isEmpty)
    }
}
