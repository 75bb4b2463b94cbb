import GroupSystemCalls
import TestSupport
import Testing

@testable import GroupContainer

struct `A member table that may only be read` {
    @Test func `is not written, whatever it is asked for`() throws {
        let sample = try SampleContainer()
        let member = sample.container.member
        let file = try FileDescriptor.open(Array("members".utf8), in: member.directory.group, .reading)
        let map = try SharedMap(file, size: MemberTableLayout.size)
        let before = map.bytes(0, count: map.size)
        let memberTable = try MemberTable(onlyForReadingIn: member.directory.group)
        #expect(memberTable.slot == nil && memberTable.liveMembers().count == 1)

        let part = LockPlan.Part(LockRange(.inside("a"), key: sample.container.member.hashKey), .reading)
        let claim = WaitGraph.Claim(member: 0, chain: 1, ticket: 1, order: 1, stage: .wanted, part: part)
        #expect(memberTable.note(claim, purpose: [65], path: [66]) == nil)
        memberTable.noteStage(.held, of: 0)
        memberTable.forgetAccess(0)
        #expect(memberTable.drawTicket(for: [0], queued: nil) == 0)
        #expect(memberTable.reservePending() == nil)
        memberTable.clearPending(0)
        memberTable.leaveUnfinished(0)
        #expect(memberTable.takeUnfinished().isEmpty)
        memberTable.forget(MemberTable.PendingChange(slot: 0, entry: 0, block: 1, operation: []))
        memberTable.clear(slot: 0)
        memberTable.raiseWant(bucket: 3)
        #expect(!memberTable.isAnythingWanted)
        memberTable.lowerWant(bucket: 3)
        memberTable.clearWants(of: 0)
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
