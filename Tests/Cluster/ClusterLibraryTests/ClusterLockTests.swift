import GroupSystemCalls
import TestSupport
import Testing

@testable import Cluster
import ClusterSupport
import GroupContainer

/// The caller's side of the locks of a cluster. The test is the program.
@Suite(.ownThreads, .timeLimit(.minutes(2)))
struct `Locks of a cluster` {
    let sample: SampleContainer
    let program: ClusterProgram

    init() throws {
        sample = try SampleContainer()
        program = try ClusterProgram(sample.container)
    }

    private func acquire(_ timeout: Duration? = patience) -> Side<ClusterLock> {
        let container = sample.container
        return Side { try ClusterLock.acquireBlocking("a", in: container, timeout: timeout) }
    }

    @Test func `a lock is held from its grant to its release, and its caller is present meanwhile`() throws {
        let side = acquire()
        let asked = try program.nextLock()
        #expect((asked.lock, asked.state, asked.isGivenUp) == ("a", .waiting, false))
        let presence = ClusterRecords.presence(asked.identifier)
        #expect(try Presence.isThere(presence, in: sample.container))
        try program.grant(asked.identifier, "the-grant")
        var lock: ClusterLock? = try side.answer()
        #expect(lock?.grant == "the-grant")
        #expect(program.records.lock(asked.identifier)?.isGivenUp == false)
        lock?.release()
        #expect(program.records.lock(asked.identifier)?.isGivenUp == true)
        lock = nil
        #expect(try eventually { try !Presence.isThere(presence, in: sample.container) })
    }

    @Test func `a lock that is let go of is released`() throws {
        let side = acquire()
        let asked = try program.nextLock()
        try program.grant(asked.identifier, "g")
        do { _ = try side.answer() }
        side.forget()
        #expect(try program.wait(forLock: asked.identifier) { $0.isGivenUp }.state == .granted)
    }

    @Test(
        arguments: [(.given, nil), (.wanted, .conflict), (nil, .unavailable)]
            as [(ClusterLockRequest.Proof?, CoordinationError.Code?)])
    func `a lock is finished once etcd has said whether it was held to the end`(
        proof: ClusterLockRequest.Proof?, code expected: CoordinationError.Code?
    ) throws {
        let side = acquire()
        let asked = try program.nextLock()
        try program.grant(asked.identifier, "g")
        let lock = try side.answer()
        let limit = proof == nil ? Duration.milliseconds(1) : patience
        let end = Side { try lock.finishBlocking(timeout: limit) }
        _ = try program.wait(forLock: asked.identifier) { $0.proof == .wanted }
        try program.records.update(lock: asked.identifier) { lock in
            if proof == .wanted { lock.state = .ended } else { lock.proof = proof ?? .wanted }
            return true
        }
        if expected == nil { try end.answer() } else { #expect(code { try end.answer() } == expected) }
        #expect(program.records.lock(asked.identifier)?.isGivenUp == true)
    }

    @Test func `a lock that is not granted in time is given up`() throws {
        let side = acquire(.milliseconds(1))
        let asked = try program.nextLock()
        #expect(code { try side.answer() } == .lockTimedOut)
        #expect(program.records.lock(asked.identifier)?.isGivenUp == true)
        let sample = try SampleContainer()
        let cutOff = try ClusterProgram(sample.container, isConnected: false)
        #expect(
            code { try ClusterLock.acquireBlocking("a", in: sample.container, timeout: .zero) } == .unavailable,
            "\(cutOff.records.locks())")
    }

    @Test func `a lock that the cluster cannot give is an error`() throws {
        let side = acquire()
        let asked = try program.nextLock()
        try program.grant(asked.identifier, nil, .ended)
        #expect(code { try side.answer() } == .unavailable)
        #expect(program.records.lock(asked.identifier)?.isGivenUp == true)
    }

    @Test func `a cancelled task gives its lock up`() async throws {
        let container = sample.container
        let task = Task { try await ClusterLock.acquire("a", in: container, timeout: nil).grant }
        let asked = try program.nextLock()
        task.cancel()
        let error = await #expect(throws: CoordinationError.self) { try await task.value }
        #expect(error?.code == .cancelled)
        #expect(program.records.lock(asked.identifier)?.isGivenUp == true)
    }

    @Test func `an update in the cluster sends what it made under the token, and locks nothing here`() throws {
        let coordinator = sample.coordinator().blocking
        let cluster = sample.cluster().blocking
        try coordinator.write(bytes: [1], to: "a")
        let side = Side {
            try cluster.update("a", underLock: nil) { content in
                #expect(content == [1])
                // No lock of this machine is held.
                try coordinator.coordinate(.writing("a"), timeout: .zero) { _ in }
                return [2]
            }
        }
        let asked = try program.nextLock()
        #expect(asked.lock == "a" && program.records.requests().isEmpty)
        try program.grant(asked.identifier, "token")
        let request = try program.next()
        #expect((request.lock, request.grant) == ("a", "token"))
        #expect(
            request.parts == [
                .init(.write, path: "a", content: "\(request.operation).0", before: 1, isConditional: true)
            ])
        #expect(program.records.lock(asked.identifier)?.isGivenUp == false, "the lock is held until the end")
        try program.end(request.operation, .accepted, generations: [2])
        #expect(try side.answer() == .written(2))
        #expect(program.records.lock(asked.identifier)?.isGivenUp == true)
    }

    @Test func `an update in the cluster of an absent item requires that it is absent`() async throws {
        let clusterTester = sample.cluster()
        let task = Task { try await clusterTester.update("d/a", underLock: nil) { ($0 ?? [7]) + [2] } }
        let asked = try program.nextLock()
        try program.grant(asked.identifier, "token")
        let request = try program.next()
        #expect(request.parts.map(\.path) == ["d", "d/a"] && request.parts[1].before == nil)
        #expect(request.parts[1].isConditional)
        try program.end(request.operation, .conflict, reason: "the token is no longer right")
        let error = await #expect(throws: CoordinationError.self) { try await task.value }
        #expect(error?.code == .conflict && error?.reason == "the token is no longer right")
        #expect(program.records.lock(asked.identifier)?.isGivenUp == true)
    }

    @Test func `a change by a process of this machine during the update is a conflict, and nothing is sent`() throws {
        let coordinator = sample.coordinator().blocking
        let cluster = sample.cluster().blocking
        try coordinator.write(bytes: [1], to: "a")
        let side = Side {
            try cluster.update("a", underLock: nil) { _ in
                try coordinator.write(bytes: [9], to: "a")
                return [2]
            }
        }
        let asked = try program.nextLock()
        try program.grant(asked.identifier, "token")
        #expect(code { try side.answer() } == .conflict)
        #expect(try program.isEmpty() && coordinator.readBytes("a") == [9])
        #expect(program.records.lock(asked.identifier)?.isGivenUp == true)
    }

    @Test func `an update whose closure throws gives the lock back`() throws {
        struct Refused: Error {}
        let cluster = sample.cluster().blocking
        let side = Side { try cluster.update("a", underLock: nil) { _ in throw Refused() } }
        let asked = try program.nextLock()
        try program.grant(asked.identifier, "token")
        #expect(throws: Refused.self) { try side.answer() }
        #expect(try program.isEmpty() && program.records.lock(asked.identifier)?.isGivenUp == true)
    }
}
