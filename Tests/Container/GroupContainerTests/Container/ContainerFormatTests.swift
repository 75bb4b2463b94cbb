import GroupSystemCalls
import TestSupport
import Testing

@testable import GroupContainer

@Suite(.timeLimit(.minutes(1)))
struct `Format files` {
    /// Makes a container that no process has open.
    private static func closed() throws -> TemporaryDirectory {
        let temporary = try TemporaryDirectory()
        _ = try Container(path: temporary.path, creating: true)
        return temporary
    }

    private static let digits = String(repeating: "0", count: 32)

    @Test(
        arguments: [
            ("", CoordinationError.Code.damaged), ("\0\0\0\0", .damaged), ("not JSON", .damaged), ("[]", .damaged),
            ("{}", .damaged), (#"{"format": "1"}"#, .damaged), (#"{"format": 3}"#, .damaged),
            (#"{"format": 0, "container": "\#(digits)", "hashKey": "\#(digits)", "lockInode": 1}"#, .damaged),
            (#"{"format": 3, "container": "00", "hashKey": "\#(digits)", "lockInode": 1}"#, .damaged),
            (#"{"format": 3, "container": "\#(digits)", "hashKey": "zz", "lockInode": 1}"#, .damaged),
            (#"{"format": 2}"#, .olderFormat), (#"{"format": 4}"#, .newerFormat),
            (#"{"format": 999, "future": [1]}"#, .newerFormat),
        ], [false, true])
    func `an invalid or unsupported format file is an error, and stays as it is`(
        content: (text: String, code: CoordinationError.Code), creating: Bool
    ) throws {
        let temporary = try Self.closed()
        try temporary.put(content.text, at: ".group/format")
        let error = #expect(throws: CoordinationError.self) {
            _ = try Container(path: temporary.path, creating: creating)
        }
        #expect(error?.code == content.code)
        #expect(error?.item == ".group/format")
        #expect(try temporary.content(of: ".group/format") == content.text)
    }

    @Test(arguments: [false, true])
    func `a directory in place of the format file is an error, and stays as it is`(creating: Bool) throws {
        let temporary = try Self.closed()
        try temporary.run("rm", ".group/format")
        try temporary.run("mkdir", "-m", "0750", ".group/format")
        #expect(code { try Container(path: temporary.path, creating: creating) } == .damaged)
        #expect(try temporary.open(".group/format", [.reading, .directory]).status().permissions == 0o750)
    }

    @Test(arguments: [false, true])
    func `a FIFO in place of the format file is an error, without waiting for its other end`(creating: Bool) throws {
        let temporary = try Self.closed()
        try temporary.run("rm", ".group/format")
        try temporary.run("mkfifo", ".group/format")
        let side = Side { code { try Container(path: temporary.path, creating: creating) } }
        let found = try? side.answer()
        // Lets the reader go if it does wait.
        if found == nil { try temporary.run("sh", "-c", "echo > .group/format") }
        #expect(found == .damaged)
    }

    @Test func `opening a container keeps unknown keys of its format file`() throws {
        let temporary = try Self.closed()
        let old = try temporary.content(of: ".group/format")
        let more = "{\n  \"future\" : true," + old.dropFirst()
        try temporary.put(more, at: ".group/format")
        _ = try Container(path: temporary.path)
        #expect(try temporary.content(of: ".group/format") == more)
    }

    @Test func `a damaged member table or missing lock file leaves the format file as it is`() throws {
        let temporary = try Self.closed()
        let old = try temporary.content(of: ".group/format")
        try temporary.put("short", at: ".group/members")
        #expect(code { try Container(path: temporary.path) } == .damaged)
        try temporary.run("rm", ".group/lock")
        #expect(code { try Container(path: temporary.path) } == .damaged)
        #expect(throws: Errno.noSuchEntry) { try temporary.status(of: ".group/lock") }
        #expect(try temporary.content(of: ".group/format") == old)
    }
}

@Suite(.timeLimit(.minutes(1)))
struct `Copies of a container` {
    private static func copied(whileOpen: Bool) throws -> (
        temporary: TemporaryDirectory, cursor: Cursor, original: String
    ) {
        let temporary = try TemporaryDirectory()
        let container = try Container(path: temporary.path + "/original", creating: true)
        let tester = container.coordinator(purpose: "tester").blocking
        for number in 0..<5 { _ = try tester.write(bytes: [UInt8(number)], to: "file") }
        let status = try container.status()
        if whileOpen { try temporary.run("cp", "-a", "original", "copy") }
        return (temporary, status.cursor, status.containerIdentifier)
    }

    @Test(arguments: [false, true])
    func `a copied container gets its own identity and keeps its history`(whileOpen: Bool) throws {
        let (temporary, cursor, original) = try Self.copied(whileOpen: whileOpen)
        if !whileOpen { try temporary.run("cp", "-a", "original", "copy") }
        let copy = try Container(path: temporary.path + "/copy")
        #expect(try copy.status().containerIdentifier != original)
        #expect(try copy.status().sequence == 5)
        #expect(try copy.status().members.count == 1)
        #expect(try Container(path: temporary.path + "/original").status().containerIdentifier == original)

        // A cursor of the original's history gives one rescan, and then the changes that follow.
        var follower = try copy.recordedChanges(since: .cursor(cursor))
        #expect(try follower.next(timeout: .zero)?.kind == .rescan)
        #expect(try follower.next(timeout: .zero) == nil)
        _ = try copy.coordinator(purpose: "tester").blocking.write(bytes: [9], to: "file")
        let change = try #require(try follower.next(timeout: .zero))
        #expect(change.kind == .modified && change.sequence == 6)

        var all = try copy.recordedChanges(since: .start)
        var sequences: [UInt64] = []
        while let change = try all.next(timeout: .zero) { sequences.append(change.sequence.rawValue) }
        #expect(sequences == [1, 2, 3, 4, 5, 6])
        #expect(try copy.coordinator(purpose: "tester").blocking.readBytes("file") == [9])
    }

    @Test func `a copied container keeps its new identity when it is opened again`() throws {
        let (temporary, _, _) = try Self.copied(whileOpen: true)
        let path = temporary.path + "/copy"
        let first = try Container(path: path).status().containerIdentifier
        #expect(try Container(path: path).status().containerIdentifier == first)
    }
}
