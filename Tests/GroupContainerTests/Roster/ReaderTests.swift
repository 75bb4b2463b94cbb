import GroupSystemCalls
import TestSupport
import Testing

@testable import GroupContainer

struct `A roster that may only be read` {
    @Test func `is not written, whatever it is asked for`() throws {
        let sample = try SampleContainer()
        let member = sample.container.member
        let file = try FileDescriptor.open(Array("roster".utf8), in: member.folder.group, .reading)
        let map = try SharedMap(file, size: RosterLayout.size)
        let before = map.bytes(0, count: map.size)
        let roster = try Roster(onlyForReadingIn: member.folder.group)
        #expect(roster.slot == nil && roster.liveMembers().count == 1)

        let part = LeasePlan.Part(LeaseBlock(.inside("a"), key: sample.container.member.hashKey), .reading)
        let claim = WaitGraph.Claim(member: 0, chain: 1, ticket: 1, order: 1, stage: .wanted, part: part)
        #expect(roster.note(claim, purpose: [65], path: [66]) == nil)
        roster.noteStage(.held, of: 0)
        roster.forgetAccess(0)
        #expect(roster.drawTicket(for: [0], queued: nil) == 0)
        #expect(roster.reservePending() == nil)
        roster.clearPending(0)
        roster.leaveUnfinished(0)
        #expect(roster.takeUnfinished().isEmpty)
        roster.forget(Roster.PendingChange(slot: 0, entry: 0, block: 1, operation: []))
        roster.clear(slot: 0)
        roster.raiseWant(bucket: 3)
        #expect(!roster.isAnythingWanted)
        roster.lowerWant(bucket: 3)
        roster.clearWants(of: 0)
        roster.awaitWake(on: Roster.journalWord, atMost: 1) { false }
        roster.wake(Roster.journalWord)
        roster.setPurpose("reader")
        roster.raise(RosterLayout.readyTerm, to: .max)
        #expect(!roster.begin(term: 9, after: map.load64(RosterLayout.term)))
        roster.noteSteward()
        try roster.occupy(purpose: "reader")
        roster.leave()
        #expect(map.bytes(0, count: map.size) == before)
        #expect(roster.liveMembers().count == 1)
    }
}
