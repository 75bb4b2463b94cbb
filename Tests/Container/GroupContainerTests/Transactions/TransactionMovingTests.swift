import GroupSystemCalls
import TestSupport
import Testing

@testable import GroupContainer

@Suite(.timeLimit(.minutes(1)))
struct `Moves and copies in a transaction` {
    private struct Mine: Error {}

    private let sample: SampleContainer
    private let tester: BlockingCoordinator

    init() throws {
        sample = try SampleContainer()
        tester = sample.coordinator().blocking
        for (number, item) in ["a", "b", "d/e/f"].enumerated() {
            _ = try tester.write(bytes: [UInt8(number + 1)], to: ItemPath(item), durability: .relaxed, mode: 0o640)
        }
    }

    private func history() throws -> [String] { Array(try sample.history().dropFirst(5)) }

    private func expectNothingExternal() throws {
        let before = try history()
        try sample.container.noteUncoordinatedChanges()
        #expect(try history() == before)
        try sample.expectNothingLeft()
    }

    @Test(arguments: [Durability.durable, .relaxed])
    func `a transaction moves a file and writes a new one to its old place`(durability: Durability) throws {
        let inode = try sample.temporary.status(of: "a").inode
        let (_, generation) = try tester.transaction(
            .writing("a", .forMoving), .writing("b", .forReplacing), .writing("new/c", .forReplacing),
            durability: durability
        ) { access throws in
            try access.move("b", to: "new/c")
            try access.move("a", to: "b")
            #expect(try access.readBytes("b") == [1] && access.readBytes("new/c") == [2])
            #expect(try access.readBytesIfPresent("a") == nil)
            #expect(code { try access.move("a", to: "new/c") } == .notFound)
            try access.write(bytes: [9], to: "a")
            #expect(try access.readBytes("a") == [9])
        }
        #expect(generation == 6)
        #expect(try history() == ["created new", "moved new/c", "moved b", "created a"])
        #expect(try sample.temporary.status(of: "b").inode == inode)
        #expect(try tester.readBytes("a") == [9] && tester.readBytes("new/c") == [2])
        try expectNothingExternal()
    }

    @Test func `a transaction moves a file over another only if it may replace it`() throws {
        try tester.transaction(.writing("a", .forMoving), .writing("b", .forReplacing)) { access throws in
            #expect(code { try access.move("a", to: "b") } == .conflict)
            #expect(code { try access.move("a", to: "b", replacing: true, if: .generation(9)) } == .conflict)
            try access.move("a", to: "b", replacing: true, if: .generation(1))
        }
        #expect(try history() == ["moved b"])
        #expect(try tester.readBytes("b") == [1])
        #expect(code { try tester.readBytes("a") } == .notFound)
        try expectNothingExternal()
    }

    @Test func `a transaction moves a directory with its contents, which can be read at the new place`() throws {
        try tester.transaction(.writing("d/e", .forMoving), .writing("x/y", .forMoving), .writing("d", .forDeleting)) {
            access throws in
            try access.move("d/e", to: "x/y")
            #expect(try access.readBytes("x/y/f") == [3])
            #expect(try access.readBytesIfPresent("d/e/f") == nil)
            #expect(code { try access.write(bytes: [1], to: "x/y/f") } == .invalidArgument)
            #expect(code { try access.write(bytes: [1], to: "x/y/g") } == .invalidArgument)
            #expect(code { try access.remove("x/y", recursively: true) } == .invalidArgument)
            #expect(code { try access.createDirectory("x/y") } == .invalidArgument)
            try access.remove("d")
        }
        #expect(try history() == ["created x", "moved x/y", "removed d"])
        #expect(try tester.readBytes("x/y/f") == [3])
        try expectNothingExternal()
    }

    @Test func `a transaction refuses to move what it changed, and what cannot be moved`() throws {
        try tester.transaction(
            .writing("a", .forMoving), .writing("b", .forReplacing), .writing("d", .forMoving),
            .writing("n/m", .forMoving)
        ) { access throws in
            try access.write(bytes: [7], to: "d/e/g")
            #expect(code { try access.move("d", to: "n/m") } == .invalidArgument)
            #expect(code { try access.move("d/e/g", to: "n/m") } == .invalidArgument)
            #expect(code { try access.move("a", to: "d", replacing: true) } == .wrongType)
            #expect(code { try access.move("a", to: "a/b") } == .invalidArgument)
            #expect(code { try access.move("a", to: "other") } == .invalidArgument)
            #expect(code { try access.move("missing", to: "a") } == .invalidArgument)
            try access.remove("b")
            #expect(code { try access.move("b", to: "n/m") } == .notFound)
            #expect(code { try access.move("a", to: "b") } == .invalidArgument)
        }
        #expect(try history() == ["created d/e/g", "removed b"])
        try sample.expectNothingLeft()
    }

    @Test func `a transaction that moves a file over its other hard link removes the old name`() throws {
        try sample.temporary.run("ln", "a", "same")
        try tester.transaction(.writing("a", .forMoving), .writing("same", .forReplacing)) { access throws in
            try access.move("a", to: "same", replacing: true)
        }
        #expect(try sample.temporary.status(of: "same").links == 1)
        #expect(code { try tester.readBytes("a") } == .notFound)
    }

    @Test func `a transaction copies a file as it left it, with its attributes`() throws {
        try tester.transaction(
            .writing("a", .forMoving), .writing("b"), .writing("c/x"), .writing("c/y"), .writing("m", .forMoving)
        ) { access throws in
            try access.write(bytes: [8, 8], to: "b")
            #expect(try access.copy("b", to: "c/x") == .staged)
            #expect(code { try access.copy("a", to: "c/x") } == .conflict)
            #expect(try access.readBytes("c/x") == [8, 8])
            try access.move("a", to: "m")
            #expect(try access.copy("m", to: "c/y") == .staged)
            #expect(code { try access.copy("a", to: "c/y", replacing: true) } == .notFound)
            #expect(code { try access.copy("b", to: "m", replacing: true) } == .invalidArgument)
            #expect(code { try access.copy("b", to: "b") } == .invalidArgument)
        }
        #expect(try history() == ["modified b", "created c", "created c/x", "moved m", "created c/y"])
        #expect(try tester.readBytes("c/x") == [8, 8] && tester.readBytes("c/y") == [1])
        #expect(try sample.temporary.directory.status(of: Array("m".utf8)).permissions == 0o640)
        #expect(try Attributes("c/y", in: sample.temporary) == Attributes("m", in: sample.temporary))
        try expectNothingExternal()
    }

    @Test func `a transaction's copy of the same content is no change, and of a directory is refused`() throws {
        let (_, generation) = try tester.transaction(
            .reading("a"), .writing("b", .forReplacing), .reading("d"), .writing("c")
        ) { access throws in
            #expect(code { try access.copy("a", to: "b") } == .conflict)
            try access.copy("a", to: "b", replacing: true)
            #expect(code { try access.copy("d", to: "c") } == .wrongType)
            #expect(code { try access.copy("missing", to: "c") } == .invalidArgument)
        }
        #expect(generation == 6)
        let (_, again) = try tester.transaction(.reading("a"), .writing("b", .forReplacing)) { access throws in
            #expect(try access.copy("a", to: "b", replacing: true) == .unchanged)
        }
        #expect(again == nil)
        #expect(try history() == ["modified b"])
        try expectNothingExternal()
    }

    @Test func `an external file in the way of a transaction's move undoes the whole transaction`() throws {
        let error = #expect(throws: CoordinationError.self) {
            try tester.transaction(
                .writing("a", .forMoving), .writing("b", .forMoving), .writing("n", .forMoving),
                .writing("m", .forMoving)
            ) { access throws in
                try access.move("a", to: "n")
                try access.move("b", to: "m")
                try sample.temporary.put("foreign", at: "m")
            }
        }
        #expect(error?.code == .conflict && error?.item == "m")
        #expect(try sample.temporary.content(of: "m") == "foreign")
        #expect(try tester.readBytes("a") == [1] && tester.readBytes("b") == [2])
        #expect(try history().isEmpty)
        try sample.expectNothingLeft()
    }

    @Test func `a transaction whose closure throws moves nothing`() throws {
        #expect(throws: Mine.self) {
            try tester.transaction(.writing("a", .forMoving), .writing("n", .forMoving)) { access throws in
                try access.move("a", to: "n")
                throw Mine()
            }
        }
        #expect(try tester.readBytes("a") == [1])
        try sample.expectNothingLeft()
    }
}
