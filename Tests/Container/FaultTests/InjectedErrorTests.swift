import GroupContainer
import GroupSystemCalls
import TestSupport
import Testing

/// The kernel refuses or interrupts one of a write's system calls.
@Suite(.ownThreads, .enabled(if: Strace.isThere, Strace.isMissing), .timeLimit(.minutes(5)), .tags(.process))
struct `Writes with a failing system call` {
    /// How the write ends for its user.
    enum Outcome: Sendable { case refused, visibleOnly, unharmed }

    struct Fault: Sendable, CustomTestStringConvertible {
        var name: String
        /// The number of the call among those of that name, from the first that touches staging on.
        var number = 1
        var error: String
        var code: String
        var outcome: Outcome

        var testDescription: String { "\(name) \(number): \(error)" }
    }

    // The write is the content, the pwrite the intent record; the first fsync is the file's, the second the
    // directory's.
    static let faults: [Fault] =
        refusals("EIO", "inputOutput") + refusals("ENOSPC", "noSpace") + refusals("EDQUOT", "noSpace")
        + (before + behind + [("openat2", 1)]).map {
            Fault(name: $0.0, number: $0.1, error: "EINTR", code: "", outcome: .unharmed)
        }

    private static let before = [("write", 1), ("pwrite", 1), ("fsync", 1), ("rename", 1)]
    private static let behind = [("fsync", 2), ("fdatasync", 1)]

    private static func refusals(_ error: String, _ code: String) -> [Fault] {
        before.map { Fault(name: $0.0, number: $0.1, error: error, code: code, outcome: .refused) }
            + behind.map { Fault(name: $0.0, number: $0.1, error: error, code: "notDurable", outcome: .visibleOnly) }
    }

    // fault: file-sync-fails, short-write
    @Test(arguments: faults, [true, false])
    func `a write with a failing call reports it, and leaves the old content or a record of the new`(
        fault: Fault, isNew: Bool
    ) throws {
        let container = try TemporaryContainer()
        if !isNew { _ = try container.groupctl("write", "item", input: "old\n") }
        let old = container.content(of: "item")
        let command = ["groupctl", "write", "--json", container.path, "item"]
        let call = try place(of: fault, isNew: isNew)
        let (status, text) = try Strace.run(command, input: "new\n", fault: .error(fault.error), at: call)

        #expect(status == (fault.outcome == .unharmed ? 0 : 74), "\(text)")
        if fault.outcome != .unharmed { #expect(text.contains(#""code":"\#(fault.code)""#), "\(text)") }
        #expect(container.content(of: "item") == (fault.outcome == .refused ? old : "new\n"))
        #expect(container.staging.isEmpty)
        let before = isNew ? 0 : 1
        #expect(try container.changes().count == before + (fault.outcome == .refused ? 0 : 1))
        try expectGoodHealth(of: container)
    }

    /// Expects writes to succeed again, as the call failed only once.
    private func expectGoodHealth(of container: TemporaryContainer) throws {
        let count = try container.changes().count
        for word in ["durable", "again"] {
            let (status, text) = try container.groupctl("write", "item", input: "\(word)\n")
            #expect(status == 0, "\(text)")
        }
        #expect(try container.groupctl("write", "--relaxed", "other", input: "x").status == 0)
        #expect(try container.changes().count == count + 3)
        // The 40,000 filler records name items that were never there, so that the invariants do not hold for them.
        if count < 1_000 { #expect(try Invariants.broken(in: container) == []) }
        #expect(container.staging.isEmpty)
    }

    /// Returns that call as the same write makes it, counted from its start.
    private func place(of fault: Fault, isNew: Bool) throws -> Strace.Call {
        let model = try TemporaryContainer()
        if !isNew { _ = try model.groupctl("write", "item", input: "old\n") }
        let calls = try Strace.calls(
            of: ["groupctl", "write", "--json", model.path, "item"], input: "new\n", in: model)
        let isWrite = { (call: Strace.Call) in call.name == "write" }
        let start = try #require(calls.firstIndex(where: isWrite)) - 1
        let matching = calls[start...].filter { $0.name.hasPrefix(fault.name) }
        try #require(matching.count >= fault.number, "\(calls)")
        return matching[fault.number - 1]
    }

    // fault: disk-full
    @Test(arguments: [("EIO", "inputOutput"), ("ENOSPC", "noSpace")])
    func `a write is refused before anything happens when the journal cannot have room`(error: String, code: String)
        throws
    {
        let container = try TemporaryContainer()
        // A segment of the journal is three quarters full, when the next one is allocated.
        let filler = try container.member("append", "40000", "filler")
        _ = try filler.finish()
        let command = ["groupctl", "write", "--json", container.path, "item"]
        let call = Strace.Call(name: "fallocate", number: 1)
        let (status, text) = try Strace.run(command, input: "new\n", fault: .error(error), at: call)
        #expect(status == 74 && text.contains(#""code":"\#(code)""#), "\(text)")
        #expect(container.content(of: "item") == nil)
        #expect(container.staging.isEmpty)
        #expect(container.journalFiles == ["1.log"])
        #expect(try container.changes().count == 40_000)
        let interrupted = try Strace.run(command, input: "new\n", fault: .error("EINTR"), at: call)
        #expect(interrupted.status == 0, "\(interrupted.text)")
        try expectGoodHealth(of: container)
    }

    @Test(arguments: ["EIO", "ENOSPC", "EINTR"], [1, 2])
    func `creating a container with a failing call reports it, and succeeds afterwards`(error: String, number: Int)
        throws
    {
        let container = try TemporaryContainer(creating: false)
        let command = ["groupctl", "create", container.path]
        let (status, text) = try Strace.run(
            command, fault: .error(error), at: Strace.Call(name: "fallocate", number: number))
        #expect(status == (error == "EINTR" ? 0 : 74), "\(text)")
        #expect(try container.groupctl("create").status == 0)
        try expectGoodHealth(of: container)
    }

    // fault: directory-sync-fails
    @Test func `a member goes on in the same process after the disk refused a record`() throws {
        let container = try TemporaryContainer()
        let writer = try Strace.start(
            ["test-member", "write-durably", container.path, "item", "3"], fault: .error("EIO"),
            at: Strace.Call(name: "fdatasync", number: 2))
        let (_, text) = try writer.finish()
        #expect(text == "1\nnotDurable\n3\n")
        #expect(try container.changes().map(\.sequence) == [1, 2, 3])
    }

    // fault: directory-sync-fails
    @Test func `a member changes nothing while no record can reach the disk, and is readable`() throws {
        let container = try TemporaryContainer()
        let writer = try Strace.start(
            ["test-member", "write-durably", container.path, "item", "3"], fault: .error("EIO"),
            at: Strace.Call(name: "fdatasync", number: 1), andAllLater: true)
        #expect(try writer.finish().text == "notDurable\ninputOutput\ninputOutput\n")
        #expect(container.content(of: "item") == "1\n")
        #expect(try container.changes().map(\.sequence) == [1])
        #expect(try container.groupctl("read", "item").text == "1\n")
        #expect(container.staging.isEmpty)
        try expectGoodHealth(of: container)
    }
}
