import Glibc
import GroupSystemCalls
import TestSupport
import Testing

@testable import Cluster
import ClusterSupport
import GroupContainer

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
    private var cluster: BlockingClusterCoordinator { sample.cluster().blocking }

    /// Runs a call that is accepted, and returns its request and the contents of its parts.
    @discardableResult
    private func accepted(
        _ body: @escaping @Sendable (BlockingClusterCoordinator) throws -> Void
    ) throws -> (parts: [Proposal.Part], contents: [String?]) {
        let cluster = cluster
        let side = Side { try body(cluster) }
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
        let calls: [(isConditional: Bool, body: @Sendable (BlockingClusterCoordinator) throws -> Void)] = [
            (false, { try $0.write(bytes: [1], to: "a") }),
            (false, { try $0.write(to: "a") { try $0.write(contentsOf: [1]) } }),
            (false, { try $0.write(json: 1, to: "a") }),
            (false, { try $0.remove("a") }),
            (false, { try $0.createDirectory("e") }),
            (false, { try $0.createDirectory("d") }),
            (true, { try $0.write(bytes: [1], to: "a", if: .generation(1)) }),
            (true, { try $0.write(bytes: [1], to: "b", if: .absent) }),
            (true, { try $0.remove("a", if: .generation(1)) }),
            (true, { try $0.updateBytes("a") { _ in [1] } }),
            (true, { try $0.update("a", default: 0) { $0 += 1 } }),
            (true, { try $0.move("a", to: "b") }),
            (true, { try $0.copy("a", to: "b") }),
            (
                true,
                { _ = try $0.coordinate(.writing("a")) { try $0.write(bytes: [1], to: "a") } }
            ),
            (true, { _ = try $0.coordinate(.writing("e")) { try $0.createDirectory("e") } }),
            (
                true,
                { _ = try $0.transaction(.writing("a")) { try $0.write(bytes: [1], to: "a") } }
            ),
        ]
        for (number, call) in calls.enumerated() {
            let parts = try accepted(call.body).parts.filter { $0.action != .check }
            #expect(parts.count == 1 && parts[0].isConditional == call.isConditional, "call \(number): \(parts)")
        }
        #expect(try sample.history() == ["created a", "created d"])
    }

    @Test func `the async forms make the same requests`() async throws {
        let tester = sample.coordinator()
        let clusterTester = sample.cluster()
        try await tester.write(bytes: [1], to: "a")
        let calls: [@Sendable () async throws -> Void] = [
            {
                let result = try await clusterTester.write(bytes: [2], to: "a")
                #expect(result == .written(77))
            },
            {
                let result = try await clusterTester.write(to: "a") { try $0.write(contentsOf: [2]) }
                #expect(result == .written(77))
            },
            {
                let answer = try await clusterTester.coordinate(.writing("a")) { held in
                    try await held.perform { try $0.write(bytes: [2], to: "a").isChanged }
                }
                #expect(answer)
            },
            {
                _ = try await clusterTester.coordinate(.writing("a")) {
                    try $0.write(bytes: [2], to: "a")
                }
            },
            {
                let (_, generation) = try await clusterTester.transaction(.writing("a")) {
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
            try await clusterTester.coordinate(.writing("a")) { (held: HeldAccess) in
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
        let (parts, contents) = try accepted { cluster in
            try cluster.coordinate(
                .writing("a"), .writing("b", .forDeleting), .writing("c", .forMoving), .writing("n", .forReplacing),
                .writing("d/e")
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
        let parts = try accepted { try $0.move("a", to: "b", replacing: true) }.parts
        #expect(
            parts == [
                .init(.remove, path: "b", before: 2, isConditional: true),
                .init(.move, path: "a", destination: "b", before: 1, isConditional: true),
            ])
        #expect(try refusal { try cluster.move("a", to: "b") } == .conflict)
    }

    @Test func `a directory goes with everything in it, children first`() throws {
        try coordinator.write(bytes: [1], to: "d/e/f")
        try coordinator.write(bytes: [1], to: "d/g")
        #expect(try refusal { try cluster.remove("d") } == .notEmpty)
        let parts = try accepted { try $0.remove("d", recursively: true) }.parts
        let paths = parts.map(\.path)
        #expect(Set(paths) == ["d", "d/e", "d/e/f", "d/g"] && paths.last == "d")
        #expect((paths.firstIndex(of: "d/e/f") ?? 9) < (paths.firstIndex(of: "d/e") ?? 0))
        #expect(parts.allSatisfy { $0.action == .remove && $0.before != nil && !$0.isConditional })
        #expect(sample.temporary.path.isEmpty == false && (try? sample.temporary.status(of: "d/e/f")) != nil)
        let move = try accepted { try $0.move("d", to: "n") }.parts
        #expect(move == [.init(.move, path: "d", destination: "n", before: 1, isConditional: true)])
    }

    @Test func `what a closure reads is noted when it is read, and is a condition of what it changes`() throws {
        for name in ["a", "b"] { try coordinator.write(bytes: [1], to: ItemPath(name)) }
        let temporary = sample.temporary
        var parts = try accepted { cluster in
            try cluster.updateBytes("a") { content in
                try temporary.put("of a plain program", at: "a")
                return (content ?? []) + [2]
            }
        }.parts
        #expect(parts == [.init(.write, path: "a", content: ".0", before: 1, isConditional: true)])
        parts = try accepted { cluster in
            try cluster.coordinate(.reading("b"), .reading("c"), .writing("d")) { access in
                _ = try access.readBytes("b")
                #expect(try access.readBytesIfPresent("c") == nil)
                try access.write(bytes: [1], to: "d")
            }
        }.parts
        #expect(
            parts == [
                .init(.check, path: "b", before: 2, isConditional: true),
                .init(.check, path: "c", before: nil, isConditional: true),
                .init(.write, path: "d", content: ".0", before: nil, isConditional: true),
            ])
        // A closure that changes nothing asks for nothing.
        #expect(try cluster.coordinate(.reading("b")) { try $0.readBytes("b") } == [1])
        #expect(try program.isEmpty())
    }

    @Test func `an external change is recorded before, and has a generation of its own`() throws {
        try coordinator.write(bytes: Array("one".utf8), to: "a")
        try sample.temporary.put("other", at: "a")
        let parts = try accepted { try $0.updateBytes("a") { ($0 ?? []) + [1] } }.parts
        #expect(parts[0].before == 2)
        #expect(try sample.history() == ["created a", "modified a"])
        try sample.temporary.put("found", at: "b")
        #expect(try accepted { try $0.write(bytes: [], to: "b") }.parts[0].before == 3)
    }

    @Test func `a symbolic link is written through, and moved and removed as such`() throws {
        try coordinator.write(bytes: [1], to: "a")
        try sample.temporary.run("ln", "-s", "a", "b")
        let parts = try accepted { try $0.write(bytes: [2], to: "b") }.parts
        #expect(parts[0].path == "a" && parts[0].before == 1)
        #expect(try accepted { try $0.remove("b") }.parts[0].path == "b")
    }

    @Test func `what a cluster does not take is refused, and nothing is left`() throws {
        try coordinator.write(bytes: [1], to: "a")
        try coordinator.write(bytes: [1], to: "d/e")
        try sample.temporary.run("mkfifo", "n")
        let large = Int(ClusterRequest.terms.largestContent)
        try sample.temporary.run("truncate", "-s", "\(large + 1)", "c")
        let cases: [(CoordinationError.Code, (BlockingClusterCoordinator) throws -> Void)] = [
            (.invalidArgument, { _ = try $0.coordinate(.writing("a")) { try $0.setMode(0o600, of: "a") } }),
            (.invalidArgument, { try $0.write(bytes: [1], to: "a", mode: 0o4755) }),
            (.invalidArgument, { try $0.write(bytes: [1], to: ItemPath(bytes: [0xFF])) }),
            (.invalidArgument, { try $0.move("a", to: ItemPath(bytes: [0xFF])) }),
            (.wrongType, { try $0.copy("d", to: "b") }),
            (.wrongType, { try $0.remove("n") }),
            (.wrongType, { try $0.move("n", to: "b") }),
            (.wrongType, { try $0.write(bytes: [1], to: "d") }),
            (.wrongType, { try $0.createDirectory("a") }),
            (.notFound, { try $0.remove("b") }),
            (.limitReached, { try $0.copy("c", to: "b") }),
            (
                .limitReached,
                { try $0.write(bytes: [UInt8](repeating: 0, count: large + 1), to: "a") }
            ),
            (
                .limitReached,
                {
                    try $0.write(to: "a") { writer in
                        let piece = [UInt8](repeating: 0, count: 1 << 20)
                        for _ in 0...64 { try writer.write(piece.span) }
                        Issue.record("it takes more than the limit")
                    }
                }
            ),
            (
                .conflict, { try $0.write(bytes: [1], to: "a", if: .absent) }
            ),
        ]
        for (number, (expected, body)) in cases.enumerated() {
            #expect(try refusal { try body(cluster) } == expected, "case \(number)")
        }
        let many = (0...ClusterRequest.terms.largestCount).map { "m/\($0)" }
        for name in many { try sample.temporary.run("mkdir", "-p", "m"); try sample.temporary.put("", at: name) }
        #expect(
            try refusal { try cluster.remove("m", recursively: true) } == .limitReached)
    }

    @Test func `a closure that throws, or changes nothing, asks for nothing`() throws {
        struct Refused: Error {}
        #expect(throws: Refused.self) {
            try cluster.coordinate(.writing("a")) { access in
                try access.write(bytes: [1], to: "a")
                throw Refused()
            }
        }
        #expect(try program.isEmpty())
        #expect(try cluster.coordinate(.writing("a")) { _ in 7 } == 7)
        let (answer, generation) = try cluster.transaction(.writing("a")) { _ in 8 }
        #expect(answer == 8 && generation == nil)
        #expect(try program.isEmpty() && sample.isQuiet())
    }

    @Test func `a change whose error the closure catches is left out of the request`() throws {
        try coordinator.write(bytes: [1], to: "d/e")
        let (parts, _) = try accepted { cluster in
            try cluster.coordinate(.writing("a"), .writing("d", .forDeleting)) { access in
                try access.write(bytes: [1], to: "a")
                #expect(code { try access.remove("d") } == .notEmpty)
                #expect(code { try access.write(bytes: [1], to: "d") } == .wrongType)
            }
        }
        #expect(parts.map(\.path) == ["a"])
    }

    @Test func `a large content that was written piece by piece is moved to its request`() throws {
        let side = Side { [cluster] in
            try cluster.write(to: "a") { writer in
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
