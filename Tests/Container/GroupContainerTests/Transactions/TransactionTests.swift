import GroupSystemCalls
import TestSupport
import Testing

@testable import GroupContainer

@Suite(.timeLimit(.minutes(1)))
struct `Transactions of items` {
    private struct Mine: Error {}

    private let sample: SampleContainer
    private let tester: BlockingCoordinator

    init() throws {
        sample = try SampleContainer()
        tester = sample.coordinator().blocking
        _ = try tester.write(bytes: [1], to: "a", durability: .relaxed)
        _ = try tester.write(bytes: [2], to: "b", durability: .relaxed)
    }

    private func staging() throws -> [String] { try sample.temporary.staged() }

    private func history() throws -> [String] { Array(try sample.history().dropFirst(2)) }

    @Test(arguments: [Durability.durable, .relaxed])
    func `a transaction makes all its changes visible together, with one generation`(durability: Durability) throws {
        let (answer, generation) = try tester.transaction(
            .writing("a"), .writing("new/directory/c"), .writing("b"), durability: durability
        ) { access in
            #expect(try access.write(bytes: [3], to: "a") == .staged)
            #expect(try access.write(bytes: [4], to: "new/directory/c") == .staged)
            try access.remove("b")
            #expect(try sample.temporary.content(of: "a") == "\u{1}")
            #expect(try sample.temporary.content(of: "b") == "\u{2}")
            #expect(try sample.container.items().map(\.path) == ["a", "b"])
            return "answer"
        }
        #expect(answer == "answer" && generation == 3)
        #expect(try tester.readBytes("a") == [3])
        #expect(try tester.readBytes("new/directory/c") == [4])
        #expect(code { try tester.readBytes("b") } == .notFound)
        #expect(
            try history() == [
                "modified a", "created new", "created new/directory", "created new/directory/c", "removed b",
            ])
        var follower = try sample.container.recordedChanges(since: .start, matching: ["a", "b"])
        _ = (try follower.next(timeout: .zero), try follower.next(timeout: .zero))
        let (first, last) = (try follower.next(timeout: .zero), try follower.next(timeout: .zero))
        #expect(first?.sequence == 3 && last?.sequence == 3 && first?.generation == generation)
        #expect(first?.transaction?.identifier == last?.transaction?.identifier)
        #expect(first?.author?.purpose == "tester" && first?.size == 1 && first?.type == .file)
        #expect(try staging() == [])
        // The items are as the record describes them: they are not taken for external changes.
        try sample.container.noteUncoordinatedChanges()
        #expect(try history().count == 5)
    }

    @Test func `a transaction reads what it wrote`() throws {
        try tester.transaction(.writing("a"), .writing("b"), .writing("c/d"), .reading("e")) { access in
            try access.write(json: [7], to: "c/d")
            #expect(try access.read("c/d", as: [Int].self) == [7])
            try access.write(bytes: [8], to: "c/d")
            #expect(try access.readBytes("c/d") == [8])
            try access.remove("a")
            #expect(try access.readBytesIfPresent("a") == nil)
            #expect(code { try access.remove("a") } == .notFound)
            #expect(try access.readBytes("b") == [2])
            try access.write(bytes: [9], to: "b")
            try access.remove("b")
            #expect(code { try access.readBytes("b") } == .notFound)
            try access.write(bytes: [10], to: "a")
            #expect(try access.readBytes("a") == [10])
            #expect(try access.readBytesIfPresent("e") == nil)
        }
        #expect(try history() == ["created c", "created c/d", "modified a", "removed b"])
        #expect(try tester.readBytes("a") == [10] && tester.readBytes("c/d") == [8])
        #expect(try staging() == [])
    }

    @Test func `a transaction whose closure throws changes nothing and leaves nothing behind`() throws {
        #expect(throws: Mine.self) {
            try tester.transaction(.writing("a"), .writing("new/c"), .writing("b")) { access in
                try access.write(bytes: [3], to: "a")
                try access.write(bytes: [4], to: "new/c")
                try access.remove("b")
                throw Mine()
            }
        }
        #expect(try history() == [] && staging() == [])
        #expect(try sample.container.items().map(\.path) == ["a", "b"])
        #expect(try sample.holding().isEmpty)
    }

    @Test func `a transaction that changes nothing has no record`() throws {
        let (_, generation) = try tester.transaction(.writing("a"), .writing("b"), .writing("c")) { access in
            #expect(try access.write(bytes: [1], to: "a") == .unchanged)
            try access.write(bytes: [5], to: "b")
            #expect(try access.write(bytes: [2], to: "b") == .unchanged)
            #expect(try access.readBytes("b") == [2])
            try access.write(bytes: [6], to: "c")
            try access.remove("c")
        }
        #expect(generation == nil)
        #expect(try history() == [] && staging() == [])
    }

    @Test func `a transaction keeps the mode of what it replaces, and records a change of the mode alone`() throws {
        try sample.temporary.put("old", at: "kept", mode: 0o640)
        try tester.transaction(.writing("kept"), .writing("a")) { access in
            try access.write(bytes: [1], to: "kept")
            #expect(try access.write(bytes: [1], to: "a", mode: 0o604) == .staged)
        }
        #expect(try sample.temporary.status(of: "kept").permissions == 0o640)
        #expect(try sample.temporary.status(of: "a").permissions == 0o604)
        #expect(try history() == ["modified kept", "touched a"])
    }

    @Test func `a transaction removes a directory that it has emptied`() throws {
        _ = try tester.write(bytes: [1], to: "d/x", durability: .relaxed)
        #expect(code { try tester.transaction(.writing("d")) { try $0.remove("d") } } == .invalidArgument)
        try tester.transaction(.writing("d", .forDeleting)) { access in
            #expect(code { try access.remove("d") } == .notEmpty)
            try access.remove("d/x")
            try access.remove("d")
            #expect(code { try access.write(bytes: [1], to: "d/x") } == .notFound)
        }
        #expect(try history().suffix(2) == ["removed d/x", "removed d"])
        #expect(try sample.container.items().map(\.path) == ["a", "b"])
        #expect(try staging() == [])
    }

    @Test func `a transaction makes directories, and removes a directory with its contents`() throws {
        _ = try tester.write(bytes: [1], to: "d/x/y", durability: .relaxed)
        let count = try history().count
        try tester.transaction(.writing("d", .forDeleting), .writing("e/f"), .writing("a")) { access in
            #expect(try access.createDirectory("e/f") == .staged)
            #expect(try access.createDirectory("e/f") == .staged)
            #expect(code { try access.createDirectory("a") } == .wrongType)
            try access.write(bytes: [2], to: "d/x/y")
            try access.remove("d", recursively: true)
            #expect(code { try access.createDirectory("d") } == .conflict)
        }
        #expect(try history().dropFirst(count) == ["created e", "created e/f", "removed d"])
        #expect(try sample.container.items().map(\.path) == ["a", "b", "e"])
        #expect(try staging() == [])
        #expect(try tester.transaction(.writing("e/f")) { try $0.createDirectory("e/f") }.answer == .unchanged)
    }

    @Test func `a transaction refuses items that it did not request, and operations that do not fit`() throws {
        try tester.transaction(.reading("a"), .writing("b"), .writing("f/g"), .writing("f"), .writing("a/x")) {
            access in
            #expect(code { try access.write(bytes: [1], to: "c") } == .invalidArgument)
            #expect(code { try access.remove("a") } == .invalidArgument)
            #expect(code { try access.write(bytes: [1], to: "a/x") } == .wrongType)
            try access.write(bytes: [1], to: "f/g")
            #expect(code { try access.write(bytes: [1], to: "f") } == .wrongType)
            #expect(code { try access.readBytes("f") } == .wrongType)
            #expect(code { try access.remove("f") } == .notEmpty)
        }
        #expect(try history() == ["created f", "created f/g"])
    }

    @Test func `a transaction's access is refused after its closure`() throws {
        var kept: Access?
        try tester.transaction(.writing("a")) { kept = $0 }
        let access = try #require(kept)
        #expect(code { try access.write(bytes: [3], to: "a") } == .invalidArgument)
        #expect(code { try access.readBytes("a") } == .invalidArgument)
        #expect(try sample.temporary.content(of: "a") == "\u{1}")
    }

    @Test func `an external file in the way of a transaction undoes all its changes`() throws {
        #expect(
            code {
                try tester.transaction(.writing("a"), .writing("new/c"), .writing("b"), .writing("z")) { access in
                    try access.write(bytes: [3], to: "a")
                    try access.write(bytes: [4], to: "new/c")
                    try access.remove("b")
                    try access.write(bytes: [5], to: "z")
                    try sample.temporary.put("foreign", at: "z")
                }
            } == .conflict)
        #expect(try sample.temporary.content(of: "a") == "\u{1}")
        #expect(try sample.temporary.content(of: "b") == "\u{2}")
        #expect(try sample.temporary.content(of: "z") == "foreign")
        #expect(try sample.container.items().map(\.path) == ["a", "b", "z"])
        #expect(try history() == [] && staging() == [])
        try tester.transaction(.writing("a"), .writing("z")) { access in
            try access.write(bytes: [3], to: "a")
            try access.write(bytes: [5], to: "z")
        }
        #expect(try history() == ["modified a", "modified z"])
    }

    @Test func `an async transaction works as a blocking one`() async throws {
        let (answer, generation) = try await sample.coordinator().transaction(.writing("a"), .writing("b")) { access in
            try access.write(bytes: access.readBytes("b"), to: "a")
            try access.write(bytes: [1], to: "b")
            return 5
        }
        #expect(answer == 5 && generation == 3)
        #expect(try await sample.coordinator().readBytes("a") == [2])
        #expect(try staging() == [])
    }
}
