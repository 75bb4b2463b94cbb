import Testing

@testable import GroupCommands
@testable import GroupContainer

/// A change with every field that a line can print.
func sample(
    _ kind: Change.Kind, _ path: ItemPath, _ type: ItemType? = .file, by purpose: String? = "todo-app"
) -> Change {
    let cursor = Cursor(container: 1, segment: 1, offset: 80, sequence: 41, checksum: 2)
    var change = Change(kind, path, sequence: cursor.sequence, cursor: cursor, time: 1_700_000_000_123_000_000)
    change.type = type
    change.author = purpose.map { Change.Author(processIdentifier: 812, purpose: $0) }
    return change
}

@Suite struct `A line format` {
    private func line(_ format: String, _ change: Change) throws -> String {
        String(decoding: try LineFormat(Array(format.utf8)).line(change), as: UTF8.self)
    }

    @Test(
        arguments: [
            ("%w%f", "a/b/c\n"), ("%w|%f", "a/b/|c\n"), ("%e", "MODIFY\n"), ("%q %p %u", "41 812 todo-app\n"),
            ("100%% of %f", "100% of c\n"), ("%f%0", "c\0"), ("%f%n", "c\n"), ("%f%%n", "c%n\n"), ("%f%n%f", "c\nc\n"),
            ("", "\n"),
            ("ä", "ä\n"),
            ("%C", "g1-0100000000000000010000005000000029000000000000000200000000000000\n"), ("%c", "0\n"),
            ("%T", "2023-11-14T22:13:20.123Z\n"), ("[%o]", "[]\n"),
        ])
    func `each sequence of a line format prints its part of the change`(format: String, expected: String) throws {
        #expect(try line(format, sample(.modified, "a/b/c")) == expected)
    }

    @Test(
        arguments: [
            (Change.Kind.created, ItemType.file, "CREATE"), (.created, .directory, "CREATE,ISDIR"),
            (.modified, .file, "MODIFY"),
            (.touched, .directory, "ATTRIB,ISDIR"), (.removed, .file, "DELETE"), (.moved(from: "b"), .file, "MOVED_TO"),
            (.moved(from: "b"), .directory, "MOVED_TO,ISDIR"), (.exchanged(with: "b"), .file, "EXCHANGED"),
            (.present, .directory, "PRESENT,ISDIR"), (.bookmark, .file, "BOOKMARK"), (.rescan, .file, "RESCAN"),
            (.degraded(reason: "x"), .file, "DEGRADED"),
        ])
    func `a line format prints the event in inotify's words`(kind: Change.Kind, type: ItemType, expected: String) throws
    {
        #expect(try line("%e", sample(kind, "a", type)) == expected + "\n")
    }

    @Test func `a line format joins the events of a removed directory with its separator`() throws {
        var removed = sample(.removed, "a", nil)
        removed.takesDirectory = true
        #expect(try line("%e %:e", removed) == "DELETE,ISDIR DELETE:ISDIR\n")
    }

    @Test func `a line format prints both paths and the number of a move`() throws {
        #expect(try line("%o > %w%f %c", sample(.moved(from: "x/y"), "z")) == "x/y > z 29\n")
    }

    @Test func `a line format escapes names only on a terminal`() throws {
        let change = sample(.created, ItemPath(bytes: [0xff, 0x0a, 0x1b]), by: "a\u{202e}b")
        let format = try LineFormat(Array("%f %u".utf8))
        #expect(format.line(change) == [0xff, 0x0a, 0x1b, 0x20] + Array("a\u{202e}b\n".utf8))
        #expect(
            String(decoding: format.line(change, isForTerminal: true), as: UTF8.self) == #"\377\n\033 a\342\200\256b"#
                + "\n")
    }

    @Test func `a line format prints the time in its own format and the local time zone`() throws {
        let format = try LineFormat(Array("%T".utf8), timeFormat: Array("%Y%%".utf8))
        #expect(format.line(sample(.created, "a")) == Array("2023%\n".utf8))
    }

    @Test(
        arguments: [
            ("%z", LineFormat.Fault.unknown(sequence: [UInt8(ascii: "z")], position: 1)),
            ("ab%xy", .unknown(sequence: [UInt8(ascii: "x")], position: 3)), ("%f %", .incomplete(position: 4)),
        ])
    func `a malformed line format is refused with its position`(format: String, fault: LineFormat.Fault) {
        #expect(throws: fault) { try LineFormat(Array(format.utf8)) }
        #expect("\(fault)".contains("character"))
    }
}
