import GroupSystemCalls
import TestSupport
import Testing

@testable import Cluster
import ClusterSupport
import GroupContainer

/// The caller's side of strict changes. The test is the program.
@Suite(.ownThreads, .timeLimit(.minutes(2)))
struct `Strict changes` {
    let sample: SampleContainer
    let program: ClusterProgram

    init() throws {
        sample = try SampleContainer()
        program = try ClusterProgram(sample.container)
    }

    private var coordinator: BlockingCoordinator { sample.coordinator().blocking }
    private var cluster: BlockingClusterCoordinator { sample.cluster().blocking }

    /// Runs a call beside the test.
    private func call<Answer: Sendable>(
        _ body: @escaping @Sendable (BlockingClusterCoordinator) throws -> Answer
    ) -> Side<Answer> {
        let cluster = cluster
        return Side { try body(cluster) }
    }

    /// Returns the error of a call.
    private func failure<Answer>(
        _ location: SourceLocation = #_sourceLocation, of body: () throws -> Answer
    ) -> CoordinationError? {
        #expect(throws: CoordinationError.self, sourceLocation: location) { _ = try body() }
    }

    @Test func `a strict write returns with its generation when it is accepted`() throws {
        let side = call { try $0.write(bytes: Array("new".utf8), to: "a", mode: 0o640) }
        let request = try program.next()
        #expect(
            request.parts == [
                .init(
                    .write, path: "a", content: "\(request.operation).0", mode: 0o640, before: nil, isConditional: false
                )
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
        let side = call { try $0.write(bytes: [2], to: "a", if: .generation(1)) }
        let request = try program.next()
        #expect(request.parts[0].before == 1 && request.parts[0].isConditional)
        try program.end(request.operation, .conflict)
        let error = failure { try side.answer() }
        #expect((error?.code, error?.generation, error?.pendingOperation) == (.conflict, 1, nil))
        #expect(try coordinator.readBytes("a") == [1] && program.isEmpty())
    }

    // MARK: Ends

    @Test(
        arguments: [
            (.unavailable, nil, .unavailable), (.failed, nil, .invalidArgument),
            (.failed, "limitReached", .limitReached),
            (.conflict, nil, .conflict),
        ] as [(ClusterRequest.State, String?, CoordinationError.Code)])
    func `each end of a request is an error with the program's reason`(
        state: ClusterRequest.State, code: String?, expected: CoordinationError.Code
    ) throws {
        let side = call { try $0.write(bytes: [1], to: "a") }
        let request = try program.next()
        try program.end(request.operation, state, reason: "so it is", code: code)
        let error = failure { try side.answer() }
        #expect((error?.code, error?.reason, error?.item, error?.operation) == (expected, "so it is", "a", "write"))
        #expect(error?.containerPath == "\(sample.container.path)" && error?.pendingOperation == nil)
        #expect(try program.isEmpty() && sample.history().isEmpty && sample.isQuiet())
    }

    @Test func `a removal and a move return that the item was changed`() throws {
        try coordinator.write(bytes: [1], to: "a")
        try coordinator.write(bytes: [1], to: "b")
        let removal = call { try $0.remove("a") }
        var request = try program.next()
        #expect(request.parts == [.init(.remove, path: "a", before: 1, isConditional: false)])
        try program.end(request.operation, .accepted, generations: [0])
        #expect(try removal.answer() == WriteResult(isChanged: true, generation: nil))
        let move = call { try $0.move("b", to: "d/c") }
        request = try program.next()
        #expect(
            request.parts == [
                .init(.createDirectory, path: "d", before: nil, isConditional: false),
                .init(.move, path: "b", destination: "d/c", before: 2, isConditional: true),
            ])
        try program.end(request.operation, .accepted, generations: [8, 9])
        #expect(try move.answer() == .written(9))
    }

    @Test func `an item that the request left at its generation is unchanged`() throws {
        try coordinator.write(bytes: [1], to: "a")
        let side = call { try $0.write(bytes: [1], to: "a") }
        let request = try program.next()
        try program.end(request.operation, .accepted, generations: [1])
        #expect(try side.answer() == .unchanged, "and it was asked for: this machine may be behind the cluster")
    }

    // MARK: Deadlines

    @Test func `a request that was not sent before the deadline is taken back, by the program or by the caller`() throws
    {
        var side = call { try $0.write(bytes: [1], to: "a", timeout: .milliseconds(1)) }
        var request = try program.next()
        request = try program.wait(for: request.operation) { $0.isGivenUp }
        #expect(try request.state == .waiting && !program.records.beginSending(request.operation))
        try program.end(request.operation, .unavailable)
        #expect(failure { try side.answer() }?.code == .unavailable)

        // A program that does nothing.
        side = call { try $0.write(bytes: [1], to: "a", timeout: .milliseconds(1)) }
        request = try program.next()
        let error = failure { try side.answer() }
        #expect((error?.code, error?.pendingOperation) == (.unavailable, nil))
        #expect(try !program.records.beginSending(request.operation), "it cannot be sent any more")
        #expect(try program.isEmpty())
    }

    @Test func `the time that a closure takes is no wait for the cluster`() throws {
        let side = call { cluster in
            try cluster.coordinate(.writing("a"), timeout: .seconds(3)) { access in
                // Longer than the timeout of the call.
                pause(nanoseconds: 3_100_000_000)
                try access.write(bytes: [1], to: "a")
            }
        }
        let request = try program.next()
        #expect(try program.records.beginSending(request.operation), "it is not given up already")
        try program.end(request.operation, .accepted, generations: [7])
        try side.answer()
    }

    @Test func `an answer to a decision that another one has replaced is not recorded`() throws {
        let container = sample.container
        let decided = call { _ in
            try ClusterRecords(container).decide(.sendRemovals, removals: 3, timeout: .seconds(60))
        }
        try program.records.answer("for an earlier one", to: "earlier")
        let name = try program.nextDecision()
        try program.records.answer("for an earlier one", to: "earlier")
        #expect(program.records.decision?.answer == nil)
        try program.records.answer(ClusterDecision.done, to: name)
        try decided.answer()
        #expect(program.records.decision == nil)
    }

    @Test func `a request that was sent and has no fate after the grace is unknown, and can be asked for`() throws {
        let side = call { try $0.write(bytes: [1], to: "a", timeout: .milliseconds(500)) }
        var request = try program.next()
        #expect(try program.records.beginSending(request.operation))
        let error = failure { try side.answer() }
        #expect((error?.code, error?.pendingOperation) == (.unknown, request.operation))
        request = try program.wait(for: request.operation) { $0.isGivenUp }
        #expect(request.state == .sent)
        #expect(try program.files() == ["\(request.operation).0"], "the program may need the content still")
        #expect(try sample.cluster().outcome(of: request.operation) == .pending)
        try program.end(request.operation, .accepted, generations: [1])
        #expect(try sample.cluster().outcome(of: request.operation) == .accepted)
        try program.records.remove(request: request.operation)
        #expect(try sample.cluster().outcome(of: request.operation) == .forgotten)
        #expect(try !Presence.isThere(ClusterRecords.caller(of: request.operation), in: sample.container))
    }

    @Test func `a fate that comes within the grace is returned`() throws {
        let side = call { try $0.write(bytes: [1], to: "a", timeout: .milliseconds(500)) }
        let request = try program.next()
        #expect(try program.records.beginSending(request.operation))
        _ = try program.wait(for: request.operation) { $0.isGivenUp }
        try program.end(request.operation, .accepted, generations: [3])
        #expect(try side.answer() == .written(3))
    }

    @Test(arguments: [false, true])
    func `a cancelled task no longer waits, and its error names the operation`(isSent: Bool) async throws {
        let clusterTester = sample.cluster()
        let task = Task { try await clusterTester.write(bytes: [1], to: "a", timeout: nil) }
        let request = try program.next()
        if isSent { #expect(try program.records.beginSending(request.operation)) }
        task.cancel()
        let error = await #expect(throws: CoordinationError.self) { try await task.value }
        #expect((error?.code, error?.pendingOperation) == (.cancelled, request.operation))
        #expect(program.records.request(request.operation)?.isGivenUp == true)
        #expect(try program.records.beginSending(request.operation) == false)
        #expect(try sample.cluster().outcome(of: request.operation) == .pending)
    }

    @Test func `a caller waits for a program that ended meanwhile and is started again`() throws {
        let sample = try SampleContainer()
        var program: ClusterProgram? = try ClusterProgram(sample.container)
        let clusterTester = sample.cluster().blocking
        let side = Side { try clusterTester.write(bytes: [1], to: "a") }
        let request = try #require(try program?.next())
        program = nil
        #expect(code { try clusterTester.write(bytes: [1], to: "b") } == .unavailable)
        let next = try ClusterProgram(sample.container)
        #expect(try next.next().operation == request.operation)
        try next.end(request.operation, .accepted, generations: [1])
        #expect(try side.answer() == .written(1))
    }

    @Test func `a request is taken back at the deadline, without a grace, where no program runs`() throws {
        let sample = try SampleContainer()
        var program: ClusterProgram? = try ClusterProgram(sample.container)
        let clusterTester = sample.cluster().blocking
        let side = Side { try clusterTester.write(bytes: [1], to: "a", timeout: .milliseconds(300)) }
        _ = try program?.next()
        let records = try #require(program?.records)
        program = nil
        #expect(code { try side.answer() } == .unavailable)
        #expect(records.requests().isEmpty)
    }

    // MARK: No cluster

    @Test func `nothing is recorded where there is no cluster, or no program, or one that has stopped`() throws {
        let sample = try SampleContainer()
        let clusterTester = sample.cluster().blocking
        let alone = failure { try clusterTester.write(bytes: [1], to: "a") }
        #expect((alone?.code, alone?.remedy?.code) == (.unavailable, .joinCluster))
        do { _ = try ClusterProgram(sample.container) }
        let ended = failure { try clusterTester.coordinate(.writing("a")) { _ in Issue.record() } }
        #expect((ended?.code, ended?.remedy?.code) == (.unavailable, .startProgram))
        let program = try ClusterProgram(sample.container, stopped: "another history")
        let stopped = failure { try clusterTester.transaction(.writing("a")) { _ in Issue.record() } }
        #expect((stopped?.code, stopped?.remedy?.code) == (.unavailable, .decide))
        #expect(stopped?.reason.contains("another history") == true)
        #expect(throws: CoordinationError.self) {
            try clusterTester.write(to: "a") { _ in Issue.record("the content is not asked for") }
        }
        #expect(try program.isEmpty())
    }

    // MARK: Locks

    @Test func `a strict call under a lock throws deadlock at once`() async throws {
        let cluster = cluster
        try coordinator.coordinate(.reading("b")) { _ in
            #expect(code { try cluster.write(bytes: [1], to: "a") } == .deadlock)
            #expect(code { try cluster.update("a", underLock: nil) { _ in [] } } == .deadlock)
            #expect(code { try cluster.write(to: "a") { _ in Issue.record() } } == .deadlock)
        }
        let clusterTester = sample.cluster()
        try await sample.coordinator().coordinate(.reading("b")) { (_: HeldAccess) in
            let write = await #expect(throws: CoordinationError.self) {
                try await clusterTester.write(bytes: [1], to: "a")
            }
            #expect(write?.code == .deadlock)
            let update = await #expect(throws: CoordinationError.self) {
                try await clusterTester.update("a", underLock: nil) { _ in [] }
            }
            #expect(update?.code == .deadlock)
        }
        #expect(try program.isEmpty())
    }

    @Test func `other processes change the item while the cluster is awaited`() throws {
        try coordinator.write(bytes: [1], to: "a")
        let side = call { try $0.updateBytes("a") { ($0 ?? []) + [2] } }
        let request = try program.next()
        #expect(try coordinator.write(bytes: [9], to: "a", timeout: .zero) == .written(2))
        #expect(request.parts[0].before == 1 && request.parts[0].isConditional, "the program sees that it does not fit")
        try program.end(request.operation, .conflict)
        let error = failure { try side.answer() }
        #expect((error?.code, error?.generation) == (.conflict, 2))
        #expect(try coordinator.readBytes("a") == [9])
    }
}
