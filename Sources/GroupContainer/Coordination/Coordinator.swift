import GroupSystemCalls

/// The calls by which a member accesses items. Its calls suspend: a task that waits for a lock occupies no thread of
/// the cooperative pool, and files are read and written on separate threads. `blocking` has the same calls for programs
/// without tasks.
///
/// For all calls: locks are advisory, work between processes, are granted in the order of the turnstile, and end at the
/// latest with the process. `timeout` (default 30 s; nil: no limit; 0: one try) limits the wait for the lock, by a
/// clock that does not jump. Errors: `lockTimedOut` with the holders, `cancelled`, `outsideContainer`,
/// `invalidArgument`, and those of `Access`.
public struct Coordinator: Sendable {
    let member: Member
    /// The member's name for its work: a label in the journal and in errors.
    public let purpose: String
    /// The purpose as bytes, as it is written into files.
    let label: [UInt8]

    init(member: Member, purpose: String) {
        (self.member, self.purpose, label) = (member, purpose, Array(purpose.utf8))
    }

    /// The blocking form of these calls.
    public var blocking: BlockingCoordinator { BlockingCoordinator(self) }

    /// Runs `body` with access to all items, or throws with access to none: all locks are granted, or none is held.
    /// `body` gets each item's present location: an item that was moved while its lock was awaited is followed.
    ///
    /// Prefer one request for all items to further requests within `body`. A nested request, made through `blocking`,
    /// may read what the outer request already holds. A nested request that would wait for its own closure, or in a
    /// circle with other processes, throws `deadlock` at once. System calls: fcntl(F_OFD_SETLK, F_OFD_SETLKW)
    public func coordinate<Answer: Sendable>(
        _ intents: AccessIntent..., durability: Durability = .durable, timeout: Duration? = .seconds(30),
        _ body: @escaping @Sendable (Access) throws -> Answer
    ) async throws -> Answer {
        try await coordinate(intents, operation: "coordinate", durability, timeout, body)
    }

    /// Runs `body` with access to an array of items. See the variadic form of `coordinate`.
    public func coordinate<Answer: Sendable>(
        _ intents: [AccessIntent], durability: Durability = .durable, timeout: Duration? = .seconds(30),
        _ body: @escaping @Sendable (Access) throws -> Answer
    ) async throws -> Answer {
        try await coordinate(intents, operation: "coordinate", durability, timeout, body)
    }

    func coordinate<Answer: Sendable>(
        _ intents: [AccessIntent], operation: String, _ durability: Durability, _ timeout: Duration?,
        _ body: @escaping @Sendable (Access) throws -> Answer
    ) async throws -> Answer {
        var request = AccessRequest(intents, by: self, operation: operation)
        let deadline = Deadline(after: timeout)
        for _ in 0..<Self.attempts {
            let present = request
            let resolution = try await Self.offload { try present.resolve() }
            let lock = try await present.locks(for: resolution).acquire(until: deadline)
            switch try await Self.offload({ try run(present, resolution, lock, durability, deadline, body) }) {
            case .answer(let answer): return answer
            case .again(let next): request = next
            }
        }
        throw request.movedAway
    }

    static let attempts = 8

    enum Round<Answer> {
        case answer(Answer)
        /// The paths lead elsewhere by now.
        case again(AccessRequest)
    }

    /// Runs `body` under the lock, and the work that follows. The lock is released before the disk confirms the record,
    /// so that no waiter waits for the disk.
    func run<Answer>(
        _ request: AccessRequest, _ resolution: AccessRequest.Resolution, _ lock: HeldLock, _ durability: Durability,
        _ deadline: Deadline, _ body: (Access) throws -> Answer
    ) throws -> Round<Answer> {
        if case .again(let next) = try request.check(resolution) {
            lock.end()
            return .again(next)
        }
        let access = Access(lock, resolution, request.intents, purpose: purpose, durability, until: deadline)
        defer { access.sweep() }
        let answer = Result { try LockFrame.within(lock) { try access.run(body) } }
        access.end()
        lock.end()
        if access.hasChanged { member.memberTable.wake(MemberTable.journalWord) }
        if let position = access.durableThrough { try member.journal.log.synchronize(through: position) }
        member.tendJournal()
        return .answer(try answer.get())
    }

    /// Runs blocking work on a thread of its own. Fails at once if no thread can be started; what the work's closure
    /// holds is released then.
    static func offload<Answer: Sendable>(_ work: @escaping @Sendable () throws -> Answer) async throws
        -> Answer
    {
        try await withCheckedThrowingContinuation { continuation in
            do throws(Errno) {
                try WorkThread.start { continuation.resume(with: Result { try work() }) }
            } catch {
                continuation.resume(throwing: CoordinationError.noThread(error))
            }
        }
    }

    static func offload<Answer: Sendable>(
        _ work: @escaping @Sendable () -> Result<Answer, CoordinationError>
    ) async -> Result<Answer, CoordinationError> {
        await withCheckedContinuation { continuation in
            do throws(Errno) {
                try WorkThread.start { continuation.resume(returning: work()) }
            } catch {
                continuation.resume(returning: .failure(.noThread(error)))
            }
        }
    }
}

extension CoordinationError {
    fileprivate static func noThread(_ errno: Errno) -> CoordinationError {
        CoordinationError(
            .limitReached, operation: "coordinate", cause: "no thread could be started for it: \(errno)",
            advice: "have fewer closures run at a time, or raise the limit of threads: ulimit -u")
    }
}

extension Coordinator.Round: Sendable where Answer: Sendable {}

/// The coordinator's calls for programs without tasks and for threads that the program starts itself. Each call blocks
/// its thread; do not use them on the cooperative pool.
public struct BlockingCoordinator: Sendable {
    let coordinator: Coordinator

    init(_ coordinator: Coordinator) { self.coordinator = coordinator }

    /// Runs `body` with access to all items, or throws with none. See `Coordinator.coordinate`.
    public func coordinate<Answer>(
        _ intents: AccessIntent..., durability: Durability = .durable, timeout: Duration? = .seconds(30),
        _ body: (Access) throws -> Answer
    ) throws -> Answer {
        try coordinate(intents, operation: "coordinate", durability, timeout, body)
    }

    /// Runs `body` with access to an array of items. See the variadic form of `coordinate`.
    public func coordinate<Answer>(
        _ intents: [AccessIntent], durability: Durability = .durable, timeout: Duration? = .seconds(30),
        _ body: (Access) throws -> Answer
    ) throws -> Answer {
        try coordinate(intents, operation: "coordinate", durability, timeout, body)
    }

    func coordinate<Answer>(
        _ intents: [AccessIntent], operation: String, _ durability: Durability, _ timeout: Duration?,
        _ body: (Access) throws -> Answer
    ) throws -> Answer {
        var request = AccessRequest(intents, by: coordinator, operation: operation)
        let deadline = Deadline(after: timeout)
        for _ in 0..<Coordinator.attempts {
            let resolution = try request.resolve()
            let lock = try request.locks(for: resolution).acquireBlocking(until: deadline)
            switch try coordinator.run(request, resolution, lock, durability, deadline, body) {
            case .answer(let answer): return answer
            case .again(let next): request = next
            }
        }
        throw request.movedAway
    }

    /// Returns an item's content, read under a shared lock.
    public func readBytes(_ path: ItemPath, timeout: Duration? = .seconds(30)) throws -> [UInt8] {
        try coordinate([.reading(path)], operation: "read", .relaxed, timeout) { try $0.readBytes(path) }
    }

    /// Replaces an item's content, under an exclusive lock. See `Access.write`.
    public func write(
        bytes: [UInt8], to path: ItemPath, _ durability: Durability = .durable, if condition: WriteCondition = .always,
        mode: UInt32? = nil, timeout: Duration? = .seconds(30)
    ) throws -> WriteOutcome {
        try coordinate([.writing(path)], operation: "write", durability, timeout) {
            try $0.write(bytes: bytes, to: path, if: condition, mode: mode)
        }
    }

    /// Replaces an item's content with what `body` returns for its present content (nil: absent), under one exclusive
    /// lock. If `body` throws, nothing is written.
    public func updateBytes(
        _ path: ItemPath, _ durability: Durability = .durable, timeout: Duration? = .seconds(30),
        _ body: ([UInt8]?) throws -> [UInt8]
    ) throws -> WriteOutcome {
        try coordinate([.writing(path)], operation: "update", durability, timeout) { access in
            try access.write(bytes: body(access.readBytesIfPresent(path)), to: path)
        }
    }
}
