import GroupSystemCalls
import TestSupport
import Testing

@testable import GroupContainer

@Suite(.timeLimit(.minutes(1)))
struct `Coordinated moves` {
    @Test func `moving a directory moves its contents, with one record that has the old path`() throws {
        let sample = try SampleContainer()
        let tester = sample.coordinator().blocking
        _ = try tester.write(bytes: [1], to: "a/b/file")
        #expect(try tester.move("a", to: "new/place/c").generation == 6)
        #expect(try tester.readBytes("new/place/c/b/file") == [1])
        #expect(try sample.container.items().map(\.path) == ["new"])
        var follower = try sample.container.recordedChanges(since: .start)
        var last: Change?
        while let change = try follower.next(timeout: .zero) { last = change }
        #expect(last?.kind == .moved(from: "a") && last?.path == "new/place/c" && last?.type == .directory)
        try sample.expectNothingLeft()
    }

    @Test func `a move replaces a file only if it may`() throws {
        let sample = try SampleContainer()
        let tester = sample.coordinator().blocking
        _ = try tester.write(bytes: [1], to: "a")
        _ = try tester.write(bytes: [2], to: "b")
        let error = #expect(throws: CoordinationError.self) { try tester.move("a", to: "b") }
        #expect(error?.code == .conflict && error?.item == "b" && error?.operation == "move")
        #expect(try tester.readBytes("a") == [1] && tester.readBytes("b") == [2])
        #expect(try tester.move("a", to: "b", replacing: true).generation == 3)
        #expect(try tester.readBytes("b") == [1])
        #expect(try sample.history() == ["created a", "created b", "moved b"])
        try sample.expectNothingLeft()
    }

    @Test func `a move needs the lock of its destination, too`() throws {
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

    @Test func `a move replaces an empty directory, and no other`() throws {
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
    func `moving a directory into itself is refused`(destination: ItemPath) throws {
        let sample = try SampleContainer()
        let tester = sample.coordinator().blocking
        try tester.createDirectory("a")
        #expect(code { try tester.move("a", to: destination, replacing: true) } == .invalidArgument)
        #expect(try sample.history() == ["created a"])
    }

    // fault: symbolic-link
    @Test func `moving a symbolic link moves the link itself, and a link at the destination is replaced`() throws {
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

    @Test func `moving a file onto its other hard link removes the old name`() throws {
        let sample = try SampleContainer()
        let tester = sample.coordinator().blocking
        _ = try tester.write(bytes: [1], to: "a")
        try sample.temporary.run("ln", "a", "b")
        #expect(code { try tester.move("a", to: "b") } == .conflict)
        try tester.move("a", to: "b", replacing: true)
        #expect(try sample.container.items().map(\.path) == ["b"])
        // The other name had not been reported before.
        #expect(try sample.history() == ["created a", "touched a", "created b", "removed a"])
    }

    @Test func `a move is reported to followers of items below either end`() throws {
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
        #expect(try seen("a/todo.json") == ["removed a"], "it went where no pattern matches")
        #expect(try seen("b/*.json") == ["created b/todo.json", "removed b"])
        #expect(try seen("**/x") == ["moved b", "removed b"])
        #expect(try seen("c/todo.json") == [])
        _ = try tester.write(bytes: [1], to: "b")
        try tester.remove("b")
        #expect(try seen("b/*.json") == ["created b/todo.json", "removed b"], "a file has nothing below it")
    }
}

@Suite(.timeLimit(.minutes(1)))
struct `Setting modes` {
    @Test func `setting a mode is recorded as a touch, also for directories and FIFOs`() throws {
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
        // The FIFO had not been reported before.
        #expect(
            try sample.history().suffix(4) == ["touched file", "touched directory", "created fifo", "touched fifo"])
        #expect(try tester.setMode(0, of: "file") == .written(7))
        #expect(code { try tester.setMode(0o10000, of: "file") } == .invalidArgument)
        #expect(code { try tester.setMode(0o600, of: "missing") } == .notFound)
        try sample.expectNothingLeft()
    }

    @Test func `setting the mode of a symbolic link sets that of its target`() throws {
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
