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
