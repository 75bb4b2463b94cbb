import GroupBytes
import TestSupport
import Testing

@testable import GroupLocking

@Suite
struct `Lock plans` {
    private static func range(_ text: String) throws -> LockRange {
        LockRange(path: Array(text.utf8), key: SipHash(key: (5, 6)))
    }

    private static func part(_ text: String, _ mode: LockMode) throws -> LockPlan.Part {
        LockPlan.Part(try range(text), mode)
    }

    @Test func `a lock plan takes each range once, in its strongest mode`() throws {
        let (one, two) = (try Self.range("one"), try Self.range("two"))
        let plan = LockPlan([(one, .shared), (two, .exclusive), (one, .exclusive), (two, .shared), (one, .shared)])
        #expect(plan.parts.count == 2)
        #expect(plan.parts.allSatisfy { $0.mode == .exclusive })
    }

    @Test func `a lock plan of shared locks only stays shared`() throws {
        let one = try Self.range("one")
        #expect(Array(LockPlan([(one, .shared), (one, .shared)]).parts) == [LockPlan.Part(one, .shared)])
        #expect(LockPlan([LockPlan.Part]()).parts.isEmpty)
    }

    @Test func `a lock plan is the same, in ascending order, in whatever order its items are named`() throws {
        var wanted = try (0..<40).map { (item: try Self.range("item-\($0)"), mode: LockMode.exclusive) }
        let plan = LockPlan(wanted)
        #expect(plan.parts.map(\.range) == wanted.map(\.item).sorted { $0.start < $1.start })
        var generator = SeededGenerator(seed: 1)
        for _ in 0..<20 {
            wanted.shuffle(using: &generator)
            #expect(LockPlan(wanted) == plan)
        }
    }

    @Test(arguments: ["a", "a/b", "a/b/c", "a/b/c/d"])
    func `a lock plan takes a directory's lock in place of those below it`(directory: String) throws {
        var wanted = [try Self.part(directory, .tree), try Self.part("elsewhere", .shared)]
        for inner in ["x", "x/y", "x/y/z", "x/y/z/w"] {
            wanted.append(try Self.part("\(directory)/\(inner)", .shared))
        }
        for order in [wanted, wanted.reversed()] {
            let plan = LockPlan(order)
            #expect(plan.parts.count == 2)
            #expect(plan.covers(try Self.part("\(directory)/anything/else", .exclusive)))
            #expect(!plan.covers(try Self.part("elsewhere", .exclusive)))
        }
    }

    @Test func `a lock on a directory itself leaves the items in it to others`() throws {
        let (plain, inside) = (try Self.part("directory", .exclusive), try Self.part("directory/item", .exclusive))
        #expect(!plain.excludes(inside) && !plain.covers(inside))
        let tree = try Self.part("directory", .tree)
        #expect(tree.excludes(inside) && inside.excludes(tree) && tree.covers(inside))
        #expect(tree.excludes(try Self.part("directory/item", .shared)))
        #expect(!inside.covers(tree))
    }

    @Test func `a lock plan knows which modes exclude each other`() throws {
        let (reading, writing) = (try Self.part("item", .shared), try Self.part("item", .exclusive))
        #expect(!reading.excludes(reading) && reading.excludes(writing) && writing.excludes(writing))
        #expect(writing.covers(reading) && !reading.covers(writing))
    }

    @Test func `each part of a lock plan leaves its turnstile once it has the lock`() throws {
        let range = try Self.range("one")
        for mode in [LockMode.shared, .exclusive, .tree] {
            let part = try Self.part("one", mode)
            #expect(part.arrival == .exclusive(start: part.range.start, length: 1))
            #expect(part.passage.last == .release(start: part.range.start, length: 1))
        }
        #expect(try Self.part("one", .shared).passage.first == .shared(start: range.start + 1, length: 1))
        #expect(
            try Self.part("one", .exclusive).passage.first
                == .exclusive(start: range.start + 1, length: LockRange.itemLength - 1))
    }

    @Test func `a lock range knows the directories around its item`() throws {
        let item = try Self.part("a/b/c/d/e", .shared).range
        let directories = try ["a", "a/b", "a/b/c"].map { try Self.part($0, .tree).range }
        #expect(item.enclosing == directories)
        #expect(directories[2].enclosing == Array(directories[..<2]))
        #expect(try Self.part("a/b", .exclusive).range.enclosing == Array(directories[..<2]))
        #expect(directories[0].enclosing.isEmpty)
    }
}
