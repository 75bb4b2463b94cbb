import GroupBytes
import Testing

@testable import GroupLocking

@Suite
struct `Wait graphs` {
    private typealias Claim = WaitGraph.Claim

    private static func claim(
        _ owner: UInt64, _ stage: Claim.Stage, _ path: String, _ mode: LockMode = .exclusive, ticket: UInt64 = 0,
        member: Int? = nil, order: UInt64 = 1
    ) throws -> Claim {
        let range = LockRange(path: Array(path.utf8), key: SipHash(key: (1, 2)))
        return Claim(
            member: member ?? Int(owner), owner: owner, ticket: ticket, order: stage == .held ? 0 : order, stage: stage,
            part: LockPlan.Part(range, mode))
    }

    /// Returns the chains that give up, each a member of its own.
    private static func givingUp(_ claims: [Claim]) -> [UInt64] {
        let graph = WaitGraph(claims)
        let waits = Dictionary(grouping: claims.filter { $0.stage != .held }) { $0.owner }
        return waits.filter { owner, claims in
            graph.outlook(of: .init(slot: claims[0].member, number: owner), ticket: claims.map(\.ticket).max() ?? 0)
                == .circle
        }.keys.sorted()
    }

    @Test func `the request that closed a cycle of two gives up`() throws {
        for (first, second) in [(1, 2), (2, 1)] as [(UInt64, UInt64)] {
            let circle = try [
                Self.claim(1, .held, "a"), Self.claim(1, .queued, "b", ticket: first), Self.claim(2, .held, "b"),
                Self.claim(2, .queued, "a", ticket: second),
            ]
            #expect(Self.givingUp(circle) == [first == 2 ? 1 : 2])
        }
    }

    @Test func `only the last request of a cycle of three gives up`() throws {
        let circle = try [
            Self.claim(1, .held, "a"), Self.claim(1, .queued, "b", ticket: 7), Self.claim(2, .held, "b"),
            Self.claim(2, .wanted, "c", ticket: 9), Self.claim(3, .held, "c"),
            Self.claim(3, .queued, "a", ticket: 8),
        ]
        #expect(Self.givingUp(circle) == [2])
    }

    @Test func `a look at the claims of a thousand members, all of the same items, comes to an end`() throws {
        let everything = LockRange(start: 1 << 62, length: 1 << 62 - 1)
        var claims = try [Self.claim(0, .held, "a"), Self.claim(0, .queued, "b", ticket: 1 << 50)]
        for member in 1...1_000 {
            for entry in 0..<19 {
                let number = Int64(member * 19 + entry)
                let range = entry == 0 ? everything : LockRange(start: 1 << 62, length: 1 << 45 - number << 11)
                claims.append(
                    Claim(
                        member: member, owner: UInt64(number), ticket: UInt64(number), order: UInt64(1 + entry),
                        stage: entry == 0 ? .held : .queued, part: LockPlan.Part(range: range, mode: .tree)))
            }
        }
        let began = ContinuousClock.now
        _ = WaitGraph(claims).outlook(of: .init(slot: 0, number: 0), ticket: 1 << 50)
        // Without a limit these are 10^12 comparisons.
        #expect(ContinuousClock.now - began < .seconds(20))
    }

    @Test func `a cycle among many other requests is found`() throws {
        var claims = try [
            Self.claim(1, .held, "a"), Self.claim(1, .queued, "b", ticket: 1), Self.claim(2, .held, "b"),
            Self.claim(2, .queued, "a", ticket: 2),
        ]
        for number in 3...1_000 as ClosedRange<UInt64> {
            claims.append(try Self.claim(number, .held, "other/\(number)"))
            claims.append(try Self.claim(number, .queued, "other/\(number + 1)", ticket: number))
        }
        #expect(WaitGraph(claims).outlook(of: .init(slot: 2, number: 2), ticket: 2) == .circle)
    }

    @Test func `a cycle with a request whose ticket is not drawn yet is left to that request`() throws {
        let circle = try [
            Self.claim(1, .held, "a"), Self.claim(1, .queued, "b", ticket: 5), Self.claim(2, .held, "b"),
            Self.claim(2, .queued, "a", ticket: 0),
        ]
        #expect(Self.givingUp(circle) == [])
        // The ticket may have been drawn, and not be written yet.
        #expect(WaitGraph(circle).outlook(of: .init(slot: 1, number: 1), ticket: 5) == .open)
        let line = try circle + [Self.claim(3, .queued, "z", ticket: 6)]
        #expect(WaitGraph(line).outlook(of: .init(slot: 3, number: 3), ticket: 6) == .noCircle)
    }

    @Test func `readers that share and requests that only wait form no cycle`() throws {
        let fine = try [
            Self.claim(1, .held, "a", .shared), Self.claim(1, .queued, "b", ticket: 1), Self.claim(2, .held, "b"),
            Self.claim(2, .queued, "a", .shared, ticket: 2), Self.claim(3, .queued, "a", ticket: 3),
            Self.claim(4, .queued, "b", ticket: 4),
        ]
        #expect(Self.givingUp(fine) == [])
    }

    @Test func `a waiter behind another waiter is part of a cycle`() throws {
        // Writer 2 waits for reader 1, reader 3 waits behind the writer, and 1 waits for 3.
        let circle = try [
            Self.claim(1, .held, "a", .shared), Self.claim(2, .queued, "a", .exclusive, ticket: 1),
            Self.claim(3, .held, "b"), Self.claim(3, .queued, "a", .shared, ticket: 2),
            Self.claim(1, .queued, "b", .shared, ticket: 3),
        ]
        #expect(Self.givingUp(circle) == [1])
        // Reader 3 does not wait behind a writer that comes later.
        let fine = circle.map { claim in
            var claim = claim
            if claim.owner == 2 { claim.ticket = 9 }
            return claim
        }
        #expect(Self.givingUp(fine) == [])
    }

    @Test func `a directory in an item's way is part of a cycle`() throws {
        let circle = try [
            Self.claim(1, .held, "a/b"), Self.claim(1, .queued, "c", ticket: 1), Self.claim(2, .held, "c"),
            Self.claim(2, .queued, "a", .tree, ticket: 2),
        ]
        #expect(Self.givingUp(circle) == [2])
    }

    @Test func `nested requests of one process wait for earlier ones, whatever their tickets`() throws {
        let circle = try [
            Self.claim(1, .held, "a", member: 1), Self.claim(1, .wanted, "x", ticket: 5, member: 1, order: 1),
            Self.claim(1, .queued, "y", ticket: 5, member: 1, order: 1),
            Self.claim(2, .held, "y", member: 1), Self.claim(2, .wanted, "x", .shared, ticket: 4, member: 1, order: 2),
        ]
        #expect(Self.givingUp(circle) == [1])
    }

    @Test func `the answers to one request wait for each other's locks, and not for what is locked around it`() throws {
        func answer(_ number: UInt64, _ stage: Claim.Stage, ticket: UInt64 = 0) throws -> Claim {
            var claim = try Self.claim(number, stage, "a", ticket: ticket, order: 0)
            claim.isOfAnswer = true
            return claim
        }
        // Request 1 waits for the answers 2 and 3, and request 4 behind answer 3.
        let questions = [(1, 1, 2), (1, 2, 3), (4, 3, 3)].map { (owner: Int, ticket: UInt64, answer: Int) in
            WaitGraph.QuestionWait(
                owner: .init(slot: owner, number: UInt64(owner)), ticket: ticket,
                answer: .init(slot: answer, number: UInt64(answer)))
        }
        let second = WaitGraph.Owner(slot: 3, number: 3)
        let fine = WaitGraph([try answer(2, .held), try answer(3, .queued, ticket: 5)], questions)
        #expect(fine.outlook(of: second, ticket: 5) == .noCircle)
        let circle = WaitGraph([try Self.claim(1, .held, "a"), try answer(3, .queued, ticket: 5)], questions)
        #expect(circle.outlook(of: second, ticket: 5) == .circle)
        let behind = WaitGraph([try Self.claim(4, .held, "a"), try answer(3, .queued, ticket: 5)], questions)
        #expect(behind.outlook(of: second, ticket: 5) == .circle)
    }
}

@Suite
struct `Nesting rules` {
    private static func part(_ path: String, _ mode: LockMode) throws -> LockPlan.Part {
        LockPlan.Part(LockRange(path: Array(path.utf8), key: SipHash(key: (1, 2))), mode)
    }

    private static func held(_ path: String, _ mode: LockMode, namesItem: Bool = true) throws -> Nesting.Held {
        Nesting.Held(plan: LockPlan([try part(path, mode)]), namesItem: namesItem)
    }

    @Test func `a nested part is granted for reading what is held, and refused for changing it`() throws {
        let expected: [(LockMode, LockMode, Nesting)] = [
            (.shared, .shared, .granted), (.exclusive, .shared, .granted), (.tree, .shared, .granted),
            (.shared, .exclusive, .refused), (.exclusive, .exclusive, .refused), (.tree, .exclusive, .refused),
            (.exclusive, .tree, .refused),
        ]
        for (outer, inner, verdict) in expected {
            #expect(Nesting.judge(try Self.part("a", inner), under: [try Self.held("a", outer)]) == verdict)
        }
    }

    @Test func `a nested part for another item is independent`() throws {
        #expect(Nesting.judge(try Self.part("b", .exclusive), under: [try Self.held("a", .exclusive)]) == .independent)
        #expect(
            Nesting.judge(try Self.part("a/b", .exclusive), under: [try Self.held("a", .exclusive)]) == .independent)
        #expect(Nesting.judge(try Self.part("b", .exclusive), under: []) == .independent)
    }

    @Test func `a nested change of a directory around a held item, or in a held directory, is refused`() throws {
        #expect(Nesting.judge(try Self.part("a", .tree), under: [try Self.held("a/b", .shared)]) == .refused)
        #expect(Nesting.judge(try Self.part("a/b", .exclusive), under: [try Self.held("a", .tree)]) == .refused)
        #expect(Nesting.judge(try Self.part("a/b", .shared), under: [try Self.held("a", .tree)]) == .granted)
    }

    @Test func `a nested part that only shares a held range is granted with it`() throws {
        let held = try Self.held("a", .exclusive, namesItem: false)
        #expect(Nesting.judge(try Self.part("a", .exclusive), under: [held]) == .granted)
        #expect(
            Nesting.judge(try Self.part("a", .exclusive), under: [try Self.held("a", .shared, namesItem: false)])
                == .refused)
    }

    @Test func `a nested part is granted by any of several outer locks`() throws {
        let held = [try Self.held("a", .shared), try Self.held("a", .shared)]
        #expect(Nesting.judge(try Self.part("a", .shared), under: held) == .granted)
    }
}
