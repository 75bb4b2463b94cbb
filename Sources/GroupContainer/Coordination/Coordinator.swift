import GroupLocking
import GroupLog
import GroupSystemCalls

/// The calls by which a member accesses items. Its calls suspend: a task that waits for a lock occupies no thread of
/// the cooperative pool, and files are read and written on separate threads. `blocking` has the same calls for programs
/// without tasks.
///
/// For all calls: locks are advisory, work between processes, are granted in the order of the turnstile, and end at the
/// latest with the process. `timeout` (default: `lockTimeout`; nil: no limit; 0: one try) limits the wait for the lock, by a
/// clock that does not jump. Errors: `lockTimedOut` with the holders, `cancelled`, `outsideContainer`,
/// `invalidArgument`, and those of `Access`.
public struct Coordinator: Sendable {
    /// How long a call waits for its locks where no `timeout` is given: 30 s.
    public static let lockTimeout = Duration.seconds(30)

    let container: OpenContainer
    /// The member's name for its work: a label in the journal and in errors.
    public let purpose: String
    /// The purpose as bytes, as it is written into files.
    let label: [UInt8]

    init(_ container: OpenContainer, purpose: String) {
        (self.container, self.purpose, label) = (container, purpose, Array(purpose.utf8))
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
        _ intents: AccessIntent..., durability: Durability = .durable, timeout: Duration? = Coordinator.lockTimeout,
        _ body: @escaping @Sendable (Access) throws -> Answer
    ) async throws -> Answer {
        try await run(ItemCall(operation: "coordinate", intents: intents), durability, timeout, body)
    }

    /// Runs `body` with access to an array of items. See the variadic form of `coordinate`.
    public func coordinate<Answer: Sendable>(
        _ intents: [AccessIntent], durability: Durability = .durable, timeout: Duration? = Coordinator.lockTimeout,
        _ body: @escaping @Sendable (Access) throws -> Answer
    ) async throws -> Answer {
        try await run(ItemCall(operation: "coordinate", intents: intents), durability, timeout, body)
    }

    /// Runs an async `body` with access to all items. The lock is held until `body` returns, however long it awaits;
    /// every use of the items goes through `HeldAccess.perform`, on a thread of its own. A request that `body` makes for
    /// an item that this request holds throws `deadlock` at once, as in the blocking form, unless it only reads what is
    /// held. See the form with a closure that does not suspend, which costs one thread instead of one for each `perform`.
    public func coordinate<Answer: Sendable>(
        _ intents: AccessIntent..., durability: Durability = .durable, timeout: Duration? = Coordinator.lockTimeout,
        _ body: @Sendable (HeldAccess) async throws -> Answer
    ) async throws -> Answer {
        try await coordinate(intents, durability: durability, timeout: timeout, body)
    }

    /// Runs an async `body` with access to an array of items. See the variadic form.
    public func coordinate<Answer: Sendable>(
        _ intents: [AccessIntent], durability: Durability = .durable, timeout: Duration? = Coordinator.lockTimeout,
        _ body: @Sendable (HeldAccess) async throws -> Answer
    ) async throws -> Answer {
        let call = ItemCall(operation: "coordinate", intents: intents)
        return try await attempt(call, timeout) { request, resolution, frame, deadline in
            let lock = frame.lock
            let round = try await OwnThread.run { () throws -> Round<HeldAccess> in
                if case .again(let next) = try request.check(resolution) { return .again(next) }
                let access = Access(lock, resolution, request, purpose: purpose, durability, until: deadline)
                do {
                    try access.makeSnapshots()
                } catch {
                    try finish(access, lock)
                    throw error
                }
                return .answer(HeldAccess(access, frame))
            }
            // Also where no thread can be started for the end.
            defer { lock.end() }
            switch round {
            case .again(let next): return .again(next)
            case .answer(let access):
                let answer: Result<Answer, any Error>
                do {
                    answer = .success(try await LockFrame.within(frame) { try await body(access) })
                } catch {
                    answer = .failure(error)
                }
                try await access.end { try finish($0, lock) }
                return .answer(try answer.get())
            }
        }
    }

    func run<Answer: Sendable>(
        _ call: ItemCall, _ durability: Durability, _ timeout: Duration?,
        _ body: @escaping @Sendable (Access) throws -> Answer
    ) async throws -> Answer {
        try await attempt(call, timeout) { request, resolution, frame, deadline in
            try await OwnThread.run { try run(request, resolution, frame, durability, deadline, body) }
        }
    }

    /// Acquires the locks of a call and runs `body` under them; again where the paths lead elsewhere by then.
    private func attempt<Answer: Sendable>(
        _ call: ItemCall, _ timeout: Duration?,
        _ body: (AccessRequest, AccessRequest.Resolution, LockFrame, Deadline) async throws -> Round<Answer>
    ) async throws -> Answer {
        var request = AccessRequest(call, by: self)
        let deadline = Deadline(after: timeout)
        for _ in 0..<Self.attempts {
            let present = request
            let resolution = try await OwnThread.run { try present.resolve() }
            let frame = LockFrame(try await present.acquire(resolution, until: deadline), outer: .current)
            switch try await body(present, resolution, frame, deadline) {
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

    /// Runs `body` under the frame's lock, and the work that follows.
    func run<Answer>(
        _ request: AccessRequest, _ resolution: AccessRequest.Resolution, _ frame: LockFrame, _ durability: Durability,
        _ deadline: Deadline, _ body: (Access) throws -> Answer
    ) throws -> Round<Answer> {
        let lock = frame.lock
        if case .again(let next) = try request.check(resolution) {
            lock.end()
            return .again(next)
        }
        let access = Access(lock, resolution, request, purpose: purpose, durability, until: deadline)
        let answer = Result {
            try access.makeSnapshots()
            return try LockFrame.within(frame) { try body(access) }
        }
        try finish(access, lock)
        return .answer(try answer.get())
    }

    /// Ends an access and its lock. The lock is released before the disk confirms the record, so that no waiter waits
    /// for the disk.
    private func finish(_ access: Access, _ lock: HeldLock) throws(CoordinationError) {
        defer { access.sweep() }
        access.end()
        lock.end()
        if let position = access.durableThrough {
            try container.locating { () throws(CoordinationError) in
                try translating(container.journal.log.synchronize(through: position))
            }
        }
        container.tendJournal()
    }
}

extension Coordinator.Round: Sendable where Answer: Sendable {}

/// Access to items in an async closure, valid until that closure returns.
public struct HeldAccess: Sendable {
    /// The mutex is held while `perform` runs its work: an access is for one thread at a time, and each waiter has a
    /// thread of its own.
    private let access: Guarded<Access>
    private let frame: LockFrame

    init(_ access: sending Access, _ frame: LockFrame) { (self.access, self.frame) = (Guarded(access), frame) }

    /// Runs blocking work with the items, on a thread of its own, one call at a time. Errors: those of `work`;
    /// `limitReached` where no thread can be started
    public func perform<Answer: Sendable>(
        _ work: @escaping @Sendable (Access) throws -> Answer
    ) async throws -> Answer {
        try await OwnThread.run { try LockFrame.within(frame) { try access.withLock { try work($0) } } }
    }

    fileprivate func end(_ finish: @escaping @Sendable (Access) throws -> Void) async throws {
        try await OwnThread.run { try access.withLock { try finish($0) } }
    }
}

/// The coordinator's calls for programs without tasks and for threads that the program starts itself. Each call blocks
/// its thread; do not use them on the cooperative pool.
public struct BlockingCoordinator: Sendable {
    let coordinator: Coordinator

    init(_ coordinator: Coordinator) { self.coordinator = coordinator }

    /// Runs `body` with access to all items, or throws with none. See `Coordinator.coordinate`.
    public func coordinate<Answer>(
        _ intents: AccessIntent..., durability: Durability = .durable, timeout: Duration? = Coordinator.lockTimeout,
        _ body: (Access) throws -> Answer
    ) throws -> Answer {
        try run(ItemCall(operation: "coordinate", intents: intents), durability, timeout, body)
    }

    /// Runs `body` with access to an array of items. See the variadic form of `coordinate`.
    public func coordinate<Answer>(
        _ intents: [AccessIntent], durability: Durability = .durable, timeout: Duration? = Coordinator.lockTimeout,
        _ body: (Access) throws -> Answer
    ) throws -> Answer {
        try run(ItemCall(operation: "coordinate", intents: intents), durability, timeout, body)
    }

    func run<Answer>(
        _ call: ItemCall, _ durability: Durability, _ timeout: Duration?,
        _ body: (Access) throws -> Answer
    ) throws -> Answer {
        var request = AccessRequest(call, by: coordinator)
        let deadline = Deadline(after: timeout)
        for _ in 0..<Coordinator.attempts {
            let resolution = try request.resolve()
            let lock = try request.acquireBlocking(resolution, until: deadline)
            let frame = LockFrame(lock, outer: .current)
            switch try coordinator.run(request, resolution, frame, durability, deadline, body) {
            case .answer(let answer): return answer
            case .again(let next): request = next
            }
        }
        throw request.movedAway
    }
}

extension Container {
    /// Returns a coordinator that requests access on behalf of `purpose`: the description of this process in the
    /// journal and in other processes' errors.
    public func coordinator(purpose: String) -> Coordinator {
        opened.memberTable.setPurpose(purpose)
        return Coordinator(opened, purpose: purpose)
    }
}
