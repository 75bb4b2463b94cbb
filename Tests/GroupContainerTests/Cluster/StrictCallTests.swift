import GroupSystemCalls
import TestSupport
import Testing

@testable import GroupContainer

/// The caller's side of replicated changes. The test is the program.
@Suite(.ownThreads, .timeLimit(.minutes(2)))
struct `Replicated changes` {
    let sample: SampleContainer
    let program: ClusterProgram

    init() throws {
        sample = try SampleContainer()
        program = try ClusterProgram(sample.container)
    }

    private var coordinator: BlockingCoordinator { sample.coordinator().blocking }

    /// Runs a call beside the test.
    private func call<Answer: Sendable>(
        _ body: @escaping @Sendable (BlockingCoordinator) throws -> Answer
    ) -> Side<Answer> {
        let coordinator = coordinator
        return Side { try body(coordinator) }
    }

    /// Returns the error of a call.
    private func failure<Answer>(
        _ location: SourceLocation = #_sourceLocation, of body: () throws -> Answer
    ) -> CoordinationError? {
        #expect(throws: CoordinationError.self, sourceLocation: location) { _ = try body() }
    }

    @Test func `a replicated write returns with its generation when it is accepted`() throws {
        let side = call { try $0.write(bytes: Array("new".utf8), to: "a", durability: .replicated, mode: 0o640) }
        let request = try program.next()
        #expect(
            request.parts == [
                .init(.write, path: "a", content: "\(request.operation).0", mode: 0o640, before: nil, isConditional: false)
            ])
        #expect((request.state, request.purpose, request.lock) == (.waiting, "tester", nil))
        #expect(try program.content(request.parts[0]) == "new")
        #expect(try Presence.isThere(ClusterRecords.caller(of: request.operation), in: sample.container))
        #expect(try sample.history().isEmpty, "nothing is made by the caller")
        #expect(try sample.isQuiet(), "nothing is locked while the cluster is awaited")
        #expect(try program.records.beginSending(request.operation))
        try program.end(request.operation, .accepted, generations: [7])
        #expect(try side.answer() == .written(7))
        #expect(try program.isEmpty())
        #expect(try !Presence.isThere(ClusterRecords.caller(of: request.operation), in: sample.container))
    }

    @Test func `a conflict has the present generation, and nothing was changed`() throws {
        try coordinator.write(bytes: [1], to: "a")
        let side = call { try $0.write(bytes: [2], to: "a", durability: .replicated, if: .generation(1)) }
        let request = try program.next()
        #expect(request.parts[0].before == 1 && request.parts[0].isConditional)
        try program.end(request.operation, .conflict)
        let error = failure { try side.answer() }
        #expect((error?.code, error?.generation, error?.clusterOperation) == (.conflict, 1, nil))
        #expect(try coordinator.readBytes("a") == [1] && program.isEmpty())
    }
}
