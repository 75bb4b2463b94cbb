import Foundation
import GroupContainer
import GroupSystemCalls
import TestSupport
import Testing

/// A transaction over a file in a new directory, a file that is replaced and a file that is removed.
@Suite(
    .ownThreads, .enabled(if: Strace.isThere, Strace.isMissing), .timeLimit(.minutes(runsLongTests ? 30 : 5)),
    .tags(.process))
struct `Transactions under faults` {
    /// What any process finds, without a lock.
    private struct Finding: Equatable {
        var new: String?
        var kept: String?
        var gone: String?
        var directoryExists: Bool

        init(in container: TemporaryContainer) {
            new = container.content(of: "directory/new")
            kept = container.content(of: "kept")
            gone = container.content(of: "gone")
            directoryExists = container.exists("directory")
        }
    }

    private static func prepare() throws -> TemporaryContainer {
        let container = try TemporaryContainer()
        for item in ["kept", "gone"] { _ = try container.groupctl("write", item, "--relaxed", input: "old") }
        return container
    }

    private static func command(_ container: TemporaryContainer, _ durability: String = "durable") -> [String] {
        ["test-member", "transact-three", container.path, "directory", "text", durability]
    }

    /// Returns the system calls that the transaction makes.
    private static func calls(_ durability: String = "durable") throws -> [Strace.Call] {
        let model = try prepare()
        return try Strace.calls(of: command(model, durability), input: "", in: model)
    }

    private static let kinds = ["created directory", "created directory/new", "modified kept", "removed gone"]

    /// Expects all or nothing, in the container and in the journal.
    private func expectWhole(_ container: TemporaryContainer, _ changes: [Change], _ happened: Bool, _ place: Comment) {
        #expect(Finding(in: container) == (happened ? Self.after : Self.before), place)
        let reported = changes.dropFirst(2)
        #expect(reported.map { "\($0.kind.name) \($0.path)" } == (happened ? Self.kinds : []), place)
        #expect(reported.allSatisfy { $0.transaction?.count == 4 && $0.sequence == 3 && $0.isCoordinated }, place)
        #expect(Set(reported.compactMap(\.transaction?.identifier)).count == (happened ? 1 : 0), place)
        #expect(container.staging.isEmpty, place)
    }

    private static let (before, after) = ends()
    private static func ends() -> (Finding?, Finding?) {
        guard let container = try? prepare() else { return (nil, nil) }
        let before = Finding(in: container)
        _ = try? RunningProcess(command(container)).finish()
        return (before, Finding(in: container))
    }

    @Test func `a transaction without a fault is there as a whole`() throws {
        let container = try Self.prepare()
        let (status, text) = try RunningProcess(Self.command(container)).finish()
        #expect(status == 0 && text == "3\n")
        #expect(Self.after?.new == "text" && Self.after?.kept == "text" && Self.after?.gone == nil)
        expectWhole(container, try container.changes(), true, "")
    }

    /// All calls in the long run. In the short one each rename with the calls around it, and a few others.
    private static func sample(_ calls: [Strace.Call]) -> [Strace.Call] {
        if runsLongTests { return calls }
        var numbers = SeededGenerator(seed: faultSeed)
        var chosen = Set(calls.indices.shuffled(using: &numbers).prefix(6))
        for place in calls.indices where calls[place].name.hasPrefix("rename") {
            chosen.formUnion(max(0, place - 1)..<min(calls.count, place + 2))
        }
        return chosen.sorted().map { calls[$0] }
    }

    @Test(arguments: ["EIO", "ENOSPC"], 1...5)
    func `a transaction whose rename fails takes back those before it, and reports the error`(
        error: String, number: Int
    ) throws {
        let container = try Self.prepare()
        let calls = try Self.calls()
        let rename = try #require(calls.filter { $0.name.hasPrefix("rename") }.dropFirst(number - 1).first)
        let (status, text) = try Strace.run(Self.command(container), fault: .error(error), at: rename)
        #expect(status == 1 && text.hasPrefix("error \(error == "EIO" ? "inputOutput" : "noSpace")"), "\(text)")
        expectWhole(container, try container.changes(), false, "\(error) at \(rename)")
        #expect(try RunningProcess(Self.command(container)).finish().status == 0)
        expectWhole(container, try container.changes(), true, "\(error) at \(rename), then again")
    }

    @Test(arguments: 3...5)
    func `a transaction whose renames fail from one on is completed by the next process`(number: Int) throws {
        let container = try Self.prepare()
        let heir = try container.open()
        let calls = try Self.calls()
        let rename = try #require(calls.filter { $0.name.hasPrefix("rename") }.dropFirst(number - 1).first)
        let process = try Strace.start(
            Self.command(container), input: "", fault: .error("EIO"), at: rename, andAllLater: true)
        let (status, text) = try process.finish()
        #expect(status == 1 && text.hasPrefix("error unfinished"), "\(text)")
        _ = try? heir.coordinator(purpose: "heir").blocking.readBytes("kept")
        _ = try container.groupctl("read", "kept")
        expectWhole(container, try container.changes(heir), true, "EIO from \(rename) on")
    }

    @Test func `a transaction that can go neither on nor back keeps its locks until it is completed`() throws {
        let container = try Self.prepare()
        let other = try container.open()
        let reader = other.coordinator(purpose: "reader").blocking
        let rename = try #require(try Self.calls().filter { $0.name.hasPrefix("rename") }.last)
        // The last step fails, and the first one back.
        let member = try RunningProcess([
            "strace", "-f", "-qq", "-o", "/dev/null", "-e", "trace=\(rename.name)", "-e",
            "inject=\(rename.name):error=EIO:when=\(rename.number)..\(rename.number + 1)", "test-member",
            "transact-on", container.path,
        ])
        try member.waitForText("unfinished")
        let error = #expect(throws: CoordinationError.self) {
            try reader.coordinate(.reading("kept"), .reading("gone"), timeout: .zero) { _ in }
        }
        #expect(error?.code == .lockTimedOut && Set(error?.holders.map(\.purpose) ?? []) == ["test-member"])
        try member.send("go on")
        try member.waitForText("text")
        expectWhole(container, try container.changes(other), true, "after the next request")
        #expect(try reader.readBytes("kept", timeout: .zero) == Array("text".utf8))
        member.closeInput()
        #expect(try member.finish().status == 0)
    }

    // fault: disk-full
    @Test(arguments: [("EIO", "inputOutput"), ("ENOSPC", "noSpace")])
    func `a transaction is refused before anything happens when the journal cannot have room`(
        error: String, code: String
    ) throws {
        let container = try Self.prepare()
        // A segment of the journal is three quarters full, when the next one is allocated.
        _ = try container.member("append", "40000", "filler").finish()
        let call = Strace.Call(name: "fallocate", number: 1)
        let (status, text) = try Strace.run(Self.command(container), fault: .error(error), at: call)
        #expect(status == 1 && text.hasPrefix("error \(code)"), "\(text)")
        #expect(Finding(in: container) == Self.before && container.staging.isEmpty)
        #expect(try RunningProcess(Self.command(container)).finish().text == "40003\n")
    }

    // fault: power-cut
    @Test(arguments: [true, false])
    func `a transaction that was committed before a power cut is completed in the next boot`(isDurable: Bool) throws {
        let durability = isDurable ? "durable" : "relaxed"
        let calls = try Self.calls(durability)
        let renames = calls.filter { $0.name.hasPrefix("rename") }
        for (number, rename) in renames.enumerated() {
            let container = try Self.prepare()
            _ = try Strace.run(Self.command(container, durability), fault: .kill, at: rename)
            try Self.reboot(container)
            _ = try container.groupctl("read", "kept")
            #expect(container.staging.isEmpty)
            // The kill is before the call: at the first rename nothing is decided yet.
            if isDurable { expectWhole(container, try container.changes(), number > 0, "cut at \(rename)") }
        }
    }

    /// Leaves the container as a boot does: the member table names another boot.
    private static func reboot(_ container: TemporaryContainer) throws {
        let memberTable = try #require(FileHandle(forUpdatingAtPath: "\(container.path)/.group/members"))
        try memberTable.seek(toOffset: 32)
        try memberTable.write(contentsOf: Data("another boot, another boot, anot".utf8))
        try memberTable.close()
    }

    // fault: writer-killed
    @Test(arguments: [true, false])
    func `a committed transaction is completed, though its first repair was killed at any call`(
        isOtherBoot: Bool
    ) throws {
        // The transaction is committed, and the first of its four steps is taken.
        let rename = try #require(try Self.calls().filter { $0.name.hasPrefix("rename") }.dropFirst(2).first)
        let interrupted = {
            let container = try Self.prepare()
            _ = try Strace.run(Self.command(container), fault: .kill, at: rename)
            if isOtherBoot { try Self.reboot(container) }
            return container
        }
        let read = { (container: TemporaryContainer) in ["groupctl", "read", container.path, "kept"] }
        let model = try interrupted()
        let calls = try Strace.calls(of: read(model), input: "", in: model)
        #expect(calls.filter { $0.name.hasPrefix("rename") }.count >= 3)
        for call in Self.sample(calls) {
            let container = try interrupted()
            _ = try Strace.run(read(container), fault: .kill, at: call)
            #expect(try container.groupctl("read", "kept").text == "text", "killed at \(call)")
            expectWhole(container, try container.changes(), true, "killed at \(call)")
        }
    }
}
