import GroupSystemCalls
import TestSupport
import Testing

@testable import GroupContainer

@Suite(.timeLimit(.minutes(1)))
struct `A coordinated move` {
    @Test func `of a directory takes everything in it along, with one record that says from where`() throws {
        let sample = try SampleContainer()
        let tester = sample.coordinator().blocking
        _ = try tester.write(bytes: [1], to: "a/b/file")
        #expect(try tester.move("a", to: "new/place/c") == 6)
        #expect(try tester.readBytes("new/place/c/b/file") == [1])
        #expect(try sample.container.items().map(\.path) == ["new"])
        var follower = try sample.container.recordedChanges(since: .start)
        var last: Change?
        while let change = try follower.next(timeout: .zero) { last = change }
        #expect(last?.kind == .moved(from: "a") && last?.path == "new/place/c" && last?.type == .directory)
        try sample.expectNothingLeft()
    }

    @Test func `replaces a file only where it is told to`() throws {
        let sample = try SampleContainer()
        let tester = sample.coordinator().blocking
        _ = try tester.write(bytes: [1], to: "a")
        _ = try tester.write(bytes: [2], to: "b")
        let error = #expect(throws: CoordinationError.self) { try tester.move("a", to: "b") }
        #expect(error?.code == .conflict && error?.item == "b" && error?.operation == "move")
        #expect(try tester.readBytes("a") == [1] && tester.readBytes("b") == [2])
        #expect(try tester.move("a", to: "b", replacing: true) == 3)
        #expect(try tester.readBytes("b") == [1])
        #expect(try sample.history() == ["created a", "created b", "moved b"])
        try sample.expectNothingLeft()
    }

    @Test func `needs the lock of its destination, too`() throws {
        let sample = try SampleContainer()
        let tester = sample.coordinator().blocking
        _ = try tester.write(bytes: [1], to: "a")
        let error = #expect(throws: CoordinationError.self) {
            try tester.coordinate(.writing("a", .forMoving)) { access in _ = try access.move("a", to: "b") }
        }
        #expect(error?.code == .invalidArgument && error?.item == "b" && error?.operation == "move")
        #expect(try tester.readBytes("a") == [1])
        try sample.expectNothingLeft()
    }

    @Test func `replaces a directory that is empty, and no other`() throws {
        let sample = try SampleContainer()
        let tester = sample.coordinator().blocking
        _ = try tester.write(bytes: [1], to: "a/file")
        try tester.createDirectory("empty")
        _ = try tester.write(bytes: [2], to: "full/file")
        #expect(code { try tester.move("a", to: "empty") } == .conflict)
        #expect(code { try tester.move("a", to: "full", replacing: true) } == .notEmpty)
        #expect(code { try tester.move("a", to: "full/file", replacing: true) } == .wrongType)
        #expect(code { try tester.move("full/file", to: "empty", replacing: true) } == .wrongType)
        try tester.move("a", to: "empty", replacing: true)
        #expect(try tester.readBytes("empty/file") == [1])
        try sample.expectNothingLeft()
    }

    @Test(arguments: ["a", "a/b", "a/b/c/d"] as [ItemPath])
    func `into itself is refused`(destination: ItemPath) throws {
        let sample = try SampleContainer()
        let tester = sample.coordinator().blocking
        try tester.createDirectory("a")
        #expect(code { try tester.move("a", to: destination, replacing: true) } == .invalidArgument)
        #expect(try sample.history() == ["created a"])
    }

    // case 24
    @Test func `of a link moves the link, and replaces a link rather than follow it`() throws {
        let sample = try SampleContainer()
        let tester = sample.coordinator().blocking
        _ = try tester.write(bytes: [1], to: "file")
        try sample.temporary.run("ln", "-s", "/etc/hostname", "link")
        try tester.move("link", to: "moved")
        #expect(try sample.temporary.directory.linkTarget(of: Array("moved".utf8)) == Array("/etc/hostname".utf8))
        try tester.move("file", to: "moved", replacing: true)
        #expect(try sample.temporary.content(of: "moved") == "\u{1}")
        try sample.temporary.run("ln", "-s", "..", "up")
        #expect(code { try tester.move("moved", to: "up/out") } == .outsideContainer)
        #expect(code { try tester.move("up/out", to: "in") } == .outsideContainer)
    }

    @Test func `onto another name of the same file takes the one away`() throws {
        let sample = try SampleContainer()
        let tester = sample.coordinator().blocking
        _ = try tester.write(bytes: [1], to: "a")
        try sample.temporary.run("ln", "a", "b")
        #expect(code { try tester.move("a", to: "b") } == .conflict)
        try tester.move("a", to: "b", replacing: true)
        #expect(try sample.container.items().map(\.path) == ["b"])
        // Of the other name nobody had been told.
        #expect(try sample.history() == ["created a", "touched a", "created b", "removed a"])
    }

    @Test func `concerns who follows something below either end`() throws {
        let sample = try SampleContainer()
        let tester = sample.coordinator().blocking
        _ = try tester.write(bytes: [1], to: "a/todo.json")
        let cursor = try sample.container.status().cursor
        func seen(_ pattern: String) throws -> [String] {
            var follower = try sample.container.recordedChanges(
                since: .cursor(cursor), matching: ChangeFilter(including: [pattern]))
            var names: [String] = []
            while let change = try follower.next(timeout: .zero) { names.append("\(change.kind.name) \(change.path)") }
            return names
        }
        try tester.move("a", to: "b")
        try tester.remove("b", recursively: true)
        #expect(try seen("a/todo.json") == ["removed a"], "it went where nobody looks")
        #expect(try seen("b/*.json") == ["created b/todo.json", "removed b"])
        #expect(try seen("**/x") == ["moved b", "removed b"])
        #expect(try seen("c/todo.json") == [])
        _ = try tester.write(bytes: [1], to: "b")
        try tester.remove("b")
        #expect(try seen("b/*.json") == ["created b/todo.json", "removed b"], "a file has nothing below it")
    }
}

@Suite(.timeLimit(.minutes(1)))
struct `A mode that is set` {
    @Test func `is a touch of its own, also of a directory and of what is no file`() throws {
        let sample = try SampleContainer()
        let tester = sample.coordinator().blocking
        _ = try tester.write(bytes: [1], to: "file")
        try tester.createDirectory("directory")
        try sample.temporary.run("mkfifo", "fifo")
        for path in ["file", "directory", "fifo"] as [ItemPath] {
            #expect(try tester.setMode(0o750, of: path) != .unchanged)
            #expect(try tester.setMode(0o750, of: path) == .unchanged)
            #expect(try sample.temporary.status(of: path.description).permissions == 0o750)
        }
        // Of this one nobody had been told.
        #expect(
            try sample.history().suffix(4) == ["touched file", "touched directory", "created fifo", "touched fifo"])
        #expect(try tester.setMode(0, of: "file") == .written(7))
        #expect(code { try tester.setMode(0o10000, of: "file") } == .invalidArgument)
        #expect(code { try tester.setMode(0o600, of: "missing") } == .notFound)
        try sample.expectNothingLeft()
    }

    @Test func `is that of what a link leads to`() throws {
        let sample = try SampleContainer()
        let tester = sample.coordinator().blocking
        _ = try tester.write(bytes: [1], to: "file", mode: 0o600)
        try sample.temporary.run("ln", "-s", "file", "link")
        try sample.temporary.run("ln", "-s", "nothing", "lost")
        try tester.setMode(0o640, of: "link")
        #expect(try sample.temporary.status(of: "file").permissions == 0o640)
        #expect(code { try tester.setMode(0o640, of: "lost") } == .notFound)
    }
}
