import GroupBytes
import TestSupport
import Testing

@testable import GroupLocking

@Suite(.ownThreads)
struct `Lock queues` {
    /// Random requests, granted, ended and withdrawn in any order. The queue's decisions are compared with its rule for
    /// all requests that are alive.
    private struct Schedule {
        struct Request {
            var ticket: LockQueue.Ticket
            var plan: LockPlan
            var mayGo: Bool
            var isHolding = false
        }
        var queue = LockQueue()
        var alive: [Request] = []
        var generator: SeededGenerator

        static let paths = ["a", "a/b", "a/b/c", "a/b/c/d", "a/b/c/e", "a/x", "y", "y/z", "w"]

        mutating func plan() throws -> LockPlan {
            let count = [1, 1, 1, 2, 3].randomElement(using: &generator) ?? 1
            return LockPlan(
                (0..<count).map { _ in
                    let path = Self.paths.randomElement(using: &generator) ?? "a"
                    let mode = [LockMode.shared, .shared, .exclusive, .tree].randomElement(using: &generator)
                    return (
                        LockRange(path: Array(path.utf8), key: SipHash(key: (1, 2))), mode ?? .shared
                    )
                })
        }

        mutating func step() throws {
            let going = alive.indices.filter { alive[$0].mayGo && !alive[$0].isHolding }
            let holding = alive.indices.filter { alive[$0].isHolding }
            switch Int.random(in: 0..<10, using: &generator) {
            case 0..<4 where alive.count < 24:
                let plan = try plan()
                if Bool.random(using: &generator), let ticket = queue.grantAtOnce(plan) {
                    alive.append(Request(ticket: ticket, plan: plan, mayGo: true, isHolding: true))
                } else {
                    let (ticket, mayGo) = queue.request(plan)
                    alive.append(Request(ticket: ticket, plan: plan, mayGo: mayGo))
                }
            case 4..<7:
                guard let index = going.randomElement(using: &generator) else { return }
                alive[index].isHolding = true
                wake(queue.recordGrant(alive[index].ticket))
            case 7..<9:
                guard let index = holding.randomElement(using: &generator) else { return }
                end(index)
            default:
                guard let index = alive.indices.filter({ !alive[$0].isHolding }).randomElement(using: &generator) else {
                    return
                }
                end(index)
            }
        }

        mutating func end(_ index: Int) {
            let ticket = alive.remove(at: index).ticket
            wake(queue.end(ticket))
            let again = queue.end(ticket)
            #expect(again.isEmpty, "a ticket is good once")
        }

        mutating func wake(_ tickets: [LockQueue.Ticket]) {
            for ticket in tickets {
                guard let index = alive.firstIndex(where: { $0.ticket == ticket }) else {
                    Issue.record("a request was let go that is not there any more")
                    continue
                }
                #expect(!alive[index].mayGo, "let go once")
                alive[index].mayGo = true
            }
        }

        /// A request with an earlier request in its way waits; every other request goes on.
        func check() {
            for (index, request) in alive.enumerated() {
                let isFree = alive[..<index].allSatisfy { earlier in
                    request.plan.parts.allSatisfy { part in
                        earlier.plan.parts.allSatisfy {
                            earlier.isHolding ? !$0.excludes(part) : !$0.range.overlaps(part.range)
                        }
                    }
                }
                #expect(request.mayGo == isFree, "no request overtakes, and none is forgotten")
                for other in alive[..<index] where other.isHolding && request.isHolding {
                    let isShared = request.plan.parts.allSatisfy { part in
                        other.plan.parts.allSatisfy { !$0.excludes(part) }
                    }
                    #expect(isShared, "no reader with a writer")
                }
            }
        }
    }

    @Test(arguments: 0..<60)
    func `a lock queue lets no request overtake, shares only among readers, and forgets none`(seed: Int) throws {
        var schedule = Schedule(generator: SeededGenerator(seed: UInt64(seed)))
        for _ in 0..<600 {
            try schedule.step()
            schedule.check()
        }
        while !schedule.alive.isEmpty {
            schedule.end(Int.random(in: 0..<schedule.alive.count, using: &schedule.generator))
            schedule.check()
        }
        #expect(schedule.queue.isEmpty, "empty when quiet")
    }

    @Test func `a lock queue lets readers in one after the other, to hold the lock together`() throws {
        var queue = LockQueue()
        let range = LockRange(path: Array("a".utf8), key: SipHash(key: (1, 2)))
        let reading = LockPlan([(range, .shared)])
        let first = queue.request(reading)
        let (second, third) = (queue.request(reading), queue.request(reading))
        #expect(first.mayGo && !second.mayGo && !third.mayGo)
        var woken = queue.recordGrant(first.ticket)
        #expect(woken == [second.ticket])
        woken = queue.recordGrant(second.ticket)
        #expect(woken == [third.ticket])
        let (writer, late) = (queue.request(LockPlan([(range, .exclusive)])), queue.request(reading))
        #expect(!writer.mayGo && !late.mayGo)
        woken = queue.recordGrant(third.ticket) + queue.end(first.ticket) + queue.end(third.ticket)
        #expect(woken.isEmpty)
        woken = queue.end(second.ticket)
        #expect(woken == [writer.ticket])
        woken = queue.recordGrant(writer.ticket)
        #expect(woken.isEmpty)
        woken = queue.end(writer.ticket)
        #expect(woken == [late.ticket])
        woken = queue.end(late.ticket)
        #expect(woken.isEmpty && queue.isEmpty)
    }

    @Test func `a lock queue serves a hundred thousand waiters for one item in constant time each`() throws {
        var queue = LockQueue()
        let plan = LockPlan([(LockRange(path: Array("a".utf8), key: SipHash(key: (1, 2))), .exclusive)])
        var turn = queue.request(plan).ticket
        let waiting = (0..<100_000).map { _ in queue.request(plan).ticket }
        for next in waiting {
            _ = queue.recordGrant(turn)
            let woken = queue.end(turn)
            #expect(woken == [next])
            turn = next
        }
        _ = queue.end(turn)
        #expect(queue.isEmpty)
    }
}

@Suite
struct `Wait permits` {
    @Test func `wait permits are given in the order in which they were requested`() {
        var permits = WaitPermits()
        let atOnce = (0..<WaitPermits.limit).allSatisfy { _ in permits.take() == nil }
        let line = (0..<3).compactMap { _ in permits.take() }
        #expect(atOnce && line.count == 3)
        let withdrawn = [permits.withdraw(line[1]), permits.withdraw(line[1])]
        #expect(withdrawn == [true, false])
        let first = permits.giveBack()
        #expect(first == line[0])
        let isLate = permits.withdraw(line[0])
        #expect(!isLate, "it has its seat")
        let rest = [permits.giveBack(), permits.giveBack()]
        #expect(rest == [line[2], nil])
        let next = [permits.take() == nil, permits.take() == nil]
        #expect(next == [true, false])
    }
}
