import GroupSystemCalls
import TestSupport
import Testing

@testable import GroupContainer
@testable import GroupLocking

private struct Todo: Codable, Equatable, Sendable {
    var title: String
    var done = false
}

@Suite(.timeLimit(.minutes(1)))
struct `Coordinated writes` {
    @Test func `a written file is read back, and unchanged when it is written again`() throws {
        let sample = try SampleContainer()
        let tester = sample.coordinator().blocking
        #expect(try tester.write(bytes: [1, 2], to: "file") == .written(1))
        #expect(try tester.readBytes("file") == [1, 2])
        #expect(try tester.write(bytes: [1, 2], to: "file") == .unchanged)
        #expect(try tester.write(bytes: [1, 3], to: "file") == .written(2))
        #expect(try tester.write(bytes: [], to: "file", durability: .relaxed) == .written(3))
        #expect(try tester.readBytes("file") == [])
        #expect(try sample.history() == ["created file", "modified file", "modified file"])
    }

    @Test func `async writes, reads and updates work as blocking ones`() async throws {
        let sample = try SampleContainer()
        let tester = sample.coordinator()
        #expect(try await tester.write(bytes: [1], to: "file") == .written(1))
        #expect(try await tester.readBytes("file") == [1])
        #expect(try await tester.write(json: [Todo(title: "Milk")], to: "todo") == .written(2))
        #expect(try await tester.read("todo", as: [Todo].self) == [Todo(title: "Milk")])
        let changed = try await tester.update("todo", default: [Todo]()) { $0.append(Todo(title: "Eggs", done: true)) }
        #expect(changed.value.map(\.title) == ["Milk", "Eggs"] && changed.generation == Generation(rawValue: 3))
        #expect(try await tester.read("todo", as: [Todo].self) == changed.value)
        #expect(try await tester.update("todo", default: [Todo]()) { _ in } == changed, "nothing was written")
        try await tester.write(bytes: [], to: "empty")
        try await tester.update("empty", default: [Todo]()) { $0.append(Todo(title: "Tea")) }
        #expect(try await tester.read("empty", as: [Todo].self).map(\.title) == ["Tea"])
    }

    @Test func `an update of a value starts from its default, and fails on what does not decode`() throws {
        let sample = try SampleContainer()
        let tester = sample.coordinator().blocking
        try tester.update("new", default: 41) { $0 += 1 }
        #expect(try tester.read("new", as: Int.self) == 42)
        try sample.temporary.put("{broken", at: "new")
        #expect(code { try tester.update("new", default: 0) { $0 += 1 } } == .invalidContent)
        #expect(code { try tester.read("new", as: Int.self) } == .invalidContent)
        #expect(code { try tester.write(json: Double.nan, to: "new") } == .invalidContent)
        #expect(try sample.temporary.content(of: "new") == "{broken")
    }

    @Test func `JSON of more than 256 MiB is refused before it is read`() async throws {
        let sample = try SampleContainer()
        let tester = sample.coordinator()
        // One hole.
        let path = Array("\(sample.temporary.path)/huge".utf8)
        let file = try FileDescriptor.open(path: path, [.writing, .creating], mode: 0o600)
        try file.setSize((256 << 20) + 1)
        let blocking = tester.blocking
        let error = #expect(throws: CoordinationError.self) { try blocking.read("huge", as: Int.self) }
        #expect(error?.reason == "it has 268435457 bytes, and JSON of more than 256 MiB is not decoded as a whole")
        #expect(code { try blocking.read("huge", as: Int.self, default: 1) } == .invalidContent)
        #expect(code { try blocking.update("huge", default: 0) { $0 += 1 } } == .invalidContent)
        await #expect(throws: CoordinationError.self) { try await tester.read("huge", as: Int.self) }
        await #expect(throws: CoordinationError.self) { try await tester.update("huge", default: 0) { $0 += 1 } }
    }

    @Test func `code for any item coordinator changes items`() async throws {
        let sample = try SampleContainer()
        func change(by coordinator: some ItemCoordinator) async throws {
            #expect(try await coordinator.write(bytes: [1], to: "a").isChanged)
            #expect(try await coordinator.write(text: "b", to: "b").isChanged)
            #expect(try await coordinator.update("n", default: 1) { $0 += 1 }.value == 2)
            #expect(try await coordinator.updateBytes("b") { ($0 ?? []) + [33] }.isChanged)
            try await coordinator.createDirectory("d")
            try await coordinator.copy("a", to: "d/copy")
            try await coordinator.move("a", to: "d/a")
            try await coordinator.transaction(.writing("x"), .writing("y")) { access in
                for path: ItemPath in ["x", "y"] { try access.write(text: "1", to: path) }
            }
            try await coordinator.remove("d", recursively: true)
        }
        try await change(by: sample.coordinator())
        let items = try sample.container.items().map(\.path.description)
        #expect(items == ["b", "n", "x", "y"])
        #expect(try sample.coordinator().blocking.readText("b") == "b!")
    }

    @Test func `text is written and read as UTF-8, and bytes that are none are refused`() async throws {
        let sample = try SampleContainer()
        let tester = sample.coordinator()
        #expect(try await tester.write(text: "Grüße\n", to: "text") == .written(1))
        #expect(try await tester.readText("text") == "Grüße\n")
        #expect(try tester.blocking.write(text: "Grüße\n", to: "text") == .unchanged)
        try tester.blocking.write(bytes: [0x47, 0xFF], to: "text")
        #expect(code { try tester.blocking.readText("text") } == .invalidContent)
        #expect(code { try tester.blocking.readText("missing") } == .notFound)
    }

    @Test func `a value is read with a default for an absent or empty item, and damage is no absence`() async throws {
        let sample = try SampleContainer()
        let tester = sample.coordinator()
        #expect(try await tester.read("n", as: Int.self, default: 7) == 7)
        try sample.temporary.put("", at: "n")
        #expect(try tester.blocking.read("n", as: Int.self, default: 7) == 7)
        try await tester.write(json: 1, to: "n")
        #expect(try await tester.read("n", as: Int.self, default: 7) == 1)
        try sample.temporary.put("{broken", at: "n")
        #expect(code { try tester.blocking.read("n", as: Int.self, default: 7) } == .invalidContent)
    }

    @Test func `a value that is written in an access is read there, with its generation`() async throws {
        let sample = try SampleContainer()
        let tester = sample.coordinator()
        try await tester.coordinate([.writing("numbers"), .reading("other")]) { access in
            #expect(try access.write(json: [1, 2], to: "numbers") == .written(1))
            #expect(try access.read("numbers", as: [Int].self) == [1, 2])
            let version = try access.readVersion("numbers", as: [Int].self)
            #expect(version.value == [1, 2] && version.generation == 1)
            #expect(code { try access.read("numbers", as: String.self) } == .invalidContent)
            #expect(code { try access.readVersion("numbers", as: String.self) } == .invalidContent)
            #expect(code { try access.read("other", as: [Int].self) } == .notFound)
        }
    }

    @Test func `setting a mode through a symbolic link needs an existing target`() throws {
        let sample = try SampleContainer()
        try sample.temporary.run("ln", "-s", "nowhere", "link")
        let tester = sample.coordinator().blocking
        #expect(code { try tester.setMode(0o600, of: "link") } == .notFound)
        _ = try tester.write(bytes: [1], to: "nowhere")
        #expect(try tester.setMode(0o604, of: "link") == .written(2))
        #expect(try sample.temporary.status(of: "nowhere").permissions == 0o604)
    }

    @Test func `an update of bytes gets the present content, or nil`() throws {
        let tester = try SampleContainer()
        let blocking = tester.coordinator().blocking
        #expect(try blocking.updateBytes("a") { ($0 ?? [7]) + [1] } == .written(1))
        #expect(try blocking.updateBytes("a") { ($0 ?? [7]) + [2] } == .written(2))
        #expect(try blocking.readBytes("a") == [7, 1, 2])
    }

    @Test func `an update whose closure throws changes nothing and gives its lock back`() throws {
        struct Mine: Error {}
        let sample = try SampleContainer()
        let tester = sample.coordinator().blocking
        _ = try tester.write(bytes: [1], to: "a")
        #expect(throws: Mine.self) { try tester.updateBytes("a") { _ in throw Mine() } }
        #expect(try tester.write(bytes: [2], to: "a", timeout: .zero) == .written(2))
        #expect(try sample.holding().isEmpty)
    }

    // fault: attributes
    @Test(arguments: [0o640, 0o600, 0o755, 0o400, 0o2664] as [UInt32])
    func `a write keeps the mode of the file it replaces`(mode: UInt32) throws {
        let sample = try SampleContainer()
        try sample.temporary.put("old", at: "file", mode: mode)
        let tester = sample.coordinator()
        #expect(try tester.blocking.write(bytes: Array("new".utf8), to: "file") == .written(1))
        #expect(try sample.temporary.status(of: "file").permissions == mode)
        #expect(try sample.temporary.content(of: "file") == "new")
    }

    @Test func `a write with a mode sets it, also where the bytes are the same`() throws {
        let sample = try SampleContainer()
        let tester = sample.coordinator().blocking
        _ = try tester.write(bytes: [1], to: "file", mode: 0o640)
        #expect(try sample.temporary.status(of: "file").permissions == 0o640)
        #expect(try tester.write(bytes: [1], to: "file", mode: 0o600) == .written(2))
        #expect(try sample.temporary.status(of: "file").permissions == 0o600)
        #expect(try tester.write(bytes: [1], to: "file", mode: 0o600) == .unchanged)
    }

    @Test func `a write creates missing directories, each with its record`() throws {
        let sample = try SampleContainer()
        #expect(try sample.coordinator().blocking.write(bytes: [1], to: "a/b/c") == .written(3))
        #expect(try sample.history() == ["created a", "created a/b", "created a/b/c"])
        #expect(try sample.coordinator().blocking.readBytes("a/b/c") == [1])
    }

    @Test func `a write leaves nothing in staging and no in-flight operation`() throws {
        let sample = try SampleContainer()
        let tester = sample.coordinator().blocking
        for number in 0..<20 { _ = try tester.write(bytes: [UInt8(number)], to: "a/file-\(number % 3)") }
        #expect(code { try tester.write(bytes: [1], to: "a") } == .wrongType)
        #expect(try sample.temporary.staged().isEmpty)
        #expect(sample.container.opened.memberTable.slotsWithInFlight().isEmpty)
    }

    // fault: hard-links
    @Test func `a write breaks a hard link: the other name keeps the old content`() throws {
        let sample = try SampleContainer()
        try sample.temporary.put("old", at: "file")
        try sample.temporary.run("ln", "file", "other")
        _ = try sample.coordinator().blocking.write(bytes: [1], to: "file")
        #expect(try sample.temporary.content(of: "other") == "old")
    }

    @Test func `a change contains the process and the purpose of its writer`() throws {
        let sample = try SampleContainer()
        _ = try sample.coordinator("the app").blocking.write(bytes: [1], to: "file")
        var follower = try sample.container.recordedChanges(since: .start)
        let change = try #require(try follower.next(timeout: .zero))
        #expect(change.author == Change.Author(processIdentifier: processIdentifier(), purpose: "the app"))
        #expect(change.isCoordinated && change.size == 1 && change.type == .file)
    }

    @Test func `a write of other content of the same size is a change, of the same content none`()
        throws
    {
        let sample = try SampleContainer()
        let tester = sample.coordinator().blocking
        #expect(try tester.write(bytes: Array("one".utf8), to: "a") == .written(1))
        #expect(try tester.write(bytes: Array("two".utf8), to: "a") == .written(2))
        #expect(try tester.write(bytes: Array("two".utf8), to: "a") == .unchanged)
        // Another program writes into the file that this process wrote, and then a tool that keeps the dates.
        let file = try sample.temporary.open("a")
        try file.overwrite(Array("new".utf8))
        #expect(try tester.write(bytes: Array("new".utf8), to: "a") == .unchanged)
        #expect(try tester.write(bytes: Array("two".utf8), to: "a") != .unchanged)
        #expect(try tester.readBytes("a") == Array("two".utf8))
    }
}
