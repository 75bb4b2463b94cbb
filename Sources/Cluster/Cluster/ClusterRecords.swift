import FoundationEssentials
package import GroupContainer
package import GroupSystemCalls

/// The records that the processes of a container and its program `group-cluster` exchange: a suite with a key for each
/// request, each requested lock and each post, and for a person's decision and the status. The suite is the queue of
/// the requests, and its changes wake the program and the waiting callers.
package struct ClusterRecords: Sendable {
    private let suite: GroupDefaults
    private let container: Container

    package init(_ container: Container) throws(CoordinationError) {
        suite = try GroupDefaults(container, suite: Self.suite)
        self.container = container
    }

    package static let suite = "group-container.cluster"
    static let statusKey = "status"
    private static let requests = "request."
    private static let locks = "lock."
    private static let states = "state."
    private static let decision = "decision"

    /// The record that a key of the suite has. The value is the name of the request, of the lock's request or of the
    /// post.
    package enum Key {
        case request(String)
        case lock(String)
        case post(String)
        case state(String)
        case decision

        package init?(_ key: String) {
            func name(after prefix: String) -> String { String(key.dropFirst(prefix.count)) }
            if key.hasPrefix(requests) {
                self = .request(name(after: requests))
            } else if key.hasPrefix(locks) {
                self = .lock(name(after: locks))
            } else if key.hasPrefix(RelayedPost.prefix) {
                self = .post(name(after: RelayedPost.prefix))
            } else if key.hasPrefix(states) {
                self = .state(name(after: states))
            } else if key == ClusterRecords.decision {
                self = .decision
            } else {
                return nil
            }
        }
    }

    /// The keys that are set.
    package var keys: [String] { Array(suite.dictionaryRepresentation().keys) }

    /// The directory below `.group` with the contents of requests.
    package static func contents(of container: Container) -> PrivateDirectory {
        PrivateDirectory(contentsDirectory, in: container)
    }

    static let contentsDirectory = "cluster-requests"

    /// The name under which the caller of a lock is present.
    package static func presence(_ identifier: String) -> String { "cluster-lock/\(identifier)" }

    /// The name under which the caller of a request is present, from before its first file is staged until its wait has
    /// ended.
    package static func caller(of operation: String) -> String { "cluster-request/\(operation)" }

    /// Returns a name for an operation or a request: 32 hexadecimal digits.
    package static func newName() -> String { Proposal.newName() }

    // MARK: Status

    package var status: ClusterStatus? { decode(suite.value(forKey: Self.statusKey)) }

    /// Records the status, and the service record for members and the doctor. With nil, removes both.
    package func set(_ status: ClusterStatus?) throws(CoordinationError) {
        try ServiceRecord.set(status?.serviceRecord, of: SoleProcess.Work.cluster.name, in: container)
        guard let status else { return try suite.removeValue(forKey: Self.statusKey) }
        try suite.set(encode(status), forKey: Self.statusKey)
    }

    // MARK: Requests

    package func requests() -> [ClusterRequest] {
        all(Self.requests).sorted { ($0.queuedAt, $0.operation) < ($1.queuedAt, $1.operation) }
    }

    package func request(_ operation: String) -> ClusterRequest? {
        decode(suite.value(forKey: Self.requests + operation))
    }

    package func add(_ request: ClusterRequest) throws(CoordinationError) {
        try suite.set(encode(request), forKey: Self.requests + request.operation, durability: .durable)
    }

    @discardableResult
    package func update(_ operation: String, _ body: (inout ClusterRequest) -> Bool) throws(CoordinationError) -> Bool {
        try update(key: Self.requests + operation, durability: .durable, body)
    }

    /// Records that a waiting request is about to be sent. Nothing of the request may be sent before. Returns false if
    /// the request is not waiting, is given up, or has no record; then it must not be sent. A caller relies on that
    /// when it finds its given-up request still waiting.
    package func beginSending(_ operation: String) throws(CoordinationError) -> Bool {
        try update(operation) { request in
            if request.state != .waiting || request.isGivenUp { return false }
            request.state = .sent
            return true
        }
    }

    /// Records that the caller no longer waits.
    package func giveUp(_ operation: String) throws(CoordinationError) {
        try update(operation) { request in
            if request.state.isOver || request.isGivenUp { return false }
            request.isGivenUp = true
            return true
        }
    }

    /// Ends a request that is still waiting as `unavailable`, so that it is not sent. Returns false if it is not
    /// waiting.
    package func takeBack(_ operation: String, _ reason: String) throws(CoordinationError) -> Bool {
        try update(operation) { request in
            if request.state != .waiting { return false }
            (request.state, request.isGivenUp, request.reason) = (.unavailable, true, reason)
            return true
        }
    }

    package func remove(request operation: String) throws(CoordinationError) {
        try suite.removeValue(forKey: Self.requests + operation)
    }

    /// Returns what became of a request.
    package func outcome(of operation: String) -> ClusterOutcome {
        guard let request = request(operation) else { return .forgotten }
        return switch request.state {
        case .waiting, .sent: .pending
        case .accepted: .accepted
        case .conflict: .conflict
        case .unavailable: .unavailable
        case .failed: .failed
        }
    }

    // MARK: Locks

    package func locks() -> [ClusterLockRequest] { all(Self.locks).sorted { $0.identifier < $1.identifier } }

    package func lock(_ identifier: String) -> ClusterLockRequest? {
        decode(suite.value(forKey: Self.locks + identifier))
    }

    package func add(_ lock: ClusterLockRequest) throws(CoordinationError) {
        try suite.set(encode(lock), forKey: Self.locks + lock.identifier)
    }

    @discardableResult
    package func update(lock identifier: String, _ body: (inout ClusterLockRequest) -> Bool) throws(CoordinationError)
        -> Bool
    {
        try update(key: Self.locks + identifier, durability: .relaxed, body)
    }

    package func remove(lock identifier: String) throws(CoordinationError) {
        try suite.removeValue(forKey: Self.locks + identifier)
    }

    // MARK: The state of the cluster

    package func stateRequest(_ name: String) -> ClusterStateRequest? {
        decode(suite.value(forKey: Self.states + name))
    }

    package func add(_ request: ClusterStateRequest) throws(CoordinationError) {
        try suite.set(encode(request), forKey: Self.states + request.name)
    }

    /// Records the answer to a request: the index of the state that is in the file, or why there is none.
    package func answer(state name: String, _ index: UInt64?, failure: String?) throws(CoordinationError) {
        try update(key: Self.states + name, durability: .relaxed) { (request: inout ClusterStateRequest) in
            (request.index, request.failure) = (index, failure)
            return true
        }
    }

    package func remove(stateRequest name: String) throws(CoordinationError) {
        try suite.removeValue(forKey: Self.states + name)
    }

    /// Requests the state of the cluster, and blocks the thread until the running program has written it. The state has
    /// at least what was committed before the call. Errors: `unavailable` if etcd was not reached, or the program has not
    /// answered in time; those of reading the file
    package func clusterState(until limit: Deadline) throws(CoordinationError) -> [UInt8] {
        let request = ClusterStateRequest(name: Self.newName())
        let presence = try Presence(Self.caller(of: request.name), in: container)
        defer {
            try? remove(stateRequest: request.name)
            withExtendedLifetime(presence) {}
        }
        var wait = RecordWait(try suite.follow(of: [Self.states + request.name], since: .now), until: limit)
        try add(request)
        while true {
            try wait.pass()
            let answer = stateRequest(request.name)
            if answer?.index != nil {
                let name = Array(request.name.utf8)
                let directory = try Self.contents(of: container).open()
                do throws(Errno) {
                    defer { try? directory.unlink(name) }
                    return try FileDescriptor.open(name, in: directory, .readingItself).readAll()
                } catch {
                    throw CoordinationError(error, operation: "read the state of the cluster", item: nil)
                }
            }
            if wait.isOver || answer?.failure != nil {
                throw CoordinationError(
                    .unavailable, operation: "read the state of the cluster", containerPath: "\(container.path)",
                    reason: answer?.failure ?? whyNoAnswerHasCome,
                    remedy: .init(.tryAgain, "see what 'group-cluster status' says, and try again"))
            }
            try wait.block()
        }
    }

    /// Why the program has not answered a request that needs etcd.
    private var whyNoAnswerHasCome: String {
        guard let status else { return "the cluster's program has not answered in time" }
        let etcd = "etcd (\(status.endpoints.joined(separator: ", ")))"
        if status.isConnected {
            return "the cluster's program has not answered in time, or \(etcd) has not answered it"
        }
        return "the cluster's program has no connection to \(etcd)\(status.failure.map { ": \($0)" } ?? "")"
    }

    // MARK: What a person decides

    /// Records a person's decision for the running program, and blocks the thread until the program has answered.
    /// Errors: `conflict` if the situation has changed meanwhile, or another person has decided; `unavailable` if no
    /// answer comes in time
    package func decide(_ kind: ClusterDecision.Kind, removals: Int, timeout: Duration) throws(CoordinationError) {
        let decision = ClusterDecision(name: Self.newName(), kind: kind, removals: removals)
        var wait = RecordWait(try suite.follow(of: [Self.decision], since: .now), until: Deadline(after: timeout))
        try suite.set(encode(decision), forKey: Self.decision)
        while true {
            try wait.pass()
            let present = self.decision
            let answer = present?.name == decision.name ? present?.answer : "another person has decided meanwhile"
            if present?.name == decision.name && answer != nil { try suite.removeValue(forKey: Self.decision) }
            if answer == ClusterDecision.done { return }
            if let answer {
                throw CoordinationError(
                    .conflict, operation: "accept", containerPath: "\(container.path)", reason: answer,
                    remedy: .init(.readAgain, "nothing was changed; look at the status, and decide again"))
            }
            if !wait.isOver {
                try wait.block()
            } else if try suite.compareAndSet(
                forKey: Self.decision, from: encode(decision), to: nil, durability: .durable)
            {
                throw CoordinationError(
                    .unavailable, operation: "accept", containerPath: "\(container.path)",
                    reason: "the cluster's program has not taken the decision in time",
                    remedy: .init(.tryAgain, "see whether it runs (group-cluster status), and try again"))
            }
            // Otherwise the program has answered at this moment, and the answer is looked at.
        }
    }

    package var decision: ClusterDecision? { decode(suite.value(forKey: Self.decision)) }

    /// Records the answer to a decision: `ClusterDecision.done`, or the reason why nothing was done. Records nothing if
    /// the decision has an answer, or if another one has taken its place.
    package func answer(_ text: String, to name: String) throws(CoordinationError) {
        try update(key: Self.decision, durability: .durable) { (decision: inout ClusterDecision) in
            if decision.name != name || decision.answer != nil { return false }
            decision.answer = text
            return true
        }
    }

    // MARK: Posts

    /// Returns the posts in the order of their times.
    package func posts() -> [RelayedPost] {
        let posts: [RelayedPost] = all(RelayedPost.prefix)
        return posts.sorted { ($0.time, $0.identifier) < ($1.time, $1.identifier) }
    }

    package func post(_ identifier: String) -> RelayedPost? {
        decode(suite.value(forKey: RelayedPost.prefix + identifier))
    }

    package func remove(post identifier: String) throws(CoordinationError) {
        try suite.removeValue(forKey: RelayedPost.prefix + identifier)
    }

    /// Writes everything that was recorded so far to the disk. Errors: `notDurable`
    package func synchronize() throws(CoordinationError) { try suite.synchronizeAll() }

    // MARK: All

    package func changes(since origin: ChangeOrigin) throws(CoordinationError) -> Follower<DefaultsChange> {
        try suite.follow(since: origin)
    }

    /// Returns a follower of the record of one request.
    func changes(ofRequest operation: String) throws(CoordinationError) -> Follower<DefaultsChange> {
        try suite.follow(of: [Self.requests + operation], since: .now)
    }

    func changes(ofLock identifier: String) throws(CoordinationError) -> Follower<DefaultsChange> {
        try suite.follow(of: [Self.locks + identifier], since: .now)
    }

    private func all<Record: Decodable>(_ prefix: String) -> [Record] {
        suite.dictionaryRepresentation().compactMap { key, value in key.hasPrefix(prefix) ? decode(value) : nil }
    }

    /// Changes a record by compare-and-set, which may run `body` several times. `body` returns whether the record is to
    /// be changed, and this returns the same; false if there is no record.
    @discardableResult
    private func update<Record: Codable>(
        key: String, durability: Durability, _ body: (inout Record) -> Bool
    ) throws(CoordinationError) -> Bool {
        while true {
            let old = try suite.readVersion(forKey: key)
            guard var record: Record = decode(old.value), body(&record) else { return false }
            if try suite.compareAndSet(forKey: key, from: old.value, to: encode(record), durability: durability) {
                return true
            }
        }
    }

    private func decode<Record: Decodable>(_ value: DefaultsValue?) -> Record? {
        guard case .json(let bytes)? = value else { return nil }
        return try? JSONDecoder().decode(Record.self, from: Data(bytes))
    }

    private func encode(_ record: some Encodable) throws(CoordinationError) -> DefaultsValue {
        do {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
            return .json(Array(try encoder.encode(record)))
        } catch {
            throw CoordinationError(.invalidContent, operation: "record", reason: "\(error)", cause: error)
        }
    }
}
