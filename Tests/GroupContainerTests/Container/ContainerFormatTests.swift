import GroupSystemCalls
import TestSupport
import Testing

@testable import GroupContainer

@Suite(.timeLimit(.minutes(1)))
struct `A format file` {
    /// A container that nobody has open.
    private static func closed() throws -> TemporaryDirectory {
        let temporary = try TemporaryDirectory()
        _ = try Container(path: temporary.path, creating: true)
        return temporary
    }

    private static let digits = String(repeating: "0", count: 32)

    @Test(
        arguments: [
            ("", CoordinationError.Code.damaged), ("\0\0\0\0", .damaged), ("not JSON", .damaged), ("[]", .damaged),
            ("{}", .damaged), (#"{"format": "1"}"#, .damaged), (#"{"format": 2}"#, .damaged),
            (#"{"format": 0, "container": "\#(digits)", "hashKey": "\#(digits)", "lockInode": 1}"#, .damaged),
            (#"{"format": 2, "container": "00", "hashKey": "\#(digits)", "lockInode": 1}"#, .damaged),
            (#"{"format": 2, "container": "\#(digits)", "hashKey": "zz", "lockInode": 1}"#, .damaged),
            (#"{"format": 1}"#, .olderFormat), (#"{"format": 3}"#, .newerFormat),
            (#"{"format": 999, "future": [1]}"#, .newerFormat),
        ], [false, true])
    func `that is not one is said, and left as it is`(
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
    func `that is a directory is said, and left as it is`(creating: Bool) throws {
        let temporary = try Self.closed()
        try temporary.run("rm", ".group/format")
        try temporary.run("mkdir", "-m", "0750", ".group/format")
        #expect(code { try Container(path: temporary.path, creating: creating) } == .damaged)
        #expect(try temporary.open(".group/format", [.reading, .directory]).status().permissions == 0o750)
    }

    @Test(arguments: [false, true])
    func `that is a FIFO is said without waiting for its other end`(creating: Bool) throws {
        let temporary = try Self.closed()
        try temporary.run("rm", ".group/format")
        try temporary.run("mkfifo", ".group/format")
        let side = Side { code { try Container(path: temporary.path, creating: creating) } }
        let found = try? side.answer()
        // Lets the reader go if it does wait.
        if found == nil { try temporary.run("sh", "-c", "echo > .group/format") }
        #expect(found == .damaged)
    }

    @Test func `keeps the keys it does not know while nothing is to be written`() throws {
        let temporary = try Self.closed()
        let old = try temporary.content(of: ".group/format")
        let more = "{\n  \"future\" : true," + old.dropFirst()
        try temporary.put(more, at: ".group/format")
        _ = try Container(path: temporary.path)
        #expect(try temporary.content(of: ".group/format") == more)
    }

    @Test func `stays when the member table is damaged or the lock file is missing`() throws {
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
struct `A copy of a container` {
    private static func copied(whileOpen: Bool) throws -> (
        temporary: TemporaryDirectory, cursor: Cursor, original: String
    ) {
        let temporary = try TemporaryDirectory()
        let container = try Container(path: temporary.path + "/original", creating: true)
        let tester = container.coordinator(purpose: "tester").blocking
        for number in 0..<5 { _ = try tester.write(bytes: [UInt8(number)], to: "file") }
        let status = try container.status()
        if whileOpen { try temporary.run("cp", "-a", "original", "copy") }
        return (temporary, status.cursor, status.container)
    }

    @Test(arguments: [false, true])
    func `gets an identity of its own and keeps its history`(whileOpen: Bool) throws {
        let (temporary, cursor, original) = try Self.copied(whileOpen: whileOpen)
        if !whileOpen { try temporary.run("cp", "-a", "original", "copy") }
        let copy = try Container(path: temporary.path + "/copy")
        #expect(try copy.status().container != original)
        #expect(try copy.status().sequence == 5)
        #expect(try copy.status().members.count == 1)
        #expect(try Container(path: temporary.path + "/original").status().container == original)

        // A cursor of the other history ends in one rescan, then what comes follows.
        var follower = try copy.recordedChanges(since: .cursor(cursor))
        #expect(try follower.next(timeout: .zero)?.kind == .rescan)
        #expect(try follower.next(timeout: .zero) == nil)
        _ = try copy.coordinator(purpose: "tester").blocking.write(bytes: [9], to: "file")
        let change = try #require(try follower.next(timeout: .zero))
        #expect(change.kind == .modified && change.sequence == 6)

        var all = try copy.recordedChanges(since: .start)
        var sequences: [UInt64] = []
        while let change = try all.next(timeout: .zero) { sequences.append(change.sequence) }
        #expect(sequences == [1, 2, 3, 4, 5, 6])
        #expect(try copy.coordinator(purpose: "tester").blocking.readBytes("file") == [9])
    }

    @Test func `keeps its new identity`() throws {
        let (temporary, _, _) = try Self.copied(whileOpen: true)
        let path = temporary.path + "/copy"
        let first = try Container(path: path).status().container
        #expect(try Container(path: path).status().container == first)
    }
}
