import Foundation
import Glibc
import GroupContainer
import GroupSystemCalls
import TestSupport
import Testing

@Suite(
    .ownThreads, .enabled(if: Strace.isThere, Strace.isMissing), .timeLimit(.minutes(runsLongTests ? 30 : 5)),
    .tags(.process))
struct `Container checks under faults` {
    private static func findings(_ container: TemporaryContainer, _ options: String...) throws -> [JSONFinding] {
        let outcome = try RunningProcess(["groupctl", "doctor", "--json", container.path] + options, input: "").finish()
        return try outcome.text.split(separator: "\n").map { try JSONFinding(String($0)) }
            .filter { !["leaderMissing", "fileSystemTemporary"].contains($0.code) }
    }

    // fault: writer-killed
    @Test(arguments: [true, false])
    func `the doctor names a member that died during a change, and finishes the change`(isAlone: Bool) throws {
        let container = try TemporaryContainer()
        _ = try container.groupctl("write", "item", input: "old")
        let other = isAlone ? nil : try container.open()
        let command = ["groupctl", "write", "--purpose", "deceased", container.path, "item"]
        let calls = try Strace.calls(of: command, input: "newer", in: container)
        let rename = try #require(calls.firstIndex { $0.name.hasPrefix("rename") })
        #expect(try Strace.run(command, input: "new", fault: .kill, at: calls[rename + 1]).status == 137)
        let found = try Self.findings(container)
        #expect(
            found.map(\.code) == ["deadMember"] && found.first?.item == "item" && found.first?.repaired == false,
            "\(found)")
        #expect(found.first?.what.contains("deceased, died in the middle of a change of 'item'") == true)
        // A check changes nothing.
        #expect(try Self.findings(container) == found)
        let repaired = try Self.findings(container, "--repair")
        #expect(repaired.map(\.code) == ["deadMember"] && repaired.first?.repaired == true, "\(repaired)")
        #expect(try Self.findings(container) == [])
        let last = try #require(try container.changes(other).last)
        #expect(last.path == "item" && last.author?.purpose == "deceased" && last.size == 3)
    }

    @Test func `the doctor names a process that is stuck while it opens the container`() throws {
        let container = try TemporaryContainer()
        let command = ["groupctl", "status", container.path]
        let calls = try Strace.calls(of: command, input: "", in: container)
        // The process is stopped while it joins: its first map is the member table's.
        let call = try #require(calls.first { $0.name == "madvise" })
        var found: [JSONFinding] = []
        do {
            // The opener is killed at the end of this scope.
            let opener = try Strace.start(command, fault: .stop, at: call)
            try #require(try opener.waitUntilStopped())
            found = try Self.findings(container).filter { $0.code == "openingBlocked" }
            withExtendedLifetime(opener) {}
        }
        #expect(found.count == 1 && found.first?.pid != nil, "\(found)")
        #expect(found.first?.what.contains("groupctl status") == true)
        #expect(try Self.findings(container) == [])
    }

    // fault: hole-in-log
    @Test func `the doctor does not take the end of a journal not yet recovered after a boot for damage`() throws {
        let container = try TemporaryContainer()
        for item in ["first", "second", "third"] {
            _ = try container.groupctl("write", item, "--relaxed", input: "x")
        }
        let journal = try #require(FileHandle(forUpdatingAtPath: "\(container.path)/.group/journal/1.log"))
        let content = try #require(try journal.readToEnd())
        let place = try #require(content.range(of: Data("third".utf8)))
        try journal.seek(toOffset: UInt64(place.lowerBound))
        try journal.write(contentsOf: Data("T".utf8))
        #expect(try Self.findings(container).map(\.code) == ["journalDamaged"])
        let memberTable = try #require(FileHandle(forUpdatingAtPath: "\(container.path)/.group/members"))
        try memberTable.seek(toOffset: 32)
        try memberTable.write(contentsOf: Data("another boot, another boot, anot".utf8))
        #expect(try Self.findings(container) == [])
        #expect(try container.groupctl("read", "third").text == "x")
    }

    @Test func `no process opens a container that is deleted meanwhile, wherever it is in opening`() throws {
        let model = try TemporaryContainer()
        let calls = try Strace.calls(of: ["groupctl", "status", model.path], input: "", in: model)
        let first = try #require(calls.firstIndex { $0.name == "openat2" })
        // The calls until the process is a member.
        for call in calls[first..<(first + 12)] where call.name == "openat2" || call.name == "fcntl" {
            let container = try TemporaryContainer()
            let opener = try Strace.start(["groupctl", "status", container.path], fault: .stop, at: call)
            guard try opener.waitUntilStopped() else { continue }
            let deletion = try RunningProcess(["groupctl", "delete-group", "--yes", container.path], input: "").finish()
            opener.resume()
            let (status, text) = try opener.finish()
            #expect(deletion.status == 0 || deletion.status == 75, "\(call)")
            #expect(status == (deletion.status == 0 ? 66 : 0), "\(call): \(text)")
            #expect(!container.exists("") || deletion.status == 75, "nothing was made in it")
        }
    }
}
