import GroupSystemCalls
import TestSupport
import Testing

@testable import GroupContainer

@Suite(.timeLimit(.minutes(1)))
struct `A coordinated copy` {
    @Test(arguments: [0, 1, 70_000, 3_000_000])
    func `has the content and the mode of the original`(size: Int) throws {
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

    @Test func `replaces a file only where it is told to, and not by the same`() throws {
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

    @Test func `of what is no file, or onto it, is refused`() throws {
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

    @Test func `of a link has the content of what it leads to`() throws {
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
struct `A directory that is made` {
    @Test func `has a record, and those on the way`() throws {
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
