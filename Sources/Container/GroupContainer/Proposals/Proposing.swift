/// Calls whose changes somebody else decides about: they are collected under the call's locks, and returned.

extension Access {
    /// Collects the changes from now on.
    fileprivate func beginProposing(_ call: ItemCall, _ terms: Proposal.Terms) {
        stage(in: ProposedChanges(self, isConditional: call.isConditional, terms))
    }

    /// Returns the proposal of the changes; nil where there is none. The caller removes its contents.
    fileprivate func takeProposal() throws(CoordinationError) -> Proposal? {
        try container.locating { () throws(CoordinationError) in try (staging as? ProposedChanges)?.take() }
    }
}

extension Coordinator {
    /// Runs `body` under the locks of a call, and returns the proposal of what it changes, which sees these changes;
    /// nil where it changes nothing. Errors: those of `coordinate` and of `body`; `limitReached` by the terms
    package func propose<Answer: Sendable>(
        _ call: ItemCall, _ terms: Proposal.Terms, timeout: Duration?,
        _ body: @escaping @Sendable (Access) throws -> Answer
    ) async throws -> (answer: Answer, proposal: Proposal?) {
        try await run(call, .durable, timeout) { access in
            access.beginProposing(call, terms)
            return (try body(access), try access.takeProposal())
        }
    }

    /// The form of `propose` for an async `body`.
    package func propose<Answer: Sendable>(
        _ call: ItemCall, _ terms: Proposal.Terms, timeout: Duration?,
        _ body: @Sendable (HeldAccess) async throws -> Answer
    ) async throws -> (answer: Answer, proposal: Proposal?) {
        let (answer, proposal) = try await hold(
            call, .durable, timeout, beginning: { $0.beginProposing(call, terms) },
            taking: { try $0.takeProposal() }, body)
        return (answer, proposal ?? nil)
    }

    /// Returns the proposal of a write whose content `body` writes piece by piece, before the lock is requested. See
    /// `write(to:)`.
    package func propose(
        writing path: ItemPath, _ terms: Proposal.Terms, if condition: WriteCondition, mode: UInt32?,
        timeout: Duration?, _ body: @escaping @Sendable (inout ItemWriter) throws -> Void
    ) async throws -> Proposal? {
        let container = container
        let content = try await OwnThread.run {
            try ItemWriter.content(for: path, by: container, atMost: terms.contentLimit, body)
        }
        return try await propose(.write(path, if: condition), terms, timeout: timeout) {
            try $0.write(content, to: path, if: condition, mode: mode)
        }.proposal
    }
}

extension BlockingCoordinator {
    /// The blocking form of `Coordinator.propose`.
    package func propose<Answer>(
        _ call: ItemCall, _ terms: Proposal.Terms, timeout: Duration?, _ body: (Access) throws -> Answer
    ) throws -> (answer: Answer, proposal: Proposal?) {
        try run(call, .durable, timeout) { access in
            access.beginProposing(call, terms)
            return (try body(access), try access.takeProposal())
        }
    }

    /// The blocking form of `Coordinator.propose(writing:)`.
    package func propose(
        writing path: ItemPath, _ terms: Proposal.Terms, if condition: WriteCondition, mode: UInt32?,
        timeout: Duration?, _ body: (inout ItemWriter) throws -> Void
    ) throws -> Proposal? {
        let content = try ItemWriter.content(for: path, by: coordinator.container, atMost: terms.contentLimit, body)
        return try propose(.write(path, if: condition), terms, timeout: timeout) {
            try $0.write(content, to: path, if: condition, mode: mode)
        }.proposal
    }
}
