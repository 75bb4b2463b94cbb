import GroupSystemCalls
import TestSupport
import Testing

@testable import GroupContainer
@testable import GroupLocking

struct `Read-only member tables` {
    @Test func `a read-only member table is not written by any call`() throws {
        let sample = try SampleContainer()
        let member = sample.container.opened
        let file = try FileDescriptor.open(Array("members".utf8), in: member.directory.group, .reading)
        let map = try SharedMap(file, size: MemberTableLayout.size)
        let before = map.bytes(0, count: map.size)
        let memberTable = try MemberTable(onlyForReadingIn: member.directory.group)
        #expect(memberTable.slot == nil && memberTable.liveMembers().count == 1)

        let part = LockPlan.Part(LockRange(.inside("a"), key: sample.container.opened.hashKey), .shared)
        let claim = WaitGraph.Claim(member: 0, owner: 1, ticket: 1, order: 1, stage: .wanted, part: part)
        #expect(memberTable.publish(claim, purpose: [65], path: [66]) == nil)
        memberTable.publishStage(.held, of: 0)
        memberTable.withdraw(0)
        #expect(memberTable.drawTicket(for: [0], queued: nil) == 0)
        #expect(memberTable.reserveInFlight() == nil)
        memberTable.clearInFlight(0)
        memberTable.leaveUnfinished(0)
        #expect(memberTable.takeUnfinished().isEmpty)
        memberTable.forget(MemberTable.InFlightOperation(slot: 0, entry: 0, rangeStart: 1, operation: []))
        memberTable.clear(slot: 0)
        memberTable.raiseContended(bucket: 3)
        #expect(!memberTable.isAnythingContended)
        memberTable.lowerContended(bucket: 3)
        memberTable.clearContended(of: 0)
        memberTable.awaitWake(on: MemberTable.journalWord, atMost: 1) { false }
        memberTable.wake(MemberTable.journalWord)
        memberTable.setPurpose("reader")
        memberTable.raise(MemberTableLayout.readyTerm, to: .max)
        #expect(!memberTable.begin(term: 9, after: map.load64(MemberTableLayout.term)))
        memberTable.noteLeader()
        try memberTable.occupy(purpose: "reader")
        memberTable.leave()
        #expect(map.bytes(0, count: map.size) == before)
        #expect(memberTable.liveMembers().count == 1)
    }
}

struct `Wake words` {
    private let directory: TemporaryDirectory
    /// Two members in this process.
    private let here, there: MemberTable
    private let word = MemberTable.journalWord

    init() throws {
        directory = try TemporaryDirectory()
        let group = try FileDescriptor.open(path: Array(directory.path.utf8), [.reading, .directory])
        here = try MemberTable(MemberTable.open(in: group, fileMode: 0o600), slot: 3, nonce: 9)
        there = try MemberTable(MemberTable.open(in: group, fileMode: 0o600), slot: 4, nonce: 10)
    }

    private var wakes: UInt32 { here.map.load32(MemberTableLayout.wakeWord(word) + 4) }

    /// Sets the flag as a thread does that goes to sleep.
    private func fallAsleep(_ table: MemberTable, isOffered: Bool) {
        table.awaitWake(on: word, atMost: nil, isOffered: isOffered) { true }
    }

    @Test func `a thread that offers its reader is not woken by its own leader, but by each other writer`() throws {
        fallAsleep(here, isOffered: true)
        let before = wakes
        here.wake(word, sparesDelivery: true)
        #expect(wakes == before)
        there.wake(word, sparesDelivery: true)
        #expect(wakes == before + 1)
        fallAsleep(here, isOffered: true)
        here.wake(word)
        #expect(wakes == before + 2)
        here.wake(word)
        #expect(wakes == before + 2, "no thread sleeps")
    }

    @Test(arguments: [true, false], [true, false])
    func `a leader wakes all if there is another sleeper than the one that offers its reader`(
        isFirst: Bool, isOtherLent: Bool
    ) throws {
        if isFirst { fallAsleep(here, isOffered: true) }
        fallAsleep(there, isOffered: isOtherLent)
        if !isFirst { fallAsleep(here, isOffered: true) }
        let before = wakes
        here.wake(word, sparesDelivery: true)
        #expect(wakes == before + 1)
    }
}

struct `Reader loans` {
    private struct Reader: DirectReader {
        var handed = 0
        let isEnough: Bool

        mutating func deliver() -> Bool {
            handed += 1
            return isEnough
        }
    }

    @Test func `an offered reader comes back with what it delivered, and a second one is not lent`() throws {
        let delivery = DirectDelivery()
        var (reader, second) = (Reader(isEnough: true), Reader(isEnough: true))
        delivery.offer(&reader) { isOffered in
            #expect(isOffered)
            delivery.deliver()
            delivery.offer(&second) { #expect(!$0) }
            delivery.deliver()
        }
        delivery.deliver()
        #expect(reader.handed == 2 && second.handed == 0)
    }

    @Test func `a reader that has more to hand on is interrupted in its sleep`() throws {
        let delivery = DirectDelivery()
        var reader = Reader(isEnough: false)
        let seen = Interruption.latest
        delivery.offer(&reader) { _ in
            delivery.deliver()
            #expect(Interruption.latest != seen)
        }
    }
}
