import GroupLocking
import GroupLog
import Testing

@testable import GroupContainer

@Suite(.timeLimit(.minutes(1)))
struct `Terms of leaders` {
    @Test func `a record with a term that no leader has had supersedes no leader`() throws {
        let sample = try SampleContainer()
        let member = sample.container.opened
        let table = member.memberTable
        #expect(table.begin(term: 1, after: 0))
        func append(term: UInt64) throws {
            _ = try member.journal.append(
                ChangeRecord(
                    .term, path: [], state: nil, isCoordinated: false, processIdentifier: 1, purpose: [], time: 1,
                    term: term))
        }
        let nothing = JournalView(beginningAt: try member.journal.log.start())
        let view = LiveFileSystem(member, nothing, term: 1, under: nil)
        try append(term: 1)
        try append(term: .max)
        try view.load()
        #expect(!view.isSuperseded)
        _ = try sample.coordinator().blocking.write(bytes: [1], to: "a")
        #expect(try view.catchUp())
        #expect(!view.isSuperseded)
        // The checkpoint does not keep it.
        var tree = try JournalView(member.journal)
        try tree.catchUp(member.journal)
        #expect(tree.newestTerm == .max)
        try member.writeCheckpoint(tree)
        #expect(try member.journal.checkpoint.open()?.header.newestTerm == 1)
        // A leader of a later term supersedes it all the same.
        #expect(table.begin(term: 2, after: 1))
        try append(term: 2)
        #expect(try view.catchUp())
        #expect(view.isSuperseded)
    }
}
