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
        let side = call { try $0.write(bytes: [2], to: "a", durability: .replicated, if: .generation(1)) }
        let request = try program.next()
        #expect(request.parts[0].before == 1 && request.parts[0].isConditional)
        try program.end(request.operation, .conflict)
        let error = failure { try side.answer() }
        #expect((error?.code, error?.generation, error?.clusterOperation) == (.conflict, 1, nil))
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
        let side = call { try $0.write(bytes: [1], to: "a", durability: .replicated) }
        let request = try program.next()
        try program.end(request.operation, state, reason: "so it is", code: code)
        let error = failure { try side.answer() }
        #expect((error?.code, error?.reason, error?.item, error?.operation) == (expected, "so it is", "a", "write"))
        #expect(error?.containerPath == "\(sample.container.path)" && error?.clusterOperation == nil)
        #expect(try program.isEmpty() && sample.history().isEmpty && sample.isQuiet())
    }

    @Test func `a removal and a move return that the item was changed`() throws {
        try coordinator.write(bytes: [1], to: "a")
        try coordinator.write(bytes: [1], to: "b")
        let removal = call { try $0.remove("a", durability: .replicated) }
        var request = try program.next()
        #expect(request.parts == [.init(.remove, path: "a", before: 1, isConditional: false)])
        try program.end(request.operation, .accepted, generations: [0])
        #expect(try removal.answer() == WriteResult(isChanged: true, generation: nil))
        let move = call { try $0.move("b", to: "d/c", durability: .replicated) }
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
        let side = call { try $0.write(bytes: [1], to: "a", durability: .replicated) }
        let request = try program.next()
        try program.end(request.operation, .accepted, generations: [1])
        #expect(try side.answer() == .unchanged, "and it was asked for: this machine may be behind the cluster")
    }

    // MARK: Deadlines

    @Test func `a request that was not sent before the deadline is taken back, by the program or by the caller`() throws
    {
        var side = call { try $0.write(bytes: [1], to: "a", durability: .replicated, timeout: .milliseconds(1)) }
        var request = try program.next()
        request = try program.wait(for: request.operation) { $0.isGivenUp }
        #expect(try request.state == .waiting && !program.records.beginSending(request.operation))
        try program.end(request.operation, .unavailable)
        #expect(failure { try side.answer() }?.code == .unavailable)

        // A program that does nothing.
        side = call { try $0.write(bytes: [1], to: "a", durability: .replicated, timeout: .milliseconds(1)) }
        request = try program.next()
        let error = failure { try side.answer() }
        #expect((error?.code, error?.clusterOperation) == (.unavailable, nil))
        #expect(try !program.records.beginSending(request.operation), "it cannot be sent any more")
        #expect(try program.isEmpty())
    }

    @Test func `a request that was sent and has no fate after the grace is unknown, and can be asked for`() throws {
        let side = call { try $0.write(bytes: [1], to: "a", durability: .replicated, timeout: .milliseconds(500)) }
        var request = try program.next()
        #expect(try program.records.beginSending(request.operation))
        let error = failure { try side.answer() }
        #expect((error?.code, error?.clusterOperation) == (.unknown, request.operation))
        request = try program.wait(for: request.operation) { $0.isGivenUp }
        #expect(request.state == .sent)
        #expect(try program.files() == ["\(request.operation).0"], "the program may need the content still")
        #expect(try sample.container.clusterOutcome(of: request.operation) == .pending)
        try program.end(request.operation, .accepted, generations: [1])
        #expect(try sample.container.clusterOutcome(of: request.operation) == .accepted)
        try program.records.remove(request: request.operation)
        #expect(try sample.container.clusterOutcome(of: request.operation) == .forgotten)
        #expect(try !Presence.isThere(ClusterRecords.caller(of: request.operation), in: sample.container))
    }

    @Test func `a fate that comes within the grace is returned`() throws {
        let side = call { try $0.write(bytes: [1], to: "a", durability: .replicated, timeout: .milliseconds(500)) }
        let request = try program.next()
        #expect(try program.records.beginSending(request.operation))
        _ = try program.wait(for: request.operation) { $0.isGivenUp }
        try program.end(request.operation, .accepted, generations: [3])
        #expect(try side.answer() == .written(3))
    }

    @Test(arguments: [false, true])
    func `a cancelled task no longer waits, and its error names the operation`(isSent: Bool) async throws {
        let tester = sample.coordinator()
        let task = Task { try await tester.write(bytes: [1], to: "a", durability: .replicated, timeout: nil) }
        let request = try program.next()
        if isSent { #expect(try program.records.beginSending(request.operation)) }
        task.cancel()
        let error = await #expect(throws: CoordinationError.self) { try await task.value }
        #expect((error?.code, error?.clusterOperation) == (.cancelled, request.operation))
        #expect(program.records.request(request.operation)?.isGivenUp == true)
        #expect(try program.records.beginSending(request.operation) == false)
        #expect(try sample.container.clusterOutcome(of: request.operation) == .pending)
    }

    @Test func `a caller waits for a program that ended meanwhile and is started again`() throws {
        let sample = try SampleContainer()
        var program: ClusterProgram? = try ClusterProgram(sample.container)
        let tester = sample.coordinator().blocking
        let side = Side { try tester.write(bytes: [1], to: "a", durability: .replicated) }
        let request = try #require(try program?.next())
        program = nil
        #expect(code { try tester.write(bytes: [1], to: "b", durability: .replicated) } == .unavailable)
        let next = try ClusterProgram(sample.container)
        #expect(try next.next().operation == request.operation)
        try next.end(request.operation, .accepted, generations: [1])
        #expect(try side.answer() == .written(1))
    }

    @Test func `a request is taken back at the deadline, without a grace, where no program runs`() throws {
        let sample = try SampleContainer()
        var program: ClusterProgram? = try ClusterProgram(sample.container)
        let tester = sample.coordinator().blocking
        let side = Side { try tester.write(bytes: [1], to: "a", durability: .replicated, timeout: .milliseconds(300)) }
        _ = try program?.next()
        let records = try #require(program?.records)
        program = nil
        #expect(code { try side.answer() } == .unavailable)
        #expect(records.requests().isEmpty)
    }

    // MARK: No cluster

    @Test func `nothing is recorded where there is no cluster, or no program, or one that has stopped`() throws {
        let sample = try SampleContainer()
        let tester = sample.coordinator().blocking
        let alone = failure { try tester.write(bytes: [1], to: "a", durability: .replicated) }
        #expect((alone?.code, alone?.remedy?.code) == (.unavailable, .joinCluster))
        do { _ = try ClusterProgram(sample.container) }
        let ended = failure { try tester.coordinate(.writing("a"), durability: .replicated) { _ in Issue.record() } }
        #expect((ended?.code, ended?.remedy?.code) == (.unavailable, .startProgram))
        let program = try ClusterProgram(sample.container, stopped: "another history")
        let stopped = failure { try tester.transaction(.writing("a"), durability: .replicated) { _ in Issue.record() } }
        #expect((stopped?.code, stopped?.remedy?.code) == (.unavailable, .decide))
        #expect(stopped?.reason.contains("another history") == true)
        #expect(throws: CoordinationError.self) {
            try tester.write(to: "a", durability: .replicated) { _ in Issue.record("the content is not asked for") }
        }
        #expect(try program.isEmpty())
    }

    @Test func `what is not an item is not replicated alone`() throws {
        let defaults = try GroupDefaults(sample.container)
        #expect(code { try defaults.set(1, forKey: "n", durability: .replicated) } == .invalidArgument)
        #expect(code { try defaults.set(1, forKey: "n", if: .absent, durability: .replicated) } == .invalidArgument)
        #expect(
            code { try defaults.transaction(durability: .replicated) { $0.set(1, forKey: "n") } } == .invalidArgument)
        let key = GroupDefaults.Key<Int>("n", default: 0)
        #expect(code { try defaults.update(key, durability: .replicated) { $0 += 1 } } == .invalidArgument)
        let channel = try GroupChannel(sample.container, name: "c")
        #expect(code { try channel.post(bytes: [1], durability: .replicated) } == .invalidArgument)
        #expect(defaults.value(forKey: "n") == nil)
    }

    // MARK: Locks

    @Test func `a replicated call under a lock throws deadlock at once`() async throws {
        let blocking = coordinator
        try blocking.coordinate(.reading("b")) { _ in
            #expect(code { try blocking.write(bytes: [1], to: "a", durability: .replicated) } == .deadlock)
            #expect(code { try blocking.updateInCluster("a") { _ in [] } } == .deadlock)
            #expect(code { try blocking.write(to: "a", durability: .replicated) { _ in Issue.record() } } == .deadlock)
        }
        let tester = sample.coordinator()
        try await tester.coordinate(.reading("b")) { (_: HeldAccess) in
            let write = await #expect(throws: CoordinationError.self) {
                try await tester.write(bytes: [1], to: "a", durability: .replicated)
            }
            #expect(write?.code == .deadlock)
            let update = await #expect(throws: CoordinationError.self) {
                try await tester.updateInCluster("a") { _ in [] }
            }
            #expect(update?.code == .deadlock)
        }
        #expect(try program.isEmpty())
    }

    @Test func `other processes change the item while the cluster is awaited`() throws {
        try coordinator.write(bytes: [1], to: "a")
        let side = call { try $0.updateBytes("a", durability: .replicated) { ($0 ?? []) + [2] } }
        let request = try program.next()
        #expect(try coordinator.write(bytes: [9], to: "a", timeout: .zero) == .written(2))
        #expect(request.parts[0].before == 1 && request.parts[0].isConditional, "the program sees that it does not fit")
        try program.end(request.operation, .conflict)
        let error = failure { try side.answer() }
        #expect((error?.code, error?.generation) == (.conflict, 2))
        #expect(try coordinator.readBytes("a") == [9])
    }
}
