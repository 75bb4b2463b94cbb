import GroupSystemCalls

/// What a member asks for access. Its calls suspend: a task that waits for a lock occupies no thread of the
/// cooperative pool, and files are read and written on threads of their own. `blocking` has the same calls for plain
/// programs.
///
/// All calls: locks are advisory and between processes, granted in the order of the turnstile, freed at the latest by
/// the process's death. `timeout` (default 30 s, nil: for ever, 0: one try) is how long to wait for the lock, by a
/// clock that does not jump. Errors: `lockTimedOut` with the holders, `cancelled`, `outsideContainer`,
/// `invalidArgument`, and those of `Access`.
public struct Coordinator: Sendable {
    let member: Member
    /// What this member says it is: a label in the journal and in errors.
    public let purpose: String
    /// The same, as it stands in files.
    let label: [UInt8]

    init(member: Member, purpose: String) {
        (self.member, self.purpose, label) = (member, purpose, Array(purpose.utf8))
    }

    /// The same calls, blocking.
    public var blocking: BlockingCoordinator { BlockingCoordinator(self) }

    /// Runs `body` with access to all items, or throws with none: every lock is granted, or none is held.
    /// `body` gets each item's place as it is then: one that was moved while the lock was awaited is followed.
    ///
    /// Better name everything in one request than ask for more in `body`. If it does, through `blocking`: what it reads
    /// and holds already is granted; what would have it wait for itself, or in a circle with others, is a `deadlock` at
    /// once. System calls: fcntl(F_OFD_SETLK, F_OFD_SETLKW)
    public func coordinate<Answer: Sendable>(
        _ intents: AccessIntent..., durability: Durability = .durable, timeout: Duration? = .seconds(30),
        _ body: @escaping @Sendable (Access) throws -> Answer
    ) async throws -> Answer {
        try await coordinate(intents, operation: "coordinate", durability, timeout, body)
    }

    /// The same for as many items as it takes.
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

    /// What happens under the lock and after it. The lock is given back first: nobody waits for it while the disk
    /// confirms the record.
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

    /// Blocking work on a thread of its own, which is there at once or not at all: what the work holds is let go of
    /// then.
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

/// The coordinator's calls for plain programs and threads of one's own: each blocks its thread. Not for the cooperative
/// pool.
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

    /// The same for as many items as it takes.
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

    /// An item's content, under a shared lock.
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

    /// Present content in (nil: absent), new content out, under one exclusive lock; if `body` throws, nothing is
    /// written.
    public func updateBytes(
        _ path: ItemPath, _ durability: Durability = .durable, timeout: Duration? = .seconds(30),
        _ body: ([UInt8]?) throws -> [UInt8]
    ) throws -> WriteOutcome {
        try coordinate([.writing(path)], operation: "update", durability, timeout) { access in
            try access.write(bytes: body(access.readBytesIfPresent(path)), to: path)
        }
    }
}
