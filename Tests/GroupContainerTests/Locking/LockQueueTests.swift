import TestSupport
import Testing

@testable import GroupContainer

@Suite
struct `A lock queue` {
    /// Requests at random, granted, ended and withdrawn in any order; what the queue says is compared with what its
    /// rule says of all requests that are alive.
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
                try (0..<count).map { _ in
                    let path = Self.paths.randomElement(using: &generator) ?? "a"
                    let mode = [LockMode.reading, .reading, .writing, .structural].randomElement(using: &generator)
                    return (
                        LockRange(try ItemLocation(Array(path.utf8)), key: SipHash(key: (1, 2))), mode ?? .reading
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
                wake(queue.noteGrant(alive[index].ticket))
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
                    Issue.record("somebody was told who is not there any more")
                    continue
                }
                #expect(!alive[index].mayGo, "told once")
                alive[index].mayGo = true
            }
        }

        /// A request with an earlier request in its way waits; every other request goes.
        func check() {
            for (index, request) in alive.enumerated() {
                let isFree = alive[..<index].allSatisfy { earlier in
                    request.plan.parts.allSatisfy { part in
                        earlier.plan.parts.allSatisfy {
                            earlier.isHolding ? !$0.excludes(part) : !$0.range.overlaps(part.range)
                        }
                    }
                }
                #expect(request.mayGo == isFree, "nobody overtakes, and nobody is forgotten")
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
    func `lets nobody overtake, no reader in with a writer, and forgets nobody`(seed: Int) throws {
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

    @Test func `lets readers in side by side, one at a time`() throws {
        var queue = LockQueue()
        let block = LockRange(try ItemLocation(Array("a".utf8)), key: SipHash(key: (1, 2)))
        let reading = LockPlan([(block, .reading)])
        let first = queue.request(reading)
        let (second, third) = (queue.request(reading), queue.request(reading))
        #expect(first.mayGo && !second.mayGo && !third.mayGo)
        var told = queue.noteGrant(first.ticket)
        #expect(told == [second.ticket])
        told = queue.noteGrant(second.ticket)
        #expect(told == [third.ticket])
        let (writer, late) = (queue.request(LockPlan([(block, .writing)])), queue.request(reading))
        #expect(!writer.mayGo && !late.mayGo)
        told = queue.noteGrant(third.ticket) + queue.end(first.ticket) + queue.end(third.ticket)
        #expect(told.isEmpty)
        told = queue.end(second.ticket)
        #expect(told == [writer.ticket])
        told = queue.noteGrant(writer.ticket)
        #expect(told.isEmpty)
        told = queue.end(writer.ticket)
        #expect(told == [late.ticket])
        told = queue.end(late.ticket)
        #expect(told.isEmpty && queue.isEmpty)
    }

    @Test func `serves a hundred thousand who wait for one item, each in constant time`() throws {
        var queue = LockQueue()
        let plan = LockPlan([(LockRange(try ItemLocation(Array("a".utf8)), key: SipHash(key: (1, 2))), .writing)])
        var turn = queue.request(plan).ticket
        let waiting = (0..<100_000).map { _ in queue.request(plan).ticket }
        for next in waiting {
            _ = queue.noteGrant(turn)
            let told = queue.end(turn)
            #expect(told == [next])
            turn = next
        }
        _ = queue.end(turn)
        #expect(queue.isEmpty)
    }
}

@Suite
struct `Seats for waiting threads` {
    @Test func `are given in the order in which they were asked for`() {
        var seats = WaitPermits()
        let atOnce = (0..<WaitPermits.limit).allSatisfy { _ in seats.take() == nil }
        let line = (0..<3).compactMap { _ in seats.take() }
        #expect(atOnce && line.count == 3)
        let withdrawn = [seats.withdraw(line[1]), seats.withdraw(line[1])]
        #expect(withdrawn == [true, false])
        let first = seats.giveBack()
        #expect(first == line[0])
        let isLate = seats.withdraw(line[0])
        #expect(!isLate, "it has its seat")
        let rest = [seats.giveBack(), seats.giveBack()]
        #expect(rest == [line[2], nil])
        let next = [seats.take() == nil, seats.take() == nil]
        #expect(next == [true, false])
    }
}
