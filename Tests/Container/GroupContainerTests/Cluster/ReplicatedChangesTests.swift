import Glibc
import GroupSystemCalls
import TestSupport
import Testing

@testable import GroupContainer

/// What a strict request consists of.
@Suite(.ownThreads, .timeLimit(.minutes(2)))
struct `Strict requests` {
    let sample: SampleContainer
    let program: ClusterProgram

    init() throws {
        sample = try SampleContainer()
        program = try ClusterProgram(sample.container)
    }

    private var coordinator: BlockingCoordinator { sample.coordinator().blocking }

    /// Runs a call that is accepted, and returns its request and the contents of its parts.
    @discardableResult
    private func accepted(
        _ body: @escaping @Sendable (BlockingCoordinator) throws -> Void
    ) throws -> (parts: [ClusterRequest.Part], contents: [String?]) {
        let coordinator = coordinator
        let side = Side { try body(coordinator) }
        let request = try program.next()
        let contents = try request.parts.map(program.content)
        #expect(try sample.isQuiet())
        try program.end(request.operation, .accepted, generations: request.parts.map { _ in 77 })
        try side.answer()
        #expect(try program.isEmpty() && sample.temporary.staged().isEmpty)
        let parts = request.parts.map { part in
            var part = part
            part.content = part.content.map { String($0.dropFirst(request.operation.count)) }
            return part
        }
        return (parts, contents)
    }

    /// Returns the code of a call's error; nothing may be left of it.
    private func refusal(
        _ location: SourceLocation = #_sourceLocation, of body: () throws -> Void
    ) throws -> CoordinationError.Code? {
        let code = code(location, of: body)
        #expect(try program.isEmpty() && sample.temporary.staged().isEmpty, sourceLocation: location)
        return code
    }

    @Test func `only a plain change fits whatever the item is when its turn comes`() throws {
        try coordinator.write(bytes: Array("1".utf8), to: "a")
        try coordinator.createDirectory("d")
        let calls: [(isConditional: Bool, body: @Sendable (BlockingCoordinator) throws -> Void)] = [
            (false, { try $0.write(bytes: [1], to: "a", durability: .replicated) }),
            (false, { try $0.write(to: "a", durability: .replicated) { try $0.write(contentsOf: [1]) } }),
            (false, { try $0.write(json: 1, to: "a", durability: .replicated) }),
            (false, { try $0.remove("a", durability: .replicated) }),
            (false, { try $0.createDirectory("e", durability: .replicated) }),
            (false, { try $0.createDirectory("d", durability: .replicated) }),
            (true, { try $0.write(bytes: [1], to: "a", durability: .replicated, if: .generation(1)) }),
            (true, { try $0.write(bytes: [1], to: "b", durability: .replicated, if: .absent) }),
            (true, { try $0.remove("a", durability: .replicated, if: .generation(1)) }),
            (true, { try $0.updateBytes("a", durability: .replicated) { _ in [1] } }),
            (true, { try $0.update("a", default: 0, durability: .replicated) { $0 += 1 } }),
            (true, { try $0.move("a", to: "b", durability: .replicated) }),
            (true, { try $0.copy("a", to: "b", durability: .replicated) }),
            (
                true,
                { _ = try $0.coordinate(.writing("a"), durability: .replicated) { try $0.write(bytes: [1], to: "a") } }
            ),
            (true, { _ = try $0.coordinate(.writing("e"), durability: .replicated) { try $0.createDirectory("e") } }),
            (
                true,
                { _ = try $0.transaction(.writing("a"), durability: .replicated) { try $0.write(bytes: [1], to: "a") } }
            ),
        ]
        for (number, call) in calls.enumerated() {
            let parts = try accepted(call.body).parts
            #expect(parts.count == 1 && parts[0].isConditional == call.isConditional, "call \(number): \(parts)")
        }
        #expect(try sample.history() == ["created a", "created d"])
    }

    @Test func `the async forms make the same requests`() async throws {
        let tester = sample.coordinator()
        try await tester.write(bytes: [1], to: "a")
        let calls: [@Sendable () async throws -> Void] = [
            {
                let result = try await tester.write(bytes: [2], to: "a", durability: .replicated)
                #expect(result == .written(77))
            },
            {
                let result = try await tester.write(to: "a", durability: .replicated) { try $0.write(contentsOf: [2]) }
                #expect(result == .written(77))
            },
            {
                let answer = try await tester.coordinate(.writing("a"), durability: .replicated) { held in
                    try await held.perform { try $0.write(bytes: [2], to: "a").isChanged }
                }
                #expect(answer)
            },
            {
                _ = try await tester.coordinate(.writing("a"), durability: .replicated) {
                    try $0.write(bytes: [2], to: "a")
                }
            },
            {
                let (_, generation) = try await tester.transaction(.writing("a"), durability: .replicated) {
                    try $0.write(bytes: [2], to: "a")
                }
                #expect(generation == 77)
            },
        ]
        for call in calls {
            let task = Task { try await call() }
            let request = try program.next()
            #expect(request.parts.count == 1 && request.parts[0].before == 1)
            #expect(try program.content(request.parts[0]) == "\u{2}" && sample.isQuiet())
            try program.end(request.operation, .accepted, generations: [77])
            try await task.value
            #expect(try program.isEmpty())
        }
        // What the closure throws ends the call, and nothing is asked for.
        struct Refused: Error {}
        await #expect(throws: Refused.self) {
            try await tester.coordinate(.writing("a"), durability: .replicated) { (held: HeldAccess) in
                _ = try await held.perform { try $0.write(bytes: [3], to: "a") }
                throw Refused()
            }
        }
        #expect(try program.isEmpty())
        #expect(try await tester.readBytes("a") == [1])
    }

    @Test func `all changes of a closure are parts of one request, and the closure sees them`() throws {
        try coordinator.write(bytes: Array("old".utf8), to: "a")
        try coordinator.write(bytes: Array("gone".utf8), to: "b")
        try coordinator.write(bytes: Array("moved".utf8), to: "c")
        let (parts, contents) = try accepted { coordinator in
            try coordinator.coordinate(
                .writing("a"), .writing("b", .forDeleting), .writing("c", .forMoving), .writing("n", .forReplacing),
                .writing("d/e"), durability: .replicated
            ) { access in
                try access.write(bytes: Array("new".utf8), to: "a")
                try access.write(bytes: Array("newer".utf8), to: "a", mode: 0o600)
                #expect(try access.readBytes("a") == Array("newer".utf8))
                try access.remove("b")
                #expect(try access.item("b") == nil)
                try access.move("c", to: "n")
                #expect(try access.readBytes("n") == Array("moved".utf8) && access.item("c") == nil)
                try access.copy("a", to: "d/e")
                #expect(try access.readBytes("d/e") == Array("newer".utf8))
                #expect(try access.item("d")?.type == .directory)
                #expect(code { try access.generation(of: "a") } == .invalidArgument)
            }
        }
        #expect(
            parts == [
                .init(.write, path: "a", content: ".0", mode: 0o600, before: 1, isConditional: true),
                .init(.remove, path: "b", before: 2, isConditional: true),
                .init(.move, path: "c", destination: "n", before: 3, isConditional: true),
                .init(.createDirectory, path: "d", before: nil, isConditional: false),
                .init(.write, path: "d/e", content: ".4", mode: 0o600, before: nil, isConditional: true),
            ])
        #expect(contents == ["newer", nil, nil, nil, "newer"])
        #expect(try sample.history() == ["created a", "created b", "created c"], "nothing was made here")
    }

    @Test func `a move makes its place free in the same request`() throws {
        for name in ["a", "b"] { try coordinator.write(bytes: [1], to: ItemPath(name)) }
        let parts = try accepted { try $0.move("a", to: "b", replacing: true, durability: .replicated) }.parts
        #expect(
            parts == [
                .init(.remove, path: "b", before: 2, isConditional: true),
                .init(.move, path: "a", destination: "b", before: 1, isConditional: true),
            ])
        #expect(try refusal { try coordinator.move("a", to: "b", durability: .replicated) } == .conflict)
    }

    @Test func `a directory goes with everything in it, children first`() throws {
        try coordinator.write(bytes: [1], to: "d/e/f")
        try coordinator.write(bytes: [1], to: "d/g")
        #expect(try refusal { try coordinator.remove("d", durability: .replicated) } == .notEmpty)
        let parts = try accepted { try $0.remove("d", recursively: true, durability: .replicated) }.parts
        let paths = parts.map(\.path)
        #expect(Set(paths) == ["d", "d/e", "d/e/f", "d/g"] && paths.last == "d")
        #expect((paths.firstIndex(of: "d/e/f") ?? 9) < (paths.firstIndex(of: "d/e") ?? 0))
        #expect(parts.allSatisfy { $0.action == .remove && $0.before != nil && !$0.isConditional })
        #expect(sample.temporary.path.isEmpty == false && (try? sample.temporary.status(of: "d/e/f")) != nil)
        let move = try accepted { try $0.move("d", to: "n", durability: .replicated) }.parts
        #expect(move == [.init(.move, path: "d", destination: "n", before: 1, isConditional: true)])
    }

    @Test func `an external change is recorded before, and has a generation of its own`() throws {
        try coordinator.write(bytes: Array("one".utf8), to: "a")
        try sample.temporary.put("other", at: "a")
        let parts = try accepted { try $0.updateBytes("a", durability: .replicated) { ($0 ?? []) + [1] } }.parts
        #expect(parts[0].before == 2)
        #expect(try sample.history() == ["created a", "modified a"])
        try sample.temporary.put("found", at: "b")
        #expect(try accepted { try $0.write(bytes: [], to: "b", durability: .replicated) }.parts[0].before == 3)
    }

    @Test func `a symbolic link is written through, and moved and removed as such`() throws {
        try coordinator.write(bytes: [1], to: "a")
        try sample.temporary.run("ln", "-s", "a", "b")
        let parts = try accepted { try $0.write(bytes: [2], to: "b", durability: .replicated) }.parts
        #expect(parts[0].path == "a" && parts[0].before == 1)
        #expect(try accepted { try $0.remove("b", durability: .replicated) }.parts[0].path == "b")
    }

    @Test func `what a cluster does not take is refused, and nothing is left`() throws {
        try coordinator.write(bytes: [1], to: "a")
        try coordinator.write(bytes: [1], to: "d/e")
        try sample.temporary.run("mkfifo", "n")
        let large = Int(ClusterRequest.largestContent)
        try sample.temporary.run("truncate", "-s", "\(large + 1)", "c")
        let cases: [(CoordinationError.Code, (BlockingCoordinator) throws -> Void)] = [
            (.invalidArgument, { try $0.setMode(0o600, of: "a", durability: .replicated) }),
            (.invalidArgument, { try $0.write(bytes: [1], to: "a", durability: .replicated, mode: 0o4755) }),
            (.invalidArgument, { try $0.write(bytes: [1], to: ItemPath(bytes: [0xFF]), durability: .replicated) }),
            (.invalidArgument, { try $0.move("a", to: ItemPath(bytes: [0xFF]), durability: .replicated) }),
            (.wrongType, { try $0.copy("d", to: "b", recursively: true, durability: .replicated) }),
            (.wrongType, { try $0.remove("n", durability: .replicated) }),
            (.wrongType, { try $0.move("n", to: "b", durability: .replicated) }),
            (.wrongType, { try $0.write(bytes: [1], to: "d", durability: .replicated) }),
            (.wrongType, { try $0.createDirectory("a", durability: .replicated) }),
            (.notFound, { try $0.remove("b", durability: .replicated) }),
            (.limitReached, { try $0.copy("c", to: "b", durability: .replicated) }),
            (
                .limitReached,
                { try $0.write(bytes: [UInt8](repeating: 0, count: large + 1), to: "a", durability: .replicated) }
            ),
            (
                .limitReached,
                {
                    try $0.write(to: "a", durability: .replicated) { writer in
                        let piece = [UInt8](repeating: 0, count: 1 << 20)
                        for _ in 0...64 { try writer.write(piece.span) }
                        Issue.record("it takes more than the limit")
                    }
                }
            ),
            (
                .conflict, { try $0.write(bytes: [1], to: "a", durability: .replicated, if: .absent) }
            ),
        ]
        for (number, (expected, body)) in cases.enumerated() {
            #expect(try refusal { try body(coordinator) } == expected, "case \(number)")
        }
        let many = (0...ClusterRequest.largestCount).map { "m/\($0)" }
        for name in many { try sample.temporary.run("mkdir", "-p", "m"); try sample.temporary.put("", at: name) }
        #expect(
            try refusal { try coordinator.remove("m", recursively: true, durability: .replicated) } == .limitReached)
    }

    @Test func `a closure that throws, or changes nothing, asks for nothing`() throws {
        struct Refused: Error {}
        #expect(throws: Refused.self) {
            try coordinator.coordinate(.writing("a"), durability: .replicated) { access in
                try access.write(bytes: [1], to: "a")
                throw Refused()
            }
        }
        #expect(try program.isEmpty())
        #expect(try coordinator.coordinate(.writing("a"), durability: .replicated) { _ in 7 } == 7)
        let (answer, generation) = try coordinator.transaction(.writing("a"), durability: .replicated) { _ in 8 }
        #expect(answer == 8 && generation == nil)
        #expect(try program.isEmpty() && sample.isQuiet())
    }

    @Test func `a change whose error the closure catches is left out of the request`() throws {
        try coordinator.write(bytes: [1], to: "d/e")
        let (parts, _) = try accepted { coordinator in
            try coordinator.coordinate(.writing("a"), .writing("d", .forDeleting), durability: .replicated) { access in
                try access.write(bytes: [1], to: "a")
                #expect(code { try access.remove("d") } == .notEmpty)
                #expect(code { try access.write(bytes: [1], to: "d") } == .wrongType)
            }
        }
        #expect(parts.map(\.path) == ["a"])
    }

    @Test func `a large content that was written piece by piece is moved to its request`() throws {
        let side = Side { [coordinator] in
            try coordinator.write(to: "a", durability: .replicated) { writer in
                for _ in 0..<3 { try writer.write(contentsOf: [UInt8](repeating: 7, count: 1 << 20)) }
            }
        }
        let request = try program.next()
        #expect(try program.content(request.parts[0])?.utf8.count == 3 << 20)
        #expect(try sample.temporary.staged().isEmpty)
        try program.end(request.operation, .accepted, generations: [5])
        #expect(try side.answer() == .written(5))
    }
}
