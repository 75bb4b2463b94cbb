import Testing

@testable import GroupContainer

@Suite
struct `A lease plan` {
    private static func block(_ text: String) throws -> LeaseBlock {
        LeaseBlock(try ItemLocation(Array(text.utf8)), key: SipHash(key: (5, 6)))
    }

    @Test func `takes each block once, in its strongest mode`() throws {
        let (one, two) = (try Self.block("one"), try Self.block("two"))
        let plan = LeasePlan([(one, .reading), (two, .writing), (one, .writing), (two, .reading), (one, .reading)])
        #expect(plan.parts.count == 2)
        #expect(plan.parts.allSatisfy { $0.mode == .writing })
    }

    @Test func `of readings only stays one`() throws {
        let one = try Self.block("one")
        #expect(LeasePlan([(one, .reading), (one, .reading)]).parts == [LeasePlan.Part(block: one, mode: .reading)])
        #expect(LeasePlan([]).parts.isEmpty)
    }

    @Test func `is the same, ascending, in whatever order its items were named`() throws {
        var wanted = try (0..<40).map { (block: try Self.block("item-\($0)"), mode: LeaseMode.writing) }
        let plan = LeasePlan(wanted)
        #expect(plan.parts.map(\.block) == wanted.map(\.block).sorted())
        var generator = SeededGenerator(seed: 1)
        for _ in 0..<20 {
            wanted.shuffle(using: &generator)
            #expect(LeasePlan(wanted) == plan)
        }
    }

    @Test func `has a writer pass the turnstile and keep it`() throws {
        let one = try Self.block("one")
        #expect(
            LeasePlan([(one, .writing)]).steps(from: 0) == [
                .exclusive(start: one.turnstile, length: 1),
                .exclusive(start: one.start, length: LeaseBlock.length),
            ])
    }

    @Test func `has a reader pass the turnstile and give it back`() throws {
        let one = try Self.block("one")
        #expect(
            LeasePlan([(one, .reading)]).steps(from: 0) == [
                .exclusive(start: one.turnstile, length: 1), .shared(start: one.lock, length: 1),
                .release(start: one.turnstile, length: 1),
            ])
    }

    @Test func `waits only for the parts from the first refused one on`() throws {
        let plan = LeasePlan([(try Self.block("one"), .writing), (try Self.block("two"), .reading)])
        #expect(plan.steps(from: 0).suffix(plan.steps(from: 1).count) == plan.steps(from: 1)[...])
        #expect(plan.steps(from: 0).count == 5)
        #expect(plan.steps(from: 2).isEmpty)
    }
}
