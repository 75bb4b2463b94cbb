import Foundation
import GroupContainer
import TestSupport
import Testing

/// Tests of the harness: what it missed, no test of a fault would find.
@Suite(.ownThreads, .timeLimit(.minutes(5)), .tags(.process))
struct `Fault harness` {
    @Test func `the invariants find nothing wrong with a container that is as it should be`() throws {
        let container = try TemporaryContainer()
        _ = try container.groupctl("write", "directory/item", input: "content")
        _ = try container.groupctl("write", "directory/item", input: "other")
        #expect(try Invariants.broken(in: container) { $1 == Array("other".utf8) } == [])
    }

    @Test func `the invariants find what is left in staging while a member is there and none sweeps`() throws {
        let container = try TemporaryContainer()
        let member = try container.open()
        try #require(FileManager.default.createFile(atPath: "\(container.path)/.group/staging/orphan", contents: nil))
        #expect(try Invariants.broken(in: container) { _, _ in true } == ["orphan is left in staging"])
        withExtendedLifetime(member) {}
    }

    @Test(arguments: [
        ("echo x >\"$1/item\"", "2 modified item: not coordinated"),
        ("rm \"$1/item\"", "2 removed item: not coordinated"),
        ("printf 'cont\\0\\0\\0' >\"$1/item\"", "item is not whole: 7 bytes"),
        ("dd if=/dev/zero of=\"$1/.group/journal/1.log\" bs=1 count=8 conv=notrunc 2>&1", "changes: "),
        ("echo >\"$1/.group/format\"", "status: "),
    ])
    func `the invariants find external changes, torn items and damaged files`(script: String, fault: String) throws {
        let container = try TemporaryContainer()
        _ = try container.groupctl("write", "item", input: "content")
        #expect(try RunningProcess(["sh", "-c", script, "sh", container.path], input: "").finish().status == 0)
        let broken = try Invariants.broken(in: container) { path, content in
            path != "item" || content == Array("content".utf8)
        }
        #expect(broken.contains { $0.hasPrefix(fault) }, "\(broken)")
    }

    @Test func `the invariants find an operation that has two records`() throws {
        let container = try TemporaryContainer()
        for _ in 0..<2 { _ = try container.groupctl("write", "item", input: "content") }
        let changes = try container.changes()
        #expect(Invariants.repeatedOperations(in: changes) == [])
        var again = try #require(changes.last)
        again.sequence = SequenceNumber(rawValue: again.sequence.rawValue + 1)
        #expect(Invariants.repeatedOperations(in: changes + [again]).count == 1)
    }

    @Test(.enabled(if: Strace.isThere, Strace.isMissing), arguments: [Strace.Fault.kill, .error("EIO"), .stop])
    func `the harness puts a fault at every call of a name, one after the other, until there is none`(
        fault: Strace.Fault
    ) throws {
        let container = try TemporaryContainer()
        let sync = ["sync", container.path, container.path, container.path]
        let faults = try EverySystemCall(of: sync, in: container, fault: fault)
        var attempts: [Int] = []
        try faults.forEach { attempt in
            let process = try attempt.start(sync)
            if fault == .stop {
                let isStopped = try process.waitUntilStopped()
                #expect(isStopped == process.isReached)
                process.resume()
            }
            let status = try process.finish().status
            guard attempt.call.name == "fsync" else { return }
            attempts.append(attempt.call.number)
            let expected: Int32 = fault == .kill ? 137 : fault == .stop ? 0 : 1
            #expect(status == (attempt.call.number <= 3 ? expected : 0), "\(attempt)")
        }
        #expect(attempts == [1, 2, 3, 4])
    }
}
