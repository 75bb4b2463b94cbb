import Testing

@testable import GroupContainer

@Suite
struct `A wait graph` {
    private typealias Claim = WaitGraph.Claim

    private static func claim(
        _ chain: UInt64, _ stage: Claim.Stage, _ path: String, _ mode: LockMode = .writing, ticket: UInt64 = 0,
        member: Int? = nil, order: UInt64 = 1
    ) throws -> Claim {
        let block = LockRange(try ItemLocation(Array(path.utf8)), key: SipHash(key: (1, 2)))
        return Claim(
            member: member ?? Int(chain), chain: chain, ticket: ticket, order: stage == .held ? 0 : order, stage: stage,
            part: LockPlan.Part(block, mode))
    }

    /// The chains that give up, each a member of its own.
    private static func givingUp(_ claims: [Claim]) -> [UInt64] {
        let graph = WaitGraph(claims)
        let waits = Dictionary(grouping: claims.filter { $0.stage != .held }) { $0.chain }
        return waits.filter { chain, claims in
            graph.outlook(
                member: claims[0].member, chain: chain, ticket: claims.map(\.ticket).max() ?? 0) == .circle
        }.keys.sorted()
    }

    @Test func `has the one give up that closed the circle`() throws {
        for (first, second) in [(1, 2), (2, 1)] as [(UInt64, UInt64)] {
            let circle = try [
                Self.claim(1, .held, "a"), Self.claim(1, .queued, "b", ticket: first), Self.claim(2, .held, "b"),
                Self.claim(2, .queued, "a", ticket: second),
            ]
            #expect(Self.givingUp(circle) == [first == 2 ? 1 : 2])
        }
    }

    @Test func `of three finds the circle, and only its last`() throws {
        let circle = try [
            Self.claim(1, .held, "a"), Self.claim(1, .queued, "b", ticket: 7), Self.claim(2, .held, "b"),
            Self.claim(2, .wanted, "c", ticket: 9), Self.claim(3, .held, "c"),
            Self.claim(3, .queued, "a", ticket: 8),
        ]
        #expect(Self.givingUp(circle) == [2])
    }

    @Test func `leaves it to one whose ticket is not drawn yet`() throws {
        let circle = try [
            Self.claim(1, .held, "a"), Self.claim(1, .queued, "b", ticket: 5), Self.claim(2, .held, "b"),
            Self.claim(2, .queued, "a", ticket: 0),
        ]
        #expect(Self.givingUp(circle) == [])
        // It may have been drawn, and not be written yet.
        #expect(WaitGraph(circle).outlook(member: 1, chain: 1, ticket: 5) == .open)
        let line = try circle + [Self.claim(3, .queued, "z", ticket: 6)]
        #expect(WaitGraph(line).outlook(member: 3, chain: 3, ticket: 6) == .noCircle)
    }

    @Test func `lets readers share, and those wait who only wait`() throws {
        let fine = try [
            Self.claim(1, .held, "a", .reading), Self.claim(1, .queued, "b", ticket: 1), Self.claim(2, .held, "b"),
            Self.claim(2, .queued, "a", .reading, ticket: 2), Self.claim(3, .queued, "a", ticket: 3),
            Self.claim(4, .queued, "b", ticket: 4),
        ]
        #expect(Self.givingUp(fine) == [])
    }

    @Test func `sees who waits behind one that waits`() throws {
        // A writer (2) waits for a reader (1); a reader (3) stands behind the writer; the first waits for the last.
        let circle = try [
            Self.claim(1, .held, "a", .reading), Self.claim(2, .queued, "a", .writing, ticket: 1),
            Self.claim(3, .held, "b"), Self.claim(3, .queued, "a", .reading, ticket: 2),
            Self.claim(1, .queued, "b", .reading, ticket: 3),
        ]
        #expect(Self.givingUp(circle) == [1])
        // Not behind one that comes later.
        let fine = circle.map { claim in
            var claim = claim
            if claim.chain == 2 { claim.ticket = 9 }
            return claim
        }
        #expect(Self.givingUp(fine) == [])
    }

    @Test func `sees a directory in an item's way`() throws {
        let circle = try [
            Self.claim(1, .held, "a/b"), Self.claim(1, .queued, "c", ticket: 1), Self.claim(2, .held, "c"),
            Self.claim(2, .queued, "a", .structural, ticket: 2),
        ]
        #expect(Self.givingUp(circle) == [2])
    }

    @Test func `of one process has nested requests wait for earlier ones, whatever their tickets`() throws {
        let circle = try [
            Self.claim(1, .held, "a", member: 1), Self.claim(1, .wanted, "x", ticket: 5, member: 1, order: 1),
            Self.claim(1, .queued, "y", ticket: 5, member: 1, order: 1),
            Self.claim(2, .held, "y", member: 1), Self.claim(2, .wanted, "x", .reading, ticket: 4, member: 1, order: 2),
        ]
        #expect(Self.givingUp(circle) == [1])
    }
}

@Suite
struct `A nested request` {
    private static func part(_ path: String, _ mode: LockMode) throws -> LockPlan.Part {
        LockPlan.Part(LockRange(try ItemLocation(Array(path.utf8)), key: SipHash(key: (1, 2))), mode)
    }

    private static func held(_ path: String, _ mode: LockMode, namesItem: Bool = true) throws -> Nesting.Held {
        Nesting.Held(plan: LockPlan([try part(path, mode)]), namesItem: namesItem)
    }

    @Test func `is granted what it reads and holds, and refused what would change it`() throws {
        let expected: [(LockMode, LockMode, Nesting)] = [
            (.reading, .reading, .granted), (.writing, .reading, .granted), (.structural, .reading, .granted),
            (.reading, .writing, .refused), (.writing, .writing, .refused), (.structural, .writing, .refused),
            (.writing, .structural, .refused),
        ]
        for (outer, inner, verdict) in expected {
            #expect(Nesting.judge(try Self.part("a", inner), under: [try Self.held("a", outer)]) == verdict)
        }
    }

    @Test func `of something else is like any other`() throws {
        #expect(Nesting.judge(try Self.part("b", .writing), under: [try Self.held("a", .writing)]) == .independent)
        #expect(Nesting.judge(try Self.part("a/b", .writing), under: [try Self.held("a", .writing)]) == .independent)
        #expect(Nesting.judge(try Self.part("b", .writing), under: []) == .independent)
    }

    @Test func `of a directory in which it holds something is refused`() throws {
        #expect(Nesting.judge(try Self.part("a", .structural), under: [try Self.held("a/b", .reading)]) == .refused)
        #expect(Nesting.judge(try Self.part("a/b", .writing), under: [try Self.held("a", .structural)]) == .refused)
        #expect(Nesting.judge(try Self.part("a/b", .reading), under: [try Self.held("a", .structural)]) == .granted)
    }

    @Test func `of an item that only shares its block is granted with it`() throws {
        let held = try Self.held("a", .writing, namesItem: false)
        #expect(Nesting.judge(try Self.part("a", .writing), under: [held]) == .granted)
        #expect(
            Nesting.judge(try Self.part("a", .writing), under: [try Self.held("a", .reading, namesItem: false)])
                == .refused)
    }

    @Test func `is granted by any of the locks around it`() throws {
        let held = [try Self.held("a", .reading), try Self.held("a", .reading)]
        #expect(Nesting.judge(try Self.part("a", .reading), under: held) == .granted)
    }
}
