import GroupSystemCalls
import TestSupport
import Testing

@testable import GroupContainer
@testable import GroupLog
@testable import GroupLocking

/// Findings whose cause takes long or needs a failing disk: the tests write into the files what would be there then.
@Suite(.timeLimit(.minutes(1))) struct `Container check in this process` {
    private static func codes(_ temporary: TemporaryDirectory) throws -> [Finding.Code] {
        try ContainerCheck(.path(Array(temporary.path.utf8))).examine().filter { $0.severity != .note }.map(\.code)
    }

    @Test func `a container check finds that the clock was set back`() throws {
        let temporary = try TemporaryDirectory()
        let container = try Container(path: temporary.path, creating: true)
        #expect(try Self.codes(temporary) == [])
        let record = ChangeRecord(
            .created, path: [0x61], state: nil, isCoordinated: true, processIdentifier: 1, purpose: [],
            time: wallNanoseconds() + 3_600_000_000_000)
        _ = try container.opened.journal.append(record)
        #expect(try Self.codes(temporary) == [.clockBehind])
    }

    // fault: directory-sync-fails
    @Test func `a container check finds that the disk refused to keep the journal`() throws {
        let temporary = try TemporaryDirectory()
        _ = try Container(path: temporary.path, creating: true)
        let log = try WritableMap(temporary.open(".group/journal/1.log"), size: 4_096)
        log.store64(SegmentHeader.syncFailed, 1)
        #expect(try Self.codes(temporary) == [.journalNotDurable])
    }

    @Test func `a container check finds a lock that has been held for long`() throws {
        let temporary = try TemporaryDirectory()
        let container = try Container(path: temporary.path, creating: true)
        let coordinator = container.coordinator(purpose: "tester").blocking
        try coordinator.coordinate([.writing("item")], timeout: .zero) { _ in
            #expect(try Self.codes(temporary) == [])
            let seat = try #require(container.opened.memberTable.own)
            let since =
                MemberTableLayout.slot(seat.slot) + MemberTableLayout.published + MemberTableLayout.publishedSince
            seat.map.store64(since, UInt64(bitPattern: wallNanoseconds() - MembersFacts.longLock))
            let found = try ContainerCheck(.path(Array(temporary.path.utf8))).examine()
            #expect(found.first?.code == .lockHeldLong && found.first?.process == processIdentifier())
            #expect(found.first?.what.contains("has held 'item' for 5 min") == true)
        }
        #expect(try Self.codes(temporary) == [])
    }

    // fault: read-only
    @Test func `a container check finds and repairs a missing journal directory`() throws {
        let temporary = try TemporaryDirectory()
        _ = try Container(path: temporary.path, creating: true)
        try temporary.run("rm", "-r", ".group/journal")
        #expect(try Self.codes(temporary) == [.journalDamaged])
        let (repaired, left) = try ContainerCheck(.path(Array(temporary.path.utf8))).repair()
        #expect(repaired.map(\.code).contains(.journalDamaged) && left.allSatisfy { $0.severity == .note })
    }
}
