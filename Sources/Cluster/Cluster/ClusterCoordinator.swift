public import GroupContainer
import GroupLocking
import GroupSystemCalls

/// The calls by which a member changes items on all machines of its container's cluster. A call returns when each
/// machine will have its changes, and this machine has them. The program `group-cluster` has to run on each machine.
///
///     let cluster = container.cluster(purpose: "planner")
///     try await cluster.update("plan.json", default: Plan()) { $0.tasks.append(task) }
///
/// The changes of a call are collected under its locks on this machine. Then the locks end, and the cluster accepts all
/// of the changes, or none. `write`, `remove` and `createDirectory` without a condition replace what is there when they
/// are accepted. All other calls are accepted only if the items are then as the closure saw them, including items that
/// the closure only read. A closure that changes nothing sends nothing.
///
/// `timeout` limits two waits, each from its own beginning: for the locks, and, after the closure, for the cluster. The
/// second one may take up to 2 s more, to find out what the cluster has decided.
///
/// For all calls, errors: those of `Coordinator`, and the following ones. Nothing was changed anywhere after
///
/// - `conflict`: an item was changed meanwhile, here or on another machine
/// - `unavailable`: the container is in no cluster, its program does not run or is paused, or the cluster has not
///   committed the change and will not
/// - `deadlock`: the calling code holds a lock, and other processes would wait for that lock until the cluster has
///   decided
/// - `limitReached`: a content has more than 64 MiB, or more than 1,024 items are read or changed
/// - `invalidArgument`, `wrongType`: the cluster does not take the change, such as a mode without a content, a copy of
///   a directory, or a path that is not UTF-8
/// - `cancelled` without a `pendingOperation`
///
/// After `unknown`, and after `cancelled` with a `pendingOperation`, the change may be made or not. `pendingOperation`
/// is the name of the operation, and `outcome(of:)` later returns what became of it.
public struct ClusterCoordinator: Sendable {
    /// The coordinator for this machine alone.
    public private(set) var local: Coordinator

    /// Creates a coordinator that changes items on behalf of `purpose`.
    public init(_ container: Container, purpose: String) { local = container.coordinator(purpose: purpose) }

    /// The member's name for its work: a label in the journal and in errors.
    public var purpose: String { local.purpose }

    /// How long a request waits for the answers of this machine's presenters. See `Coordinator.presenterGrace`.
    public var presenterGrace: Duration {
        get { local.presenterGrace }
        set { local.presenterGrace = newValue }
    }

    /// Whether a presenter that does not answer within the grace fails the request (`presenterUnresponsive`).
    public var needsAnswers: Bool {
        get { local.needsAnswers }
        set { local.needsAnswers = newValue }
    }

    /// The blocking form of these calls.
    public var blocking: BlockingClusterCoordinator { BlockingClusterCoordinator(self) }

    var container: Container { local.member }

    // MARK: Requests

    /// Runs `body` with access to all items. The cluster decides about the changes when `body` has returned. See
    /// `Coordinator.coordinate`.
    @discardableResult
    public func coordinate<Answer: Sendable>(
        _ intents: AccessIntent..., timeout: Duration? = Coordinator.lockTimeout,
        _ body: @escaping @Sendable (Access) throws -> Answer
    ) async throws -> Answer {
        try await coordinate(intents, timeout: timeout, body)
    }

    /// Runs `body` with access to an array of items. See the variadic form.
    @discardableResult
    public func coordinate<Answer: Sendable>(
        _ intents: [AccessIntent], timeout: Duration? = Coordinator.lockTimeout,
        _ body: @escaping @Sendable (Access) throws -> Answer
    ) async throws -> Answer {
        try await decide(ItemCall(operation: "coordinate", intents: intents), timeout, body).answer
    }

    /// Runs an async `body` with access to all items. See the form with a closure that does not suspend.
    @discardableResult
    public func coordinate<Answer: Sendable>(
        _ intents: AccessIntent..., timeout: Duration? = Coordinator.lockTimeout,
        _ body: @Sendable (HeldAccess) async throws -> Answer
    ) async throws -> Answer {
        try await coordinate(intents, timeout: timeout, body)
    }

    /// Runs an async `body` with access to an array of items. See the variadic form.
    @discardableResult
    public func coordinate<Answer: Sendable>(
        _ intents: [AccessIntent], timeout: Duration? = Coordinator.lockTimeout,
        _ body: @Sendable (HeldAccess) async throws -> Answer
    ) async throws -> Answer {
        let call = ItemCall(operation: "coordinate", intents: intents)
        let strict = try await begin(call, timeout)
        let (answer, proposal) = try await local.propose(call, ClusterRequest.terms, timeout: timeout, body)
        _ = try await strict.finish(proposal)
        return answer
    }

    /// Runs `body` with access to all items. Returns its result, and the newest generation of the changed items on this
    /// machine; nil if no item has a new generation, as after a call that has changed nothing or only removed items.
    /// The cluster takes the changes of every call as one, so `coordinate` differs only in what it returns.
    @discardableResult
    public func transaction<Answer: Sendable>(
        _ intents: AccessIntent..., timeout: Duration? = Coordinator.lockTimeout,
        _ body: @escaping @Sendable (Access) throws -> Answer
    ) async throws -> (answer: Answer, generation: Generation?) {
        try await transaction(intents, timeout: timeout, body)
    }

    /// Runs `body` with access to an array of items. See the variadic form.
    @discardableResult
    public func transaction<Answer: Sendable>(
        _ intents: [AccessIntent], timeout: Duration? = Coordinator.lockTimeout,
        _ body: @escaping @Sendable (Access) throws -> Answer
    ) async throws -> (answer: Answer, generation: Generation?) {
        let (answer, outcome) = try await decide(
            ItemCall(operation: "transaction", intents: intents), timeout, body)
        return (answer, outcome.generation)
    }

    // MARK: Single items

    /// Replaces an item's content. See `Coordinator.write(bytes:to:)`.
    @discardableResult
    public func write(
        bytes: [UInt8], to path: ItemPath, if condition: WriteCondition = .always, mode: UInt32? = nil,
        timeout: Duration? = Coordinator.lockTimeout
    ) async throws -> WriteResult {
        try await change(.write(path, if: condition), timeout) {
            try $0.write(bytes: bytes, to: path, if: condition, mode: mode)
        }
    }

    /// Replaces an item's content with text, as UTF-8. See `Coordinator.write(text:to:)`.
    @discardableResult
    public func write(
        text: String, to path: ItemPath, if condition: WriteCondition = .always, mode: UInt32? = nil,
        timeout: Duration? = Coordinator.lockTimeout
    ) async throws -> WriteResult {
        try await write(bytes: Array(text.utf8), to: path, if: condition, mode: mode, timeout: timeout)
    }

    /// Writes a value as JSON. See `Coordinator.write(json:to:)`.
    @discardableResult
    public func write(
        json value: some Encodable, to path: ItemPath, if condition: WriteCondition = .always,
        timeout: Duration? = Coordinator.lockTimeout
    ) async throws -> WriteResult {
        let bytes = try ItemCoding.encode(value, for: path)
        return try await write(bytes: bytes, to: path, if: condition, timeout: timeout)
    }

    /// Replaces an item's content with what `body` writes piece by piece, before any lock is requested. See
    /// `Coordinator.write(to:)`.
    @discardableResult
    public func write(
        to path: ItemPath, if condition: WriteCondition = .always, mode: UInt32? = nil,
        timeout: Duration? = Coordinator.lockTimeout, _ body: @escaping @Sendable (inout ItemWriter) throws -> Void
    ) async throws -> WriteResult {
        // If the cluster cannot be used, this fails before a content is made, which may take long.
        let strict = try await begin(.write(path, if: condition), timeout)
        let proposal = try await local.propose(
            writing: path, ClusterRequest.terms, if: condition, mode: mode, timeout: timeout, body)
        return try await strict.finish(proposal).result
    }

    /// Replaces an item's content with what `body` returns for its present content (nil: absent). See
    /// `Coordinator.updateBytes`.
    @discardableResult
    public func updateBytes(
        _ path: ItemPath, timeout: Duration? = Coordinator.lockTimeout,
        _ body: @escaping @Sendable ([UInt8]?) throws -> [UInt8]
    ) async throws -> WriteResult {
        try await change(.update(path), timeout) { try $0.write(bytes: body($0.readBytesIfPresent(path)), to: path) }
    }

    /// Reads, changes and writes a value as JSON. See `Coordinator.update(_:default:)`.
    @discardableResult
    public func update<Value: Codable & Sendable>(
        _ path: ItemPath, default missing: Value, timeout: Duration? = Coordinator.lockTimeout,
        _ body: @escaping @Sendable (inout Value) throws -> Void
    ) async throws -> Versioned<Value> {
        let (staged, outcome) = try await decide(.update(path), timeout) {
            try $0.update(path, default: missing, body)
        }
        return Versioned(value: staged.value, generation: outcome.generation ?? staged.generation)
    }

    /// Removes an item. See `Coordinator.remove`.
    @discardableResult
    public func remove(
        _ path: ItemPath, recursively: Bool = false, if condition: WriteCondition = .always,
        timeout: Duration? = Coordinator.lockTimeout
    ) async throws -> WriteResult {
        try await change(.remove(path, if: condition), timeout) {
            try $0.remove(path, recursively: recursively, if: condition)
        }
    }

    /// Moves an item. See `Coordinator.move`.
    @discardableResult
    public func move(
        _ path: ItemPath, to destination: ItemPath, replacing: Bool = false, if condition: WriteCondition = .always,
        timeout: Duration? = Coordinator.lockTimeout
    ) async throws -> WriteResult {
        try await change(.move(path, destination), timeout) {
            try $0.move(path, to: destination, replacing: replacing, if: condition)
        }
    }

    /// Copies a file's content and permissions. See `Coordinator.copy`.
    @discardableResult
    public func copy(
        _ path: ItemPath, to destination: ItemPath, replacing: Bool = false,
        timeout: Duration? = Coordinator.lockTimeout
    ) async throws -> WriteResult {
        try await change(.copy(path, destination, recursively: false), timeout) {
            try $0.copy(path, to: destination, replacing: replacing)
        }
    }

    /// Makes a directory and its missing parents. See `Coordinator.createDirectory`.
    @discardableResult
    public func createDirectory(
        _ path: ItemPath, timeout: Duration? = Coordinator.lockTimeout
    ) async throws -> WriteResult {
        try await change(.createDirectory(path), timeout) { try $0.createDirectory(path) }
    }

    // MARK: The cluster

    /// Replaces an item's content with what `body` returns for its present content (nil: absent), in one process of all
    /// machines at a time. `body` runs with the cluster's lock of the name `lock` (default: the path), and with no lock
    /// of this machine. Local processes go on, and an item that any of them changes meanwhile is a conflict. The change
    /// is refused (`conflict`) if this machine has lost the lock meanwhile. If `body` throws, nothing is changed.
    ///
    /// `timeout` limits each of the waits from its own beginning: for the cluster's lock, for this machine's lock to
    /// read the item, and, after `body`, for this machine's lock again and for the cluster. Errors: those of `body`;
    /// `lockTimedOut` if the cluster's lock is not granted in time, for example because another machine has it
    @discardableResult
    public func update(
        _ path: ItemPath, underLock lock: String? = nil, timeout: Duration? = Coordinator.lockTimeout,
        _ body: @Sendable ([UInt8]?) async throws -> [UInt8]
    ) async throws -> WriteResult {
        let call = ItemCall.update(path)
        let name = try container.locating { () throws(CoordinationError) in try path.checkedText(for: call.operation) }
        let held = try await ClusterLock.acquire(lock ?? name, in: container, timeout: timeout)
        defer { held.release() }
        let (content, condition) = try await local.run(.read(path), .relaxed, timeout) { try $0.base(of: path) }
        let bytes = try await body(content)
        return try await decide(.write(path, if: condition), timeout, under: held.token) {
            try $0.write(bytes: bytes, to: path, if: condition)
        }.outcome.result
    }

    /// Waits until this machine has everything that the cluster had accepted before this call. A read after that
    /// returns no content that was replaced before this call, with an exception: an item that a process of this machine
    /// has locked, or whose presenters do not answer, may still be the older one.
    ///
    /// The machine's program reads the number of the cluster's last entry by a linearizable read, in which a quorum of
    /// etcd's nodes takes part and which writes nothing, and waits until the machine has that entry (the read index of
    /// Raft: Ongaro, 2014, section 6.4). `timeout` limits the wait. Errors: `unavailable`; `lockTimedOut` if this
    /// machine has not caught up in time; `deadlock` if the calling code holds a lock on an item; `cancelled`
    public func catchUp(timeout: Duration? = Coordinator.lockTimeout) async throws {
        try await ClusterLock.acquire(ClusterLock.newBarrier(), in: container, timeout: timeout).release()
    }

    /// Returns the outcome of a change. `operation` is the `pendingOperation` of an error `unknown` or `cancelled`.
    /// Errors: those of `GroupDefaults`
    public func outcome(of operation: String) throws(CoordinationError) -> ClusterOutcome {
        try ClusterRecords(container).outcome(of: operation)
    }

    // MARK: In two steps

    private func change(
        _ call: ItemCall, _ timeout: Duration?, _ body: @escaping @Sendable (Access) throws -> WriteResult
    ) async throws -> WriteResult {
        try await decide(call, timeout, body).outcome.result
    }

    /// Collects the changes of `body`, and returns when the cluster has accepted them and they are made here.
    private func decide<Answer: Sendable>(
        _ call: ItemCall, _ timeout: Duration?, under token: StrictCall.Token? = nil,
        _ body: @escaping @Sendable (Access) throws -> Answer
    ) async throws -> (answer: Answer, outcome: StrictOutcome) {
        let strict = try await begin(call, timeout, under: token)
        let (answer, proposal) = try await local.propose(call, ClusterRequest.terms, timeout: timeout, body)
        return (answer, try await strict.finish(proposal))
    }

    private func begin(
        _ call: ItemCall, _ timeout: Duration?, under token: StrictCall.Token? = nil
    ) async throws -> StrictCall {
        let coordinator = local
        try container.locating { () throws(CoordinationError) in
            try ClusterPresence.checkHoldsNothing(call.operation, call.label)
        }
        return try await OwnThread.run { try StrictCall(call, by: coordinator, timeout, token) }
    }
}

extension Access {
    /// Returns an item's content with the condition that it has not changed since.
    fileprivate func base(of path: ItemPath) throws(CoordinationError) -> (content: [UInt8]?, WriteCondition) {
        do throws(CoordinationError) {
            let version = try readVersion(path)
            return (version.value, .generation(version.generation))
        } catch {
            if error.code == .notFound { return (nil, .absent) }
            throw error
        }
    }
}

extension Container {
    /// Returns a coordinator whose changes are made on all machines of the container's cluster, or on none. See
    /// `ClusterCoordinator`.
    public func cluster(purpose: String) -> ClusterCoordinator { ClusterCoordinator(self, purpose: purpose) }
}

/// The calls of `ClusterCoordinator` for programs without tasks. Each call blocks its thread; do not use them on the
/// cooperative pool.
public struct BlockingClusterCoordinator: Sendable {
    private let coordinator: ClusterCoordinator
    private var local: BlockingCoordinator { coordinator.local.blocking }

    init(_ coordinator: ClusterCoordinator) { self.coordinator = coordinator }

    // MARK: Requests

    /// Runs `body` with access to all items. See `ClusterCoordinator.coordinate`.
    @discardableResult
    public func coordinate<Answer>(
        _ intents: AccessIntent..., timeout: Duration? = Coordinator.lockTimeout, _ body: (Access) throws -> Answer
    ) throws -> Answer {
        try coordinate(intents, timeout: timeout, body)
    }

    /// Runs `body` with access to an array of items. See `ClusterCoordinator.coordinate`.
    @discardableResult
    public func coordinate<Answer>(
        _ intents: [AccessIntent], timeout: Duration? = Coordinator.lockTimeout, _ body: (Access) throws -> Answer
    ) throws -> Answer {
        try decide(ItemCall(operation: "coordinate", intents: intents), timeout, body).answer
    }

    /// Runs `body` with access to all items. See `ClusterCoordinator.transaction`.
    @discardableResult
    public func transaction<Answer>(
        _ intents: AccessIntent..., timeout: Duration? = Coordinator.lockTimeout, _ body: (Access) throws -> Answer
    ) throws -> (answer: Answer, generation: Generation?) {
        try transaction(intents, timeout: timeout, body)
    }

    /// Runs `body` with access to an array of items. See `ClusterCoordinator.transaction`.
    @discardableResult
    public func transaction<Answer>(
        _ intents: [AccessIntent], timeout: Duration? = Coordinator.lockTimeout, _ body: (Access) throws -> Answer
    ) throws -> (answer: Answer, generation: Generation?) {
        let (answer, outcome) = try decide(ItemCall(operation: "transaction", intents: intents), timeout, body)
        return (answer, outcome.generation)
    }

    // MARK: Single items

    /// Replaces an item's content. See `ClusterCoordinator.write(bytes:to:)`.
    @discardableResult
    public func write(
        bytes: [UInt8], to path: ItemPath, if condition: WriteCondition = .always, mode: UInt32? = nil,
        timeout: Duration? = Coordinator.lockTimeout
    ) throws -> WriteResult {
        try change(.write(path, if: condition), timeout) {
            try $0.write(bytes: bytes, to: path, if: condition, mode: mode)
        }
    }

    /// Replaces an item's content with text, as UTF-8. See `ClusterCoordinator.write(text:to:)`.
    @discardableResult
    public func write(
        text: String, to path: ItemPath, if condition: WriteCondition = .always, mode: UInt32? = nil,
        timeout: Duration? = Coordinator.lockTimeout
    ) throws -> WriteResult {
        try write(bytes: Array(text.utf8), to: path, if: condition, mode: mode, timeout: timeout)
    }

    /// Writes a value as JSON. See `ClusterCoordinator.write(json:to:)`.
    @discardableResult
    public func write(
        json value: some Encodable, to path: ItemPath, if condition: WriteCondition = .always,
        timeout: Duration? = Coordinator.lockTimeout
    ) throws -> WriteResult {
        try write(bytes: ItemCoding.encode(value, for: path), to: path, if: condition, timeout: timeout)
    }

    /// Replaces an item's content with what `body` writes piece by piece. See `ClusterCoordinator.write(to:)`.
    @discardableResult
    public func write(
        to path: ItemPath, if condition: WriteCondition = .always, mode: UInt32? = nil,
        timeout: Duration? = Coordinator.lockTimeout, _ body: (inout ItemWriter) throws -> Void
    ) throws -> WriteResult {
        let strict = try begin(.write(path, if: condition), timeout)
        let proposal = try local.propose(
            writing: path, ClusterRequest.terms, if: condition, mode: mode, timeout: timeout, body)
        return try strict.finishBlocking(proposal).result
    }

    /// Replaces an item's content with what `body` returns for its present content (nil: absent). See
    /// `ClusterCoordinator.updateBytes`.
    @discardableResult
    public func updateBytes(
        _ path: ItemPath, timeout: Duration? = Coordinator.lockTimeout, _ body: ([UInt8]?) throws -> [UInt8]
    ) throws -> WriteResult {
        try change(.update(path), timeout) { try $0.write(bytes: body($0.readBytesIfPresent(path)), to: path) }
    }

    /// Reads, changes and writes a value as JSON. See `ClusterCoordinator.update(_:default:)`.
    @discardableResult
    public func update<Value: Codable>(
        _ path: ItemPath, default missing: Value, timeout: Duration? = Coordinator.lockTimeout,
        _ body: (inout Value) throws -> Void
    ) throws -> Versioned<Value> {
        let (staged, outcome) = try decide(.update(path), timeout) {
            try $0.update(path, default: missing, body)
        }
        return Versioned(value: staged.value, generation: outcome.generation ?? staged.generation)
    }

    /// Removes an item. See `ClusterCoordinator.remove`.
    @discardableResult
    public func remove(
        _ path: ItemPath, recursively: Bool = false, if condition: WriteCondition = .always,
        timeout: Duration? = Coordinator.lockTimeout
    ) throws -> WriteResult {
        try change(.remove(path, if: condition), timeout) {
            try $0.remove(path, recursively: recursively, if: condition)
        }
    }

    /// Moves an item. See `ClusterCoordinator.move`.
    @discardableResult
    public func move(
        _ path: ItemPath, to destination: ItemPath, replacing: Bool = false, if condition: WriteCondition = .always,
        timeout: Duration? = Coordinator.lockTimeout
    ) throws -> WriteResult {
        try change(.move(path, destination), timeout) {
            try $0.move(path, to: destination, replacing: replacing, if: condition)
        }
    }

    /// Copies a file's content and permissions. See `ClusterCoordinator.copy`.
    @discardableResult
    public func copy(
        _ path: ItemPath, to destination: ItemPath, replacing: Bool = false,
        timeout: Duration? = Coordinator.lockTimeout
    ) throws -> WriteResult {
        try change(.copy(path, destination, recursively: false), timeout) {
            try $0.copy(path, to: destination, replacing: replacing)
        }
    }

    /// Makes a directory and its missing parents. See `ClusterCoordinator.createDirectory`.
    @discardableResult
    public func createDirectory(
        _ path: ItemPath, timeout: Duration? = Coordinator.lockTimeout
    ) throws -> WriteResult {
        try change(.createDirectory(path), timeout) { try $0.createDirectory(path) }
    }

    // MARK: The cluster

    /// Replaces an item's content with what `body` returns for its present content (nil: absent), in one process of all
    /// machines at a time. See `ClusterCoordinator.update(_:underLock:)`.
    @discardableResult
    public func update(
        _ path: ItemPath, underLock lock: String? = nil, timeout: Duration? = Coordinator.lockTimeout,
        _ body: ([UInt8]?) throws -> [UInt8]
    ) throws -> WriteResult {
        let call = ItemCall.update(path)
        let container = coordinator.container
        let name = try container.locating { () throws(CoordinationError) in try path.checkedText(for: call.operation) }
        let held = try ClusterLock.acquireBlocking(lock ?? name, in: container, timeout: timeout)
        defer { held.release() }
        let (content, condition) = try local.run(.read(path), .relaxed, timeout) { try $0.base(of: path) }
        let bytes = try body(content)
        return try decide(.write(path, if: condition), timeout, under: held.token) {
            try $0.write(bytes: bytes, to: path, if: condition)
        }.outcome.result
    }

    /// Waits until this machine has everything that the cluster had accepted before this call. See
    /// `ClusterCoordinator.catchUp`.
    public func catchUp(timeout: Duration? = Coordinator.lockTimeout) throws {
        try ClusterLock.acquireBlocking(ClusterLock.newBarrier(), in: coordinator.container, timeout: timeout).release()
    }

    /// Returns the outcome of a change. See `ClusterCoordinator.outcome(of:)`.
    public func outcome(of operation: String) throws(CoordinationError) -> ClusterOutcome {
        try coordinator.outcome(of: operation)
    }

    // MARK: In two steps

    private func change(
        _ call: ItemCall, _ timeout: Duration?, _ body: (Access) throws -> WriteResult
    ) throws -> WriteResult {
        try decide(call, timeout, body).outcome.result
    }

    private func decide<Answer>(
        _ call: ItemCall, _ timeout: Duration?, under token: StrictCall.Token? = nil,
        _ body: (Access) throws -> Answer
    ) throws -> (answer: Answer, outcome: StrictOutcome) {
        let strict = try begin(call, timeout, under: token)
        let (answer, proposal) = try local.propose(call, ClusterRequest.terms, timeout: timeout, body)
        return (answer, try strict.finishBlocking(proposal))
    }

    private func begin(
        _ call: ItemCall, _ timeout: Duration?, under token: StrictCall.Token? = nil
    ) throws(CoordinationError) -> StrictCall {
        try coordinator.container.locating { () throws(CoordinationError) in
            try ClusterPresence.checkHoldsNothing(call.operation, call.label)
            return try StrictCall(call, by: coordinator.local, timeout, token)
        }
    }
}

/// Changes that the cluster has accepted.
extension ClusterCoordinator: ItemCoordinator {}
