import GroupSystemCalls
import TestSupport
import Testing

@testable import GroupContainer

@Suite(.timeLimit(.minutes(1)))
struct `Paths in a container` {
    /// The container is the directory `c`; `outside` and `secret` beside it do not belong to it.
    private struct Confined {
        let temporary: TemporaryDirectory
        let tester: BlockingCoordinator

        init() throws {
            temporary = try TemporaryDirectory()
            let container = try Container(path: temporary.path + "/c", creating: true)
            tester = container.coordinator(purpose: "tester").blocking
            try temporary.put("secret", at: "secret")
            try temporary.run("mkdir", "outside", "c/Library")
        }
    }

    @Test(arguments: ["real.json", "./real.json", "Library/../real.json", "Library/inner"])
    func `writing through a symbolic link changes its target, and the link stays`(target: String) throws {
        let confined = try Confined()
        try confined.temporary.run("ln", "-s", target, "c/link.json")
        try confined.temporary.put("old", at: "c/real.json")
        try confined.temporary.run("ln", "-s", "../real.json", "c/Library/inner")
        #expect(try confined.tester.readBytes("link.json") == Array("old".utf8))
        #expect(try confined.tester.write(bytes: [1], to: "link.json") == .written(1))
        #expect(try confined.tester.readBytes("real.json") == [1])
        #expect(try confined.tester.readBytes("link.json") == [1])
        let root = try confined.temporary.open("c", [.reading, .directory])
        #expect(try root.linkTarget(of: Array("link.json".utf8)) == Array(target.utf8))
        #expect(try root.status(of: Array("real.json".utf8)).isRegularFile)
    }

    @Test func `writing through a symbolic link whose target does not exist creates the target`() throws {
        let confined = try Confined()
        try confined.temporary.run("ln", "-s", "new/file", "c/link")
        #expect(code { try confined.tester.readBytes("link") } == .notFound)
        _ = try confined.tester.write(bytes: [1], to: "link")
        #expect(try confined.tester.readBytes("new/file") == [1])
    }

    // fault: symbolic-link
    @Test(arguments: ["../secret", "/etc/hostname", "Library/../../secret", "..", ".", ".group/format", "link", "/"])
    func `a symbolic link that leads out of its container cannot be read or written`(target: String) throws {
        let confined = try Confined()
        try confined.temporary.run("ln", "-s", target, "c/link")
        #expect(code { try confined.tester.readBytes("link") } == .outsideContainer)
        #expect(code { try confined.tester.write(bytes: [1], to: "link") } == .outsideContainer)
        #expect(try confined.temporary.content(of: "secret") == "secret")
    }

    @Test(arguments: ["Library", "../outside", "/tmp"])
    func `a path through a directory that is a symbolic link is refused`(target: String) throws {
        let confined = try Confined()
        try confined.temporary.put("x", at: "c/Library/file")
        try confined.temporary.put("x", at: "outside/file")
        try confined.temporary.run("ln", "-s", target, "c/Lib")
        // Inside the container the path is another name of an item, which would have another lock.
        let expected: CoordinationError.Code = target == "Library" ? .invalidArgument : .outsideContainer
        for path in ["Lib/file", "Lib/new", "Lib/new/file"] as [ItemPath] {
            #expect(code { try confined.tester.readBytes(path) } == expected)
            #expect(code { try confined.tester.write(bytes: [1], to: path) } == expected)
        }
        #expect(try confined.temporary.content(of: "outside/file") == "x")
        #expect(try confined.temporary.open("outside", [.reading, .directory]).entryNames().count == 1)
    }

    // fault: bad-name
    @Test(
        arguments: [
            ("", CoordinationError.Code.invalidArgument), ("a//b", .invalidArgument), ("./a", .invalidArgument),
            ("a\0", .invalidArgument), ("../secret", .outsideContainer), ("/etc/passwd", .outsideContainer),
            (".group/format", .outsideContainer), ("a/../../secret", .outsideContainer),
            (String(repeating: "x", count: 256), .invalidArgument),
            (String(repeating: "xy/", count: 1_366), .invalidArgument),
        ])
    func `reading or writing a path that names no item is refused`(path: String, expected: CoordinationError.Code)
        throws
    {
        let confined = try Confined()
        #expect(code { try confined.tester.readBytes(ItemPath(path)) } == expected)
        #expect(code { try confined.tester.write(bytes: [1], to: ItemPath(path)) } == expected)
    }

    @Test func `reading a missing item is an error`() throws {
        let confined = try Confined()
        let error = #expect(throws: CoordinationError.self) { try confined.tester.readBytes("missing") }
        #expect(error?.code == .notFound && error?.item == "missing" && error?.operation == "read")
        #expect(code { try confined.tester.readBytes("Library/missing/file") } == .notFound)
    }

    @Test func `reading or writing a directory as a file is an error`() throws {
        let confined = try Confined()
        #expect(code { try confined.tester.readBytes("Library") } == .wrongType)
        #expect(code { try confined.tester.write(bytes: [1], to: "Library") } == .wrongType)
    }

    @Test func `writing below a file is an error`() throws {
        let confined = try Confined()
        try confined.temporary.put("x", at: "c/file")
        #expect(code { try confined.tester.write(bytes: [1], to: "file/inner") } == .wrongType)
        #expect(code { try confined.tester.write(bytes: [1], to: "file/inner/most") } == .wrongType)
        #expect(try confined.temporary.content(of: "c/file") == "x")
    }

    @Test func `reading or writing a FIFO is an error, without waiting for its other end`() throws {
        let confined = try Confined()
        try confined.temporary.run("mkfifo", "c/fifo")
        let tester = confined.tester
        let side = Side {
            [
                code { try tester.readBytes("fifo") }, code { try tester.write(bytes: [1], to: "fifo") },
                code { try tester.updateBytes("fifo") { _ in [1] } },
            ]
        }
        #expect(try side.answer() == [.wrongType, .wrongType, .wrongType])
    }
}
