import GroupLocking
import GroupLog
package import GroupSystemCalls

/// The calls by which a member accesses items. Its calls suspend: a task that waits for a lock occupies no thread of
/// the cooperative pool, and files are read and written on separate threads. `blocking` has the same calls for programs
/// without tasks.
///
/// For all calls: locks are advisory, work between processes, are granted in the order of the turnstile, and end at the
/// latest with the process. `timeout` (default: `lockTimeout`; nil: no limit; `.zero`: one try, which no other request
/// notices) limits the wait for the lock, by a clock that does not jump. Errors: `lockTimedOut` with the holders,
/// `cancelled`, `outsideContainer`, `invalidArgument`, and those of `Access`.
public struct Coordinator: Sendable {
    /// How long a call waits for its locks where no `timeout` is given: 30 s.
    public static let lockTimeout = Duration.seconds(30)

    let container: OpenContainer
    /// The member's name for its work: a label in the journal and in errors.
    public let purpose: String
    /// The purpose as bytes, as it is written into files.
    let label: [UInt8]
    /// How long a request waits for the answers of presenters, within its `timeout`; then it goes on without those that
    /// did not answer.
    public var presenterGrace = Duration.seconds(5)
    /// Whether a presenter that does not answer within the grace fails the request (`presenterUnresponsive`).
    public var needsAnswers = false
    /// The presenter that the requests do not ask.
    var presenter: PresentedItem?

    init(_ container: OpenContainer, purpose: String) {
        self.container = container
        self.purpose = purpose
        label = Array(purpose.utf8)
    }

    /// The member's container, for modules above this one.
    package var member: Container { Container(container) }

    /// The blocking form of these calls.
    public var blocking: BlockingCoordinator { BlockingCoordinator(self) }

    /// Runs `body` with access to all items, or throws with access to none: all locks are granted, or none is held.
    /// `body` gets each item's present location: an item that was moved while its lock was awaited is followed.
    ///
    /// Prefer one request for all items to further requests within `body`. A nested request, made through `blocking`,
    /// may read what the outer request already holds. A nested request that would wait for its own closure, or in a
    /// circle with other processes, throws `deadlock` at once. System calls: fcntl(F_OFD_SETLK, F_OFD_SETLKW)
    @discardableResult
    public func coordinate<Answer: Sendable>(
        _ intents: AccessIntent..., durability: Durability = .durable, timeout: Duration? = Coordinator.lockTimeout,
        _ body: @escaping @Sendable (Access) throws -> Answer
    ) async throws -> Answer {
        try await run(ItemCall(operation: "coordinate", intents: intents), durability, timeout, body)
    }

    /// Runs `body` with access to an array of items. See the variadic form of `coordinate`.
    @discardableResult
    public func coordinate<Answer: Sendable>(
        _ intents: [AccessIntent], durability: Durability = .durable, timeout: Duration? = Coordinator.lockTimeout,
        _ body: @escaping @Sendable (Access) throws -> Answer
    ) async throws -> Answer {
        try await run(ItemCall(operation: "coordinate", intents: intents), durability, timeout, body)
    }

    /// Runs an async `body` with access to all items. The lock is held until `body` returns, however long it awaits;
    /// every use of the items goes through `HeldAccess.perform`, on a thread of its own. A request that `body` makes
    /// for an item that this request holds throws `deadlock` at once, as in the blocking form, unless it only reads
    /// what is held. See the form with a closure that does not suspend, which costs one thread instead of one for each
    /// `perform`.
    @discardableResult
    public func coordinate<Answer: Sendable>(
        _ intents: AccessIntent..., durability: Durability = .durable, timeout: Duration? = Coordinator.lockTimeout,
        _ body: @Sendable (HeldAccess) async throws -> Answer
    ) async throws -> Answer {
        try await coordinate(intents, durability: durability, timeout: timeout, body)
    }

    /// Runs an async `body` with access to an array of items. See the variadic form.
    @discardableResult
    public func coordinate<Answer: Sendable>(
        _ intents: [AccessIntent], durability: Durability = .durable, timeout: Duration? = Coordinator.lockTimeout,
        _ body: @Sendable (HeldAccess) async throws -> Answer
    ) async throws -> Answer {
        let call = ItemCall(operation: "coordinate", intents: intents)
        return try await hold(call, durability, timeout, taking: { _ in }, body).answer
    }

    /// Runs an async `body` under the granted locks, and returns with its result what `take` gets from the access, if
    /// `body` does not throw. `begin` runs before, with the access.
    func hold<Answer: Sendable, Taken: Sendable>(
        _ call: ItemCall, _ durability: Durability, _ timeout: Duration?,
        beginning begin: @escaping @Sendable (Access) -> Void = { _ in },
        taking take: @escaping @Sendable (Access) throws -> Taken,
        _ body: @Sendable (HeldAccess) async throws -> Answer
    ) async throws -> (answer: Answer, taken: Taken?) {
        try await attempt(call, timeout) { grant, inquiry in
            let (lock, frame) = (grant.frame.lock, grant.frame)
            let round = try await OwnThread.run { try hold(grant, inquiry, durability, beginning: begin) }
            // Also where no thread can be started for the end.
            defer { lock.end() }
            switch round {
            case .again(let next): return .again(next)
            case .ask(let inquiry): return .ask(inquiry)
            case .answer(let access):
                let answer: Result<Answer, any Error>
                do {
                    answer = .success(try await LockFrame.within(frame) { try await body(access) })
                } catch {
                    answer = .failure(error)
                }
                let isDone = if case .success = answer { true } else { false }
                let taken = try await access.end { access -> Taken? in
                    let taken = Result { isDone ? try take(access) : nil }
                    try finish(access, lock)
                    return try taken.get()
                }
                return .answer((try answer.get(), taken))
            }
        }
    }

    /// Runs `body` under the locks of a call.
    package func run<Answer: Sendable>(
        _ call: ItemCall, _ durability: Durability, _ timeout: Duration?,
        _ body: @escaping @Sendable (Access) throws -> Answer
    ) async throws -> Answer {
        try await attempt(call, timeout) { grant, inquiry in
            try await OwnThread.run { try run(grant, inquiry, durability, body) }
        }
    }

    func request(_ call: ItemCall) -> AccessRequest {
        AccessRequest(
            call.operation, call.intents, by: container, for: label, presenter: presenter, grace: presenterGrace,
            needsAnswers: needsAnswers)
    }

    /// Acquires the locks of a call and runs `body` under them; again where the paths lead elsewhere by then, or
    /// presenters have to be asked first.
    private func attempt<Answer: Sendable>(
        _ call: ItemCall, _ timeout: Duration?, _ body: (GrantedRequest, Inquiry?) async throws -> Round<Answer>
    ) async throws -> Answer {
        var request = request(call)
        let deadline = Deadline(after: timeout)
        var inquiry: Inquiry?
        defer { inquiry?.end() }
        var attempts = 0
        while attempts < Self.attempts {
            let present = request
            let resolution = try await OwnThread.run { try present.resolve() }
            let frame = LockFrame(try await present.acquire(resolution, until: deadline), outer: .current)
            let grant = GrantedRequest(request: present, resolution: resolution, frame: frame, deadline: deadline)
            switch try await body(grant, inquiry) {
            case .answer(let answer): return answer
            case .again(let next): (request, attempts) = (next, attempts + 1)
            case .ask(let next):
                inquiry = next
                try await next.askElsewhere()
            }
        }
        throw request.movedAway
    }

    static let attempts = 8

    enum Round<Answer> {
        case answer(Answer)
        /// The paths lead elsewhere by now.
        case again(AccessRequest)
        /// Presenters are in the way: the locks are to be ended, and acquired again when they have answered.
        case ask(Inquiry)
    }

    /// Checks, under the granted locks, whether the access may begin: returns nil then. Ends the locks where it throws.
    private func check<Answer>(
        _ grant: GrantedRequest, _ inquiry: inout Inquiry?
    ) throws(CoordinationError) -> Round<Answer>? {
        do throws(CoordinationError) {
            return try round(grant, &inquiry)
        } catch {
            // Others may still refer to the locks, such as the thread of this check, which is kept for later work.
            grant.frame.lock.end()
            throw error
        }
    }

    private func round<Answer>(
        _ grant: GrantedRequest, _ inquiry: inout Inquiry?
    ) throws(CoordinationError) -> Round<Answer>? {
        if case .again(let next) = try grant.request.check(grant.resolution) { return .again(next) }
        // What the locks around this request cover is granted already.
        if grant.frame.lock.isCovered || inquiry == nil && !Inquiry.isNeeded(grant) { return nil }
        let asking = inquiry ?? Inquiry(grant)
        if try !asking.isGranted(grant.request.concern(grant.resolution)) { return .ask(asking) }
        // Without a question, too, a presenter may have been passed over.
        if !asking.unresponsive.isEmpty { inquiry = asking }
        return nil
    }

    /// Begins an access under the granted locks, which `finish` is to end.
    fileprivate func hold(
        _ grant: GrantedRequest, _ inquiry: Inquiry?, _ durability: Durability,
        beginning begin: (Access) -> Void = { _ in }
    ) throws -> Round<HeldAccess> {
        var inquiry = inquiry
        if let round: Round<HeldAccess> = try check(grant, &inquiry) {
            grant.frame.lock.end()
            return round
        }
        let access = Access(grant, inquiry, durability)
        begin(access)
        do {
            try access.makeSnapshots()
        } catch {
            try finish(access, grant.frame.lock)
            throw error
        }
        return .answer(HeldAccess(access, grant.frame, grant.request.answering))
    }

    /// Runs `body` under the granted locks, and the work that follows.
    func run<Answer>(
        _ grant: GrantedRequest, _ inquiry: Inquiry?, _ durability: Durability, _ body: (Access) throws -> Answer
    ) throws -> Round<Answer> {
        let lock = grant.frame.lock
        var inquiry = inquiry
        if let round: Round<Answer> = try check(grant, &inquiry) {
            lock.end()
            return round
        }
        let access = Access(grant, inquiry, durability)
        let answer = Result {
            try access.makeSnapshots()
            return try LockFrame.within(grant.frame) {
                try AnsweredQuestion.within(grant.request.answering) { try body(access) }
            }
        }
        try finish(access, lock)
        return .answer(try answer.get())
    }

    /// Ends an access and its lock. The lock is released before the disk confirms the record, so that no waiter waits
    /// for the disk.
    fileprivate func finish(_ access: Access, _ lock: HeldLock) throws(CoordinationError) {
        defer { access.sweep() }
        access.inquiry?.end(changes: access.changes)
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

/// The coordinator's calls for programs without tasks and for threads that the program starts itself. Each call blocks
/// its thread; do not use them on the cooperative pool.
public struct BlockingCoordinator: Sendable {
    let coordinator: Coordinator
    /// Ends the waits of the calls; nil for calls that wait for the whole of their time.
    let cancellation: Cancellation?

    init(_ coordinator: Coordinator, orUntil cancellation: Cancellation? = nil) {
        self.coordinator = coordinator
        self.cancellation = cancellation
    }

    /// Runs `body` with access to all items, or throws with none. See `Coordinator.coordinate`.
    @discardableResult
    public func coordinate<Answer>(
        _ intents: AccessIntent..., durability: Durability = .durable, timeout: Duration? = Coordinator.lockTimeout,
        _ body: (Access) throws -> Answer
    ) throws -> Answer {
        try run(ItemCall(operation: "coordinate", intents: intents), durability, timeout, body)
    }

    /// Runs `body` with access to an array of items. See the variadic form of `coordinate`.
    @discardableResult
    public func coordinate<Answer>(
        _ intents: [AccessIntent], durability: Durability = .durable, timeout: Duration? = Coordinator.lockTimeout,
        _ body: (Access) throws -> Answer
    ) throws -> Answer {
        try run(ItemCall(operation: "coordinate", intents: intents), durability, timeout, body)
    }

    /// The blocking form of `Coordinator.run`.
    package func run<Answer>(
        _ call: ItemCall, _ durability: Durability, _ timeout: Duration?, _ body: (Access) throws -> Answer
    ) throws -> Answer {
        try attempt(call, timeout, cancellation) { grant, inquiry in
            try coordinator.run(grant, inquiry, durability, body)
        }
    }

    /// The blocking form of `Coordinator.attempt`.
    private func attempt<Answer>(
        _ call: ItemCall, _ timeout: Duration?, _ cancellation: Cancellation?,
        _ body: (GrantedRequest, Inquiry?) throws -> Coordinator.Round<Answer>
    ) throws -> Answer {
        var request = coordinator.request(call)
        let deadline = Deadline(after: timeout)
        var inquiry: Inquiry?
        defer { inquiry?.end() }
        var attempts = 0
        while attempts < Coordinator.attempts {
            let resolution = try request.resolve()
            let lock = try request.acquireBlocking(resolution, until: deadline, orUntil: cancellation)
            let frame = LockFrame(lock, outer: .current)
            let grant = GrantedRequest(request: request, resolution: resolution, frame: frame, deadline: deadline)
            switch try body(grant, inquiry) {
            case .answer(let answer):
                // An access that outlasts this call ends its questions itself.
                if answer is HeldAccess { inquiry = nil }
                return answer
            case .again(let next): (request, attempts) = (next, attempts + 1)
            case .ask(let next):
                inquiry = next
                if let cancellation {
                    try cancellation.during(end: next.cancel) { () throws(CoordinationError) in try next.ask() }
                } else {
                    try next.ask()
                }
            }
        }
        throw request.movedAway
    }

    /// Begins an access to all items that lasts until `end(_:)`, for requests that are not a closure. `cancellation`
    /// ends the wait: error `cancelled`.
    package func begin(
        _ intents: [AccessIntent], durability: Durability = .relaxed, operation: String = "coordinate",
        timeout: Duration?, orUntil cancellation: Cancellation?
    ) throws -> HeldAccess {
        let call = ItemCall(operation: operation, intents: intents)
        // A lock that is held may be all that the caller wants: no call on an item would notice it.
        try coordinator.container.checkIsThere(operation)
        return try attempt(call, timeout, cancellation) { grant, inquiry in
            try coordinator.hold(grant, inquiry, durability)
        }
    }

    /// Ends an access that `begin` began. A second call does nothing.
    package func end(_ access: HeldAccess) throws {
        try access.performBlocking { try coordinator.finish($0, access.frame.lock) }
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
