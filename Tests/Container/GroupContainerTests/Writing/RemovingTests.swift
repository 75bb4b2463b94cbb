import GroupSystemCalls
import TestSupport
import Testing

@testable import GroupContainer
@testable import GroupLocking

@Suite(.timeLimit(.minutes(1)))
struct `Removing items` {
    @Test func `removing a file makes one record, and leaves nothing in staging`() throws {
        let sample = try SampleContainer()
        let tester = sample.coordinator().blocking
        _ = try tester.write(bytes: [1], to: "a/file")
        #expect(try tester.remove("a/file").generation == 3)
        #expect(code { try tester.readBytes("a/file") } == .notFound)
        #expect(code { try tester.remove("a/file") } == .notFound)
        #expect(try sample.history() == ["created a", "created a/file", "removed a/file"])
        try sample.expectNothingLeft()
    }

    @Test func `removing a directory with items in it is refused unless it is recursive`() throws {
        let sample = try SampleContainer()
        let tester = sample.coordinator().blocking
        _ = try tester.write(bytes: [1], to: "a/b/file")
        _ = try tester.write(bytes: [1], to: "a/other")
        #expect(code { try tester.remove("a") } == .notEmpty)
        #expect(code { try tester.remove("a/b") } == .notEmpty)
        #expect(try tester.readBytes("a/b/file") == [1])
        let before = try sample.history().count
        try tester.remove("a", recursively: true)
        #expect(try sample.container.items().isEmpty)
        #expect(try sample.history()[before...] == ["removed a"], "one record for all of it")
        try tester.createDirectory("empty")
        try tester.remove("empty")
        #expect(try sample.container.items().isEmpty)
        try sample.expectNothingLeft()
    }

    // fault: symbolic-link
    @Test func `removing a symbolic link removes the link, and never its target`() throws {
        let sample = try SampleContainer()
        let tester = sample.coordinator().blocking
        _ = try tester.write(bytes: [1], to: "directory/file")
        try sample.temporary.run("ln", "-s", "directory", "link")
        try sample.temporary.run("ln", "-s", "/etc/hostname", "out")
        try sample.temporary.run("ln", "-s", "../..", "directory/up")
        for link in ["link", "out"] as [ItemPath] { try tester.remove(link) }
        #expect(try tester.readBytes("directory/file") == [1])
        #expect(code { try tester.remove("directory/up/x") } == .outsideContainer)
        try tester.remove("directory", recursively: true)
        #expect(try sample.container.items().isEmpty)
        try sample.expectNothingLeft()
    }

    @Test func `a FIFO can be moved and removed`() throws {
        let sample = try SampleContainer()
        try sample.temporary.run("mkfifo", "fifo")
        try sample.coordinator().blocking.move("fifo", to: "moved")
        try sample.coordinator().blocking.remove("moved")
        #expect(try sample.history() == ["created fifo", "moved moved", "removed moved"])
        #expect(try sample.container.items().isEmpty)
    }

    // fault: bad-name
    @Test(arguments: ["", "a//b", "..", "/etc/passwd", ".group", ".group/format", "a\0", "a/../../b"])
    func `removing or changing a path that names no item is refused`(name: String) throws {
        let sample = try SampleContainer()
        let tester = sample.coordinator().blocking
        _ = try tester.write(bytes: [1], to: "file")
        let path = ItemPath(name)
        let expected = code { try tester.readBytes(path) }
        #expect(expected == .invalidArgument || expected == .outsideContainer)
        #expect(code { try tester.remove(path, recursively: true) } == expected)
        #expect(code { try tester.move(path, to: "new") } == expected)
        #expect(code { try tester.move("file", to: path, replacing: true) } == expected)
        #expect(code { try tester.copy(path, to: "new") } == expected)
        #expect(code { try tester.copy("file", to: path, replacing: true) } == expected)
        #expect(code { try tester.createDirectory(path) } == expected)
        #expect(code { try tester.setMode(0o600, of: path) } == expected)
        #expect(try sample.history() == ["created file"])
    }

    @Test func `a removal needs an access that permits it`() throws {
        let sample = try SampleContainer()
        let tester = sample.coordinator().blocking
        _ = try tester.write(bytes: [1], to: "directory/file")
        #expect(
            code { try tester.coordinate(.writing("other")) { try $0.remove("directory/file") } } == .invalidArgument)
        #expect(
            code { try tester.coordinate(.reading("directory/file")) { try $0.remove("directory/file") } }
                == .invalidArgument
        )
        #expect(
            code { try tester.coordinate(.writing("directory")) { try $0.remove("directory", recursively: true) } }
                == .invalidArgument)
        try tester.coordinate(.writing("directory", .forDeleting)) { access in
            try access.remove("directory/file")
            try access.remove("directory")
        }
        #expect(try sample.container.items().isEmpty)
    }

    @Test func `removing a directory waits for holders of items in it`() throws {
        let sample = try SampleContainer()
        let tester = sample.coordinator().blocking
        _ = try tester.write(bytes: [1], to: "directory/inner/file")
        let reader = LockHolding(sample.coordinator("reader"), .reading("directory/inner/file"))
        #expect(code { try tester.remove("directory", recursively: true, timeout: .zero) } == .lockTimedOut)
        try reader.end()
        try tester.remove("directory", recursively: true, timeout: .zero)
    }

    @Test func `async changes of items work as blocking ones`() async throws {
        let sample = try SampleContainer()
        let tester = sample.coordinator()
        #expect(try await tester.createDirectory("a/b") == .written(2))
        #expect(try await tester.createDirectory("a/b") == .unchanged)
        try await tester.write(bytes: [1], to: "a/b/file")
        #expect(try await tester.copy("a/b/file", to: "copy") == .written(4))
        #expect(try await tester.move("a", to: "c").generation == 5)
        #expect(try await tester.setMode(0o600, of: "copy", durability: .relaxed) == .written(6))
        #expect(try await tester.remove("c", recursively: true).generation == 7)
        #expect(try sample.container.items().map(\.path) == ["copy"])
    }
}

extension SampleContainer {
    /// Expects nothing in staging, and nothing to be repaired.
    func expectNothingLeft(_ location: SourceLocation = #_sourceLocation) throws {
        #expect(
            try temporary.staged().isEmpty, sourceLocation: location)
        #expect(container.opened.memberTable.slotsWithInFlight().isEmpty, sourceLocation: location)
    }
}
