/// Calls with the durability `.replicated`, in both forms: first the locks of this machine, under which the changes are staged;
/// then, with nothing locked, the cluster.

extension Access {
    /// Collects the changes from now on, for a strict request.
    func beginReplicating(isConditional: Bool) { stage(in: ReplicatedChanges(self, isConditional: isConditional)) }

    /// Returns the strict request for the changes; nil where there is none. The caller removes its contents.
    fileprivate func takeReplicated() throws(CoordinationError) -> StrictChange? {
        try container.locating { () throws(CoordinationError) in try (staging as? ReplicatedChanges)?.take() }
    }
}

extension Coordinator {
    /// Makes a call that changes one item, and returns what it has made of it.
    func change(
        _ call: ItemCall, _ durability: Durability, _ timeout: Duration?,
        _ body: @escaping @Sendable (Access) throws -> WriteResult
    ) async throws -> WriteResult {
        if durability == .replicated { return try await replicate(call, timeout, body).outcome.result }
        return try await underLock(call, durability, timeout, body)
    }

    /// Runs `body`, and returns when the cluster has accepted its changes and they are made here. Errors: those of `body` and of
    /// `coordinate`; `deadlock` where the calling code holds a lock; those of `StrictCall`
    func replicate<Answer: Sendable>(
        _ call: ItemCall, _ timeout: Duration?, under token: StrictCall.Token? = nil,
        _ body: @escaping @Sendable (Access) throws -> Answer
    ) async throws -> (answer: Answer, outcome: StrictOutcome) {
        let strict = try await strictCall(call, timeout, token)
        let (answer, change) = try await underLock(call, .replicated, timeout) { access in
            access.beginReplicating(isConditional: call.isConditional)
            return (try body(access), try access.takeReplicated())
        }
        return (answer, try await strict.finish(change))
    }

    /// The form of `replicate` for an async `body`.
    func replicate<Answer: Sendable>(
        _ call: ItemCall, _ timeout: Duration?, _ body: @Sendable (HeldAccess) async throws -> Answer
    ) async throws -> Answer {
        let strict = try await strictCall(call, timeout, nil)
        let (answer, change) = try await hold(call, .replicated, timeout, taking: { try $0.takeReplicated() }, body)
        _ = try await strict.finish(change ?? nil)
        return answer
    }

    /// Checks, before a content is made, that the cluster can be asked. Errors: `deadlock`, `unavailable`
    func checkCanReplicate(_ call: ItemCall) async throws { _ = try await strictCall(call, .zero, nil) }

    private func strictCall(
        _ call: ItemCall, _ timeout: Duration?, _ token: StrictCall.Token?
    ) async throws -> StrictCall {
        try container.locating { () throws(CoordinationError) in
            try ClusterPresence.checkHoldsNothing(call.operation, call.label)
        }
        return try await OwnThread.run { try StrictCall(call, by: self, timeout, token) }
    }
}

extension BlockingCoordinator {
    /// The blocking form of `Coordinator.change`.
    func change(
        _ call: ItemCall, _ durability: Durability, _ timeout: Duration?, _ body: (Access) throws -> WriteResult
    ) throws -> WriteResult {
        if durability == .replicated { return try replicate(call, timeout, body).outcome.result }
        return try underLock(call, durability, timeout, body)
    }

    /// The blocking form of `Coordinator.replicate`.
    func replicate<Answer>(
        _ call: ItemCall, _ timeout: Duration?, under token: StrictCall.Token? = nil,
        _ body: (Access) throws -> Answer
    ) throws -> (answer: Answer, outcome: StrictOutcome) {
        let strict = try strictCall(call, timeout, token)
        let (answer, change) = try underLock(call, .replicated, timeout) { access in
            access.beginReplicating(isConditional: call.isConditional)
            return (try body(access), try access.takeReplicated())
        }
        return (answer, try strict.finishBlocking(change))
    }

    /// Checks, before a content is made, that the cluster can be asked. Errors: `deadlock`, `unavailable`
    func checkCanReplicate(_ call: ItemCall) throws { _ = try strictCall(call, .zero, nil) }

    private func strictCall(
        _ call: ItemCall, _ timeout: Duration?, _ token: StrictCall.Token?
    ) throws(CoordinationError) -> StrictCall {
        try coordinator.container.locating { () throws(CoordinationError) in
            try ClusterPresence.checkHoldsNothing(call.operation, call.label)
            return try StrictCall(call, by: coordinator, timeout, token)
        }
    }
}
