import Dispatch
import GroupSystemCalls

/// The moment of a transaction, and what follows from it.
extension TransactionChanges {
    /// What has happened, and what is left to be done once the record is on the disk.
    struct Outcome {
        /// Nil: there was nothing to change.
        var position: LogPosition?
        /// Everything is visible, but not everything has reached the disk.
        var failure: CoordinationError?
        /// For `sweep`.
        var operation: [UInt8] = []
        var names: [[UInt8]] = []
    }

    private struct Obstacle: Error {
        var reason: Errno
        var location: ItemLocation
    }

    /// Makes everything visible, with one record. `lock` hands over what is held, to be kept until the transaction is
    /// complete. Errors: `unfinished`: it is committed, and will be completed; those of the journal: it is visible, and
    /// will be recorded; any other: nothing was changed, nothing is left in staging.
    /// System calls: openat2, write, fsync, renameat2, fsync of each directory concerned
    func commit(keeping lock: () -> HeldLock?) throws(CoordinationError) -> Outcome {
        if steps.isEmpty { return Outcome() }
        let content: TransactionManifest
        let inside: [ContainersInside]
        do {
            inside = try holdContainers()
            content = try describe()
            try member.journal.log.ensureRoom(forBodyOf: content.record.encoded().count)
            try ground.lay(footings(of: content.record.parts), "transaction")
        } catch {
            discard()
            throw error
        }
        defer { extendLifetime(inside) }
        let moves = zip(content.steps, content.record.parts).compactMap { TransactionStep(member, operation, $0, $1) }
        member.changeRoom.wait()
        defer { member.changeRoom.signal() }
        let (entry, isDurable) = try decide(content)
        do throws(Obstacle) {
            try take(moves)
        } catch {
            throw abandon(moves, entry, error, keeping: lock)
        }

        // From here on all of it is visible and must get its record, whatever else fails.
        var outcome = Outcome()
        var failure = isDurable
        if durability == .durable {
            do throws(Errno) { try member.synchronizeDirectories(of: moves) } catch { failure = error }
        }
        var record = content.record
        record.parts = moves.map(\.result)
        do {
            outcome.position = try member.journal.append(record)
        } catch {
            leaveUnfinished(entry, keeping: lock)
            throw error
        }
        member.memberTable.clearPending(entry)
        outcome.failure = failure.map { errno in
            CoordinationError(
                .notDurable, item: label, operation: "transaction", cause: errno.description,
                advice: "the changes are visible, but may be gone after a power cut; check the disk")
        }
        (outcome.operation, outcome.names) = (operation, moves.map(\.name))
        return outcome
    }

    /// In the directories that it removes or moves.
    private func holdContainers() throws(CoordinationError) -> [ContainersInside] {
        var held: [ContainersInside] = []
        for step in steps.inOrder {
            switch step.effect {
            case .removal where step.before?.isDirectory == true:
                held.append(try ContainersInside(step.location, of: member, "remove"))
            case .arrival(let origin, let standing) where standing.isDirectory:
                held.append(try ContainersInside(origin, of: member, "move"))
            default: break
            }
        }
        return held
    }

    private var label: String { steps.inOrder.map { printable($0.location.bytes) }.joined(separator: ", ") }

    /// The commit. Before it, a member that finds this one dead throws everything away; after it, that member completes
    /// the transaction.
    /// Returns its entry in `pending`, and what kept the commit from the disk.
    private func decide(_ content: TransactionManifest) throws(CoordinationError) -> (entry: Int, failure: Errno?) {
        do throws(Errno) {
            try writeManifest(content)
        } catch {
            discard()
            throw CoordinationError(error, item: label, operation: "transaction")
        }
        // Every item, for an entry has room for one block only, and nobody must see one of them too early.
        guard let entry = member.memberTable.reservePending() else {
            discard()
            throw CoordinationError(
                .limitReached, item: label, operation: "transaction", cause: "too many changes at once",
                advice: "nothing was changed; wait for some of them, and try again")
        }
        member.memberTable.setPending(entry, block: MemberTable.everyItem, operation: operation)
        let directory = member.directory
        do throws(Errno) {
            try directory.staging.rename(newManifest, to: manifest, in: directory.staging, replacing: false)
        } catch {
            member.memberTable.clearPending(entry)
            discard()
            throw CoordinationError(error, item: label, operation: "transaction")
        }
        if durability == .relaxed { return (entry, nil) }
        do throws(Errno) { try staging.synchronize() } catch { return (entry, error) }
        return (entry, nil)
    }

    private func take(_ moves: [TransactionStep]) throws(Obstacle) {
        for move in moves {
            do throws(Errno) { try move.take() } catch { throw Obstacle(reason: error, location: move.location) }
        }
    }

    /// A step cannot be taken: those before it are taken back, in the opposite order, and then the commit itself.
    /// If the member is killed in the middle of this, the next member completes the transaction, as at any other
    /// moment. What cannot be taken back stays committed: no process gets its locks until it is complete.
    private func abandon(
        _ moves: [TransactionStep], _ entry: Int, _ obstacle: Obstacle, keeping lock: () -> HeldLock?
    ) -> CoordinationError {
        let item = printable(obstacle.location.bytes)
        do throws(Errno) {
            for move in moves.reversed() { try move.takeBack() }
            try staging.unlink(manifest)
            if durability == .durable { try staging.synchronize() }
        } catch {
            leaveUnfinished(entry, keeping: lock)
            return CoordinationError(
                .unfinished, item: item, operation: "transaction",
                cause: "\(obstacle.reason); what was done before could not be taken back: \(error)",
                advice: "its items stay locked until it is complete; this process's next request tries again")
        }
        member.memberTable.clearPending(entry)
        discard()
        if obstacle.reason != .crossesDevices && TransactionStep.isForeign(obstacle.reason) {
            return CoordinationError(
                .conflict, item: item, operation: "transaction",
                cause: "it was changed meanwhile without coordination: \(obstacle.reason)",
                advice: "nothing was changed; try again")
        }
        return CoordinationError(obstacle.reason, item: item, operation: "transaction")
    }

    private func leaveUnfinished(_ entry: Int, keeping lock: () -> HeldLock?) {
        let kept = lock()
        member.unfinishedLocks.withLock { $0[operation] = kept }
        member.memberTable.leaveUnfinished(entry)
    }
}

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
            if generation != nil { TransactionChanges.sweep(operation, names, in: member.directory.staging) }
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
