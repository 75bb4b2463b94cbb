import GroupLocking
import Dispatch
import GroupBytes
import GroupLog
import GroupSystemCalls

/// The commit of a transaction, and what follows it.
extension TransactionChanges {
    /// The result of a commit, and the work that remains once the record is on the disk.
    struct Outcome {
        /// The position of the record; nil where there was nothing to change.
        var position: LogPosition?
        /// The error of a transaction that is visible, but not completely on the disk.
        var failure: CoordinationError?
        /// The parameters of `sweep`.
        var operation: [UInt8] = []
        var names: [[UInt8]] = []
    }

    private struct Obstacle: Error {
        var reason: Errno
        var step: TransactionStep
    }

    /// Makes all changes of the transaction visible, with one record. `lock` hands over the held lock if the
    /// transaction cannot be completed now; the lock is then kept until it is complete. Errors: `unfinished`: the
    /// transaction is committed, and will be completed; those of the journal: the transaction is visible, and will be
    /// recorded; any other: nothing was changed, nothing is left in staging. System calls: openat2, write, fsync,
    /// renameat2, fsync of each directory concerned
    func commit(keeping lock: () -> HeldLock?) throws(CoordinationError) -> Outcome {
        if steps.isEmpty { return Outcome() }
        let content: TransactionManifest
        let inside: [ContainersInside]
        do {
            inside = try holdContainers()
            content = try describe()
            try translating(container.journal.log.ensureRoom(forBodyOf: content.record.encoded().count))
            try preconditions.ensure(preconditions(of: content.record.parts), "transaction")
        } catch {
            discard()
            throw error
        }
        defer { extendLifetime(inside) }
        let moves = zip(content.steps, content.record.parts).compactMap {
            TransactionStep(container, operation, $0, $1)
        }
        container.changeRoom.wait()
        defer { container.changeRoom.signal() }
        let (entry, isDurable) = try decide(content)
        do throws(Obstacle) {
            try take(moves)
        } catch {
            throw abandon(moves, entry, error, keeping: lock)
        }

        // From here on the whole transaction is visible and must get its record, even if a later call fails.
        var outcome = Outcome()
        var failure = isDurable
        if durability == .durable {
            do throws(Errno) { try container.synchronizeDirectories(of: moves) } catch { failure = error }
        }
        var record = content.record
        record.parts = moves.map(\.result)
        do {
            outcome.position = try container.journal.append(record)
        } catch {
            leaveUnfinished(entry, keeping: lock)
            throw error
        }
        container.movePresenters(by: record)
        container.memberTable.clearInFlight(entry)
        outcome.failure = failure.map { errno in
            CoordinationError(
                .notDurable, operation: "transaction", item: label,
                reason: "\(errno); the changes are visible, but may be lost after a power cut", remedy: .checkDisk,
                cause: errno)
        }
        (outcome.operation, outcome.names) = (operation, moves.map(\.name))
        return outcome
    }

    /// Holds the containers inside the directories that the transaction removes or moves.
    private func holdContainers() throws(CoordinationError) -> [ContainersInside] {
        var held: [ContainersInside] = []
        for step in steps.inOrder {
            switch step.effect {
            case .removal where step.before?.isDirectory == true:
                held.append(try ContainersInside(step.location, of: container, "remove"))
            case .arrival(let origin, let item) where item.isDirectory:
                held.append(try ContainersInside(origin, of: container, "move"))
            default: break
            }
        }
        return held
    }

    private var label: String { steps.inOrder.map { printable($0.location.bytes) }.joined(separator: ", ") }

    /// Commits the transaction by renaming its manifest. If this member dies before the rename, the next member
    /// discards the transaction; if it dies after the rename, the next member completes the transaction. Returns the
    /// entry in `inFlight`, and the error that kept the commit from the disk.
    private func decide(_ content: TransactionManifest) throws(CoordinationError) -> (entry: Int, failure: Errno?) {
        do throws(Errno) {
            try writeManifest(content)
        } catch {
            discard()
            throw CoordinationError(error, operation: "transaction", item: label)
        }
        // The entry covers every item, because an entry has room for one lock range only, and no process may see one of
        // the transaction's items too early.
        guard let entry = container.memberTable.reserveInFlight() else {
            discard()
            throw CoordinationError(
                .limitReached, operation: "transaction", item: label,
                reason: "too many changes of this process are in progress",
                remedy: .init(
                    .makeFewerRequests, "nothing was changed; wait until some of them are done, and try again"))
        }
        container.memberTable.announce(entry, rangeStart: MemberTable.everyItem, operation: operation)
        let directory = container.directory
        do throws(Errno) {
            try directory.staging.rename(newManifest, to: manifest, in: directory.staging, replacing: false)
        } catch {
            container.memberTable.clearInFlight(entry)
            discard()
            throw CoordinationError(error, operation: "transaction", item: label)
        }
        if durability == .relaxed { return (entry, nil) }
        do throws(Errno) { try staging.synchronize() } catch { return (entry, error) }
        return (entry, nil)
    }

    private func take(_ moves: [TransactionStep]) throws(Obstacle) {
        for move in moves {
            do throws(Errno) { try move.take() } catch { throw Obstacle(reason: error, step: move) }
        }
    }

    /// Undoes the steps before one that cannot be taken, in reverse order, and then the commit itself. If this member
    /// is killed meanwhile, the next member completes the transaction, as it does after any commit. If a step cannot be
    /// undone, the transaction stays committed: no process gets its locks until it is complete.
    private func abandon(
        _ moves: [TransactionStep], _ entry: Int, _ obstacle: Obstacle, keeping lock: () -> HeldLock?
    ) -> CoordinationError {
        let item = printable(obstacle.step.location.bytes)
        do throws(Errno) {
            for move in moves.reversed() { try move.takeBack() }
            try staging.unlink(manifest)
            if durability == .durable { try staging.synchronize() }
        } catch {
            leaveUnfinished(entry, keeping: lock)
            return CoordinationError(
                .unfinished, operation: "transaction", item: item,
                reason:
                    "\(obstacle.reason); the steps before could not be undone: \(error); the items stay locked until the transaction is complete",
                remedy: .init(.tryAgain, "make another request, which completes the transaction"), cause: error)
        }
        container.memberTable.clearInFlight(entry)
        discard()
        let items = [obstacle.step.origin, obstacle.step.location].compactMap(\.self)
        if obstacle.reason == .busy, let mount = container.mountPoint(among: items, "transaction") { return mount }
        if obstacle.reason != .crossesDevices && TransactionStep.isForeign(obstacle.reason) {
            return CoordinationError(
                .conflict, operation: "transaction", item: item,
                reason: "the item was changed meanwhile without coordination: \(obstacle.reason)",
                remedy: .init(.tryAgain, "nothing was changed; try again"), cause: obstacle.reason)
        }
        return CoordinationError(obstacle.reason, operation: "transaction", item: item)
    }

    private func leaveUnfinished(_ entry: Int, keeping lock: () -> HeldLock?) {
        container.keepLock(lock(), of: operation)
        container.memberTable.leaveUnfinished(entry)
    }
}

extension Coordinator {
    /// Runs `body` with access to all items, and makes all its changes visible together when it returns. A reader that
    /// holds a lock finds all changes or none; so does every reader after a crash or, if the transaction is durable,
    /// after a power cut, at any point. If `body` throws, nothing was changed. Followers get one transaction: its
    /// changes follow each other, with one sequence number and one cursor. Only a reader without a lock may, during the
    /// renames, find one item new and another one still old; each item is whole.
    ///
    /// Returns the result of `body`, and the generation that all changed items have now; nil if nothing changed,
    /// because every item had the requested state already. Errors: those of `coordinate` and of `body`; `limitReached`
    /// for more changes than fit into one record; `conflict` where an external change is in the way (after all of
    /// these, nothing was changed); `notDurable`: the whole transaction is visible; `unfinished`.
    @discardableResult
    public func transaction<Answer: Sendable>(
        _ intents: AccessIntent..., durability: Durability = .durable, timeout: Duration? = Coordinator.lockTimeout,
        _ body: @escaping @Sendable (Access) throws -> Answer
    ) async throws -> (answer: Answer, generation: Generation?) {
        try await transaction(intents, durability: durability, timeout: timeout, body)
    }

    /// Runs `body` with access to all items of a list. See the form with single intents.
    @discardableResult
    public func transaction<Answer: Sendable>(
        _ intents: [AccessIntent], durability: Durability = .durable, timeout: Duration? = Coordinator.lockTimeout,
        _ body: @escaping @Sendable (Access) throws -> Answer
    ) async throws -> (answer: Answer, generation: Generation?) {
        let (container, call) = (container, ItemCall(operation: "transaction", intents: intents))
        return try await run(call, durability, timeout) { access in
            try Self.run(body, access)
        }.finish(container)
    }

    /// The result of a transaction's work under its lock.
    struct TransactionResult<Answer> {
        var answer: Answer
        var generation: Generation?
        var failure: CoordinationError?
        /// The operation and the names to delete from staging; the manifest comes first.
        var operation: [UInt8]
        var names: [[UInt8]]

        /// Deletes the manifest and the other files in staging. Called after the record is on the disk, because the
        /// manifest is needed until then.
        func finish(_ container: OpenContainer) throws(CoordinationError) -> (answer: Answer, generation: Generation?) {
            if let failure { throw failure.located(in: container) }
            if generation != nil { TransactionChanges.sweep(operation, names, in: container) }
            return (answer, generation)
        }
    }

    static func run<Answer>(
        _ body: (Access) throws -> Answer, _ access: Access
    ) throws -> TransactionResult<Answer> {
        let (answer, outcome) = try access.transact(body)
        return TransactionResult(
            answer: answer, generation: outcome.position.map { Generation(rawValue: $0.sequence) },
            failure: outcome.failure,
            operation: outcome.operation, names: outcome.names)
    }
}

extension Coordinator.TransactionResult: Sendable where Answer: Sendable {}

extension BlockingCoordinator {
    /// Runs `body` with access to all items, and makes everything that it changes visible together. See
    /// `Coordinator.transaction`.
    @discardableResult
    public func transaction<Answer>(
        _ intents: AccessIntent..., durability: Durability = .durable, timeout: Duration? = Coordinator.lockTimeout,
        _ body: (Access) throws -> Answer
    ) throws -> (answer: Answer, generation: Generation?) {
        try transaction(intents, durability: durability, timeout: timeout, body)
    }

    /// Runs `body` with access to all items of a list. See `Coordinator.transaction`.
    @discardableResult
    public func transaction<Answer>(
        _ intents: [AccessIntent], durability: Durability = .durable, timeout: Duration? = Coordinator.lockTimeout,
        _ body: (Access) throws -> Answer
    ) throws -> (answer: Answer, generation: Generation?) {
        let call = ItemCall(operation: "transaction", intents: intents)
        return try run(call, durability, timeout) { access in
            try Coordinator.run(body, access)
        }.finish(coordinator.container)
    }
}
