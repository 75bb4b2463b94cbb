import GroupSystemCalls
import TestSupport
import Testing

@testable import GroupContainer

@Suite(.timeLimit(.minutes(1)))
struct `Coordinated copies` {
    @Test(arguments: [0, 1, 70_000, 3_000_000])
    func `a coordinated copy has the content and the mode of the original`(size: Int) throws {
        let sample = try SampleContainer()
        let tester = sample.coordinator().blocking
        let content = (0..<size).map { UInt8(truncatingIfNeeded: $0 ^ $0 >> 8) }
        _ = try tester.write(bytes: content, to: "a", mode: 0o640)
        #expect(try tester.copy("a", to: "new/b") == .written(3))
        #expect(try tester.readBytes("new/b") == content)
        #expect(try sample.temporary.status(of: "new/b").permissions == 0o640)
        #expect(try tester.readBytes("a") == content)
        #expect(try sample.history() == ["created a", "created new", "created new/b"])
        try sample.expectNothingLeft()
    }

    @Test func `a coordinated copy replaces a file only if it may, and not one with the same content`() throws {
        let sample = try SampleContainer()
        let tester = sample.coordinator().blocking
        _ = try tester.write(bytes: [1, 2], to: "a", mode: 0o600)
        _ = try tester.write(bytes: [2, 2], to: "b", mode: 0o600)
        #expect(code { try tester.copy("a", to: "b") } == .conflict)
        #expect(try tester.readBytes("b") == [2, 2])
        #expect(try tester.copy("a", to: "b", replacing: true) == .written(3))
        #expect(try tester.copy("a", to: "b", replacing: true) == .unchanged)
        try tester.setMode(0o644, of: "a")
        #expect(try tester.copy("a", to: "b", replacing: true) == .written(5))
        #expect(try sample.history() == ["created a", "created b", "modified b", "touched a", "modified b"])
        try sample.expectNothingLeft()
    }

    @Test func `copying a directory or FIFO as a file, or onto one, is refused`() throws {
        let sample = try SampleContainer()
        let tester = sample.coordinator().blocking
        _ = try tester.write(bytes: [1], to: "directory/file")
        try sample.temporary.run("mkfifo", "fifo")
        #expect(code { try tester.copy("directory", to: "new") } == .wrongType)
        #expect(code { try tester.copy("fifo", to: "new") } == .wrongType)
        #expect(code { try tester.copy("missing", to: "new") } == .notFound)
        #expect(code { try tester.copy("directory/file", to: "directory", replacing: true) } == .wrongType)
        #expect(code { try tester.copy("directory/file", to: "fifo", replacing: true) } == .wrongType)
        #expect(code { try tester.copy("directory/file", to: "directory/file", replacing: true) } == .invalidArgument)
        try sample.temporary.run("ln", "-s", "/etc/hostname", "out")
        #expect(code { try tester.copy("out", to: "new") } == .outsideContainer)
        #expect(code { try tester.copy("directory/file", to: "out", replacing: true) } == .wrongType)
        #expect(try sample.history() == ["created directory", "created directory/file"])
        try sample.expectNothingLeft()
    }

    @Test func `a copy of a symbolic link has the content of the link's target`() throws {
        let sample = try SampleContainer()
        let tester = sample.coordinator().blocking
        _ = try tester.write(bytes: [7], to: "file")
        try sample.temporary.run("ln", "-s", "file", "link")
        try tester.copy("link", to: "copy")
        #expect(try sample.temporary.status(of: "copy").isRegularFile)
        #expect(try tester.readBytes("copy") == [7])
    }
}

@Suite(.timeLimit(.minutes(1)))
struct `Creating directories` {
    @Test func `a created directory has a record, and so have the directories around it`() throws {
        let sample = try SampleContainer()
        let tester = sample.coordinator().blocking
        #expect(try tester.createDirectory("a/b") == .written(2))
        #expect(try tester.createDirectory("a") == .unchanged)
        _ = try tester.write(bytes: [1], to: "file")
        #expect(code { try tester.createDirectory("file") } == .wrongType)
        #expect(code { try tester.createDirectory("file/inner") } == .wrongType)
        #expect(try sample.history() == ["created a", "created a/b", "created file"])
        try sample.expectNothingLeft()
    }
}
