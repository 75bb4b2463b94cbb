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
