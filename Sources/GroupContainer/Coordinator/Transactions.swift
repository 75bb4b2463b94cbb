extension Coordinator {
    /// Runs `body` with access to all items, and makes everything that it changes visible together when it returns: who
    /// reads under a lock, and after a crash or, if it is durable, a power cut at any point, finds all of it or
    /// nothing. If `body` throws, nothing was changed. Followers get one transaction: its changes follow each other,
    /// with one sequence and one cursor. Only who reads without a lock may, for the moment of the renames, find one
    /// item new and another one old still; each is whole.
    ///
    /// Returns what `body` returned, and the generation that all changed items have now; nil where every item had its
    /// content already, which is no change. Errors: those of `coordinate` and of `body`, `limitReached` for more than
    /// fits into one record, `conflict` where something that is in the way was made without coordination (in all of
    /// these nothing was changed); `notDurable`: all of it is visible; `unfinished`.
    @discardableResult
    public func transaction<Answer: Sendable>(
        _ intents: AccessIntent..., durability: Durability = .durable, timeout: Duration? = .seconds(30),
        _ body: @escaping @Sendable (TransactionAccess) throws -> Answer
    ) async throws -> (answer: Answer, generation: UInt64?) {
        let member = member
        return try await coordinate(intents, operation: "transaction", durability, timeout) { access in
            try Self.run(body, access)
        }.finish(member)
    }

    /// What a transaction did under its lock.
    struct TransactionResult<Answer> {
        var answer: Answer
        var generation: UInt64?
        var failure: CoordinationError?
        /// What is to be swept from staging; the manifest comes first.
        var operation: [UInt8]
        var names: [[UInt8]]

        /// After the record's way to the disk: the manifest is needed until then.
        func finish(_ member: Member) throws(CoordinationError) -> (answer: Answer, generation: UInt64?) {
            if let failure { throw failure }
            if generation != nil { StagedTransaction.sweep(operation, names, in: member.directory.staging) }
            return (answer, generation)
        }
    }

    static func run<Answer>(
        _ body: (TransactionAccess) throws -> Answer, _ access: Access
    ) throws -> TransactionResult<Answer> {
        let transaction = TransactionAccess(access)
        let answer: Answer
        do {
            answer = try body(transaction)
        } catch {
            transaction.discard()
            throw error
        }
        let outcome = try transaction.commit()
        return TransactionResult(
            answer: answer, generation: outcome.position?.sequence, failure: outcome.failure,
            operation: outcome.operation, names: outcome.names)
    }
}

extension Coordinator.TransactionResult: Sendable where Answer: Sendable {}

extension BlockingCoordinator {
    /// Runs `body` with access to all items, and makes everything that it changes visible together. See
    /// `Coordinator.transaction`.
    @discardableResult
    public func transaction<Answer>(
        _ intents: AccessIntent..., durability: Durability = .durable, timeout: Duration? = .seconds(30),
        _ body: (TransactionAccess) throws -> Answer
    ) throws -> (answer: Answer, generation: UInt64?) {
        try coordinate(intents, operation: "transaction", durability, timeout) { access in
            try Coordinator.run(body, access)
        }.finish(coordinator.member)
    }
}
