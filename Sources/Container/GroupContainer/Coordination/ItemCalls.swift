package import GroupBytes

/// The calls of both coordinators. Each call is made of one `ItemCall` and one method of `Access`, in the suspending
/// form of `Coordinator` and the blocking one of `BlockingCoordinator`, side by side; `tools/check` compares the
/// signatures of the two forms.
///
/// In all calls, `timeout` limits the wait for the lock. Errors: those of `Coordinator.coordinate` and of the method of
/// `Access` that a call names.

/// What a call on items needs: its name for errors, and its intents.
package struct ItemCall: Sendable {
    package let operation: String
    package let intents: Few<AccessIntent>
    /// Whether a proposal of the call fits only the items as they are now: the caller has looked at them under the
    /// lock.
    var isConditional = true

    package init(operation: String, intents: [AccessIntent]) {
        self.operation = operation
        self.intents = Few(intents)
    }

    private init(operation: String, intent: AccessIntent, isConditional: Bool = true) {
        self.operation = operation
        self.intents = Few(intent)
        self.isConditional = isConditional
    }

    package static func read(_ path: ItemPath) -> ItemCall { ItemCall(operation: "read", intent: .reading(path)) }
    package static func look(at path: ItemPath) -> ItemCall {
        ItemCall(operation: "look at", intent: .reading(path))
    }
    package static func write(_ path: ItemPath, if condition: WriteCondition = .always) -> ItemCall {
        ItemCall(operation: "write", intent: .writing(path), isConditional: condition != .always)
    }
    package static func update(_ path: ItemPath) -> ItemCall {
        ItemCall(operation: "update", intent: .writing(path, .forMerging))
    }
    package static func remove(_ path: ItemPath, if condition: WriteCondition) -> ItemCall {
        ItemCall(
            operation: "remove", intent: .writing(path, .forDeleting), isConditional: condition != .always)
    }
    package static func move(_ path: ItemPath, _ destination: ItemPath) -> ItemCall {
        ItemCall(operation: "move", intents: [.writing(path, .forMoving), .writing(destination, .forReplacing)])
    }
    package static func copy(_ path: ItemPath, _ destination: ItemPath, recursively: Bool) -> ItemCall {
        ItemCall(
            operation: "copy",
            intents: [.reading(path, recursively ? .recursively : []), .writing(destination, .forReplacing)])
    }
    package static func createDirectory(_ path: ItemPath) -> ItemCall {
        ItemCall(operation: "create directory", intent: .writing(path), isConditional: false)
    }
    package static func setMode(_ path: ItemPath) -> ItemCall {
        ItemCall(operation: "set the mode of", intent: .writing(path, .contentIndependentMetadataOnly))
    }
}

extension Coordinator {
    /// Returns an item's content, read under a shared lock.
    public func readBytes(
        _ path: ItemPath, timeout: Duration? = Coordinator.lockTimeout
    ) async throws -> [UInt8] {
        try await run(.read(path), .relaxed, timeout) {
            try $0.readBytes(path)
        }
    }

    /// Calls `body` to read an item's content piece by piece, under a shared lock. See `Access.read(_:_:)`.
    public func read<Answer: Sendable>(
        _ path: ItemPath, timeout: Duration? = Coordinator.lockTimeout,
        _ body: @escaping @Sendable (inout ItemReader) throws -> Answer
    ) async throws -> Answer {
        try await run(.read(path), .relaxed, timeout) {
            try $0.read(path, body)
        }
    }

    /// Decodes an item's JSON, under a shared lock. See `Access.read(_:as:)`.
    public func read<Value: Decodable>(
        _ path: ItemPath, as type: Value.Type, timeout: Duration? = Coordinator.lockTimeout
    ) async throws -> Value {
        let content = try await run(.read(path), .relaxed, timeout) { try $0.encodedValue(path) }
        return try ItemCoding.decode(type, content, from: path)
    }

    /// Decodes an item's JSON, or returns `default` where there is no item, under a shared lock. See
    /// `Access.read(_:as:default:)`.
    public func read<Value: Decodable & Sendable>(
        _ path: ItemPath, as type: Value.Type, default missing: Value,
        timeout: Duration? = Coordinator.lockTimeout
    ) async throws -> Value {
        try await run(.read(path), .relaxed, timeout) {
            try $0.read(path, as: type, default: missing)
        }
    }

    /// Returns an item's content as text, read under a shared lock. See `Access.readText(_:)`.
    public func readText(
        _ path: ItemPath, timeout: Duration? = Coordinator.lockTimeout
    ) async throws -> String {
        try await run(.read(path), .relaxed, timeout) {
            try $0.readText(path)
        }
    }

    /// Returns an item's generation, or nil where there is no item, under a shared lock. See `Access.generation(of:)`.
    public func generation(
        of path: ItemPath, timeout: Duration? = Coordinator.lockTimeout
    ) async throws -> Generation? {
        try await run(.look(at: path), .relaxed, timeout) {
            try $0.generation(of: path)
        }
    }

    /// Returns an item's content and its generation, read under one shared lock. See `Access.readVersion(_:)`.
    public func readVersion(
        _ path: ItemPath, timeout: Duration? = Coordinator.lockTimeout
    ) async throws -> Versioned<[UInt8]> {
        try await run(.read(path), .relaxed, timeout) {
            try $0.readVersion(path)
        }
    }

    /// Calls `body` to read an item's content piece by piece, and returns its generation for a later compare-and-set.
    /// See `Access.readVersion(_:_:)`.
    public func readVersion<Answer: Sendable>(
        _ path: ItemPath, timeout: Duration? = Coordinator.lockTimeout,
        _ body: @escaping @Sendable (inout ItemReader) throws -> Answer
    ) async throws -> Versioned<Answer> {
        try await run(.read(path), .relaxed, timeout) {
            try $0.readVersion(path, body)
        }
    }

    /// Returns an item's decoded JSON and its generation, read under one shared lock. See `Access.readVersion(_:as:)`.
    public func readVersion<Value: Decodable>(
        _ path: ItemPath, as type: Value.Type, timeout: Duration? = Coordinator.lockTimeout
    ) async throws -> Versioned<Value> {
        let version = try await readVersion(path, timeout: timeout)
        return try container.locating { () throws(CoordinationError) in
            try ItemCoding.decode(type, version, from: path)
        }
    }

    /// Replaces an item's content, under an exclusive lock. See `Access.write(bytes:to:if:mode:)`.
    @discardableResult
    public func write(
        bytes: [UInt8], to path: ItemPath, durability: Durability = .durable, if condition: WriteCondition = .always,
        mode: UInt32? = nil, timeout: Duration? = Coordinator.lockTimeout
    ) async throws -> WriteResult {
        try await run(.write(path, if: condition), durability, timeout) {
            try $0.write(bytes: bytes, to: path, if: condition, mode: mode)
        }
    }

    /// Replaces an item's content with text, as UTF-8, under an exclusive lock. See `Access.write(text:to:if:mode:)`.
    @discardableResult
    public func write(
        text: String, to path: ItemPath, durability: Durability = .durable, if condition: WriteCondition = .always,
        mode: UInt32? = nil, timeout: Duration? = Coordinator.lockTimeout
    ) async throws -> WriteResult {
        try await write(
            bytes: Array(text.utf8), to: path, durability: durability, if: condition, mode: mode, timeout: timeout)
    }

    /// Writes a value as JSON, under an exclusive lock. See `Access.write(json:to:if:)`.
    @discardableResult
    public func write(
        json value: some Encodable, to path: ItemPath, durability: Durability = .durable,
        if condition: WriteCondition = .always, timeout: Duration? = Coordinator.lockTimeout
    ) async throws -> WriteResult {
        let bytes = try ItemCoding.encode(value, for: path)
        return try await write(bytes: bytes, to: path, durability: durability, if: condition, timeout: timeout)
    }

    /// Replaces an item's content with what `body` writes piece by piece. The exclusive lock is requested when the
    /// content is complete, so that no process waits for `body`. If `body` throws, nothing is changed. See
    /// `Access.write(to:if:mode:_:)`.
    @discardableResult
    public func write(
        to path: ItemPath, durability: Durability = .durable, if condition: WriteCondition = .always,
        mode: UInt32? = nil, timeout: Duration? = Coordinator.lockTimeout,
        _ body: @escaping @Sendable (inout ItemWriter) throws -> Void
    ) async throws -> WriteResult {
        let container = container
        let content = try await OwnThread.run { try ItemWriter.content(for: path, by: container, body) }
        return try await run(.write(path, if: condition), durability, timeout) {
            try $0.write(content, to: path, if: condition, mode: mode)
        }
    }

    /// Replaces an item's content with what `body` returns for its present content (nil: absent), under one exclusive
    /// lock. If `body` throws, nothing is written.
    @discardableResult
    public func updateBytes(
        _ path: ItemPath, durability: Durability = .durable, timeout: Duration? = Coordinator.lockTimeout,
        _ body: @escaping @Sendable ([UInt8]?) throws -> [UInt8]
    ) async throws -> WriteResult {
        try await run(.update(path), durability, timeout) {
            try $0.write(bytes: body($0.readBytesIfPresent(path)), to: path)
        }
    }

    /// Reads, changes and writes a value as JSON under one exclusive lock, so that no change of another process is
    /// lost. `default` is the value of an absent item. Returns the new value and its generation; where the value is the
    /// same, nothing is written, and the generation is the present one (complexity: see `Access.generation(of:)`).
    /// Error: `invalidContent` for an item that does not decode, which is left unchanged.
    @discardableResult
    public func update<Value: Codable & Sendable>(
        _ path: ItemPath, default missing: Value, durability: Durability = .durable,
        timeout: Duration? = Coordinator.lockTimeout,
        _ body: @escaping @Sendable (inout Value) throws -> Void
    ) async throws -> Versioned<Value> {
        try await run(.update(path), durability, timeout) {
            try $0.update(path, default: missing, body)
        }
    }

    /// Removes an item, under an exclusive lock on it and everything in it. See `Access.remove(_:recursively:if:)`.
    @discardableResult
    public func remove(
        _ path: ItemPath, recursively: Bool = false, durability: Durability = .durable,
        if condition: WriteCondition = .always, timeout: Duration? = Coordinator.lockTimeout
    ) async throws -> WriteResult {
        try await run(.remove(path, if: condition), durability, timeout) {
            try $0.remove(path, recursively: recursively, if: condition)
        }
    }

    /// Moves an item, under exclusive locks on both ends. See `Access.move(_:to:replacing:if:)`.
    @discardableResult
    public func move(
        _ path: ItemPath, to destination: ItemPath, replacing: Bool = false, durability: Durability = .durable,
        if condition: WriteCondition = .always, timeout: Duration? = Coordinator.lockTimeout
    ) async throws -> WriteResult {
        try await run(.move(path, destination), durability, timeout) {
            try $0.move(path, to: destination, replacing: replacing, if: condition)
        }
    }

    /// Copies a file, under a shared lock on it and an exclusive lock on the destination; with `recursively` also a
    /// directory, under exclusive locks on both and everything in them. See `Access.copy(_:to:recursively:replacing:)`.
    @discardableResult
    public func copy(
        _ path: ItemPath, to destination: ItemPath, recursively: Bool = false, replacing: Bool = false,
        durability: Durability = .durable, timeout: Duration? = Coordinator.lockTimeout
    ) async throws -> WriteResult {
        try await run(.copy(path, destination, recursively: recursively), durability, timeout) {
            try $0.copy(path, to: destination, recursively: recursively, replacing: replacing)
        }
    }

    /// Makes a directory and its missing parents. See `Access.createDirectory(_:)`.
    @discardableResult
    public func createDirectory(
        _ path: ItemPath, durability: Durability = .durable, timeout: Duration? = Coordinator.lockTimeout
    ) async throws -> WriteResult {
        try await run(.createDirectory(path), durability, timeout) {
            try $0.createDirectory(path)
        }
    }

    /// Sets an item's permissions. See `Access.setMode(_:of:)`.
    @discardableResult
    public func setMode(
        _ mode: UInt32, of path: ItemPath, durability: Durability = .durable,
        timeout: Duration? = Coordinator.lockTimeout
    ) async throws -> WriteResult {
        try await run(.setMode(path), durability, timeout) {
            try $0.setMode(mode, of: path)
        }
    }
}

extension BlockingCoordinator {
    /// Returns an item's content, read under a shared lock.
    public func readBytes(
        _ path: ItemPath, timeout: Duration? = Coordinator.lockTimeout
    ) throws -> [UInt8] {
        try run(.read(path), .relaxed, timeout) {
            try $0.readBytes(path)
        }
    }

    /// Calls `body` to read an item's content piece by piece, under a shared lock. See `Access.read(_:_:)`.
    public func read<Answer>(
        _ path: ItemPath, timeout: Duration? = Coordinator.lockTimeout, _ body: (inout ItemReader) throws -> Answer
    ) throws -> Answer {
        try run(.read(path), .relaxed, timeout) {
            try $0.read(path, body)
        }
    }

    /// Decodes an item's JSON, under a shared lock. See `Access.read(_:as:)`.
    public func read<Value: Decodable>(
        _ path: ItemPath, as type: Value.Type, timeout: Duration? = Coordinator.lockTimeout
    ) throws -> Value {
        let content = try run(.read(path), .relaxed, timeout) { try $0.encodedValue(path) }
        return try ItemCoding.decode(type, content, from: path)
    }

    /// Decodes an item's JSON, or returns `default` where there is no item, under a shared lock. See
    /// `Access.read(_:as:default:)`.
    public func read<Value: Decodable>(
        _ path: ItemPath, as type: Value.Type, default missing: Value,
        timeout: Duration? = Coordinator.lockTimeout
    ) throws -> Value {
        try run(.read(path), .relaxed, timeout) {
            try $0.read(path, as: type, default: missing)
        }
    }

    /// Returns an item's content as text, read under a shared lock. See `Access.readText(_:)`.
    public func readText(
        _ path: ItemPath, timeout: Duration? = Coordinator.lockTimeout
    ) throws -> String {
        try run(.read(path), .relaxed, timeout) {
            try $0.readText(path)
        }
    }

    /// Returns an item's generation, or nil where there is no item, under a shared lock. See `Access.generation(of:)`.
    public func generation(
        of path: ItemPath, timeout: Duration? = Coordinator.lockTimeout
    ) throws -> Generation? {
        try run(.look(at: path), .relaxed, timeout) {
            try $0.generation(of: path)
        }
    }

    /// Returns an item's content and its generation, read under one shared lock. See `Access.readVersion(_:)`.
    public func readVersion(
        _ path: ItemPath, timeout: Duration? = Coordinator.lockTimeout
    ) throws -> Versioned<[UInt8]> {
        try run(.read(path), .relaxed, timeout) {
            try $0.readVersion(path)
        }
    }

    /// Calls `body` to read an item's content piece by piece, and returns its generation for a later compare-and-set.
    /// See `Access.readVersion(_:_:)`.
    public func readVersion<Answer>(
        _ path: ItemPath, timeout: Duration? = Coordinator.lockTimeout, _ body: (inout ItemReader) throws -> Answer
    ) throws -> Versioned<Answer> {
        try run(.read(path), .relaxed, timeout) {
            try $0.readVersion(path, body)
        }
    }

    /// Returns an item's decoded JSON and its generation, read under one shared lock. See `Access.readVersion(_:as:)`.
    public func readVersion<Value: Decodable>(
        _ path: ItemPath, as type: Value.Type, timeout: Duration? = Coordinator.lockTimeout
    ) throws -> Versioned<Value> {
        try ItemCoding.decode(type, readVersion(path, timeout: timeout), from: path)
    }

    /// Replaces an item's content, under an exclusive lock. See `Access.write(bytes:to:if:mode:)`.
    @discardableResult
    public func write(
        bytes: [UInt8], to path: ItemPath, durability: Durability = .durable, if condition: WriteCondition = .always,
        mode: UInt32? = nil, timeout: Duration? = Coordinator.lockTimeout
    ) throws -> WriteResult {
        try run(.write(path, if: condition), durability, timeout) {
            try $0.write(bytes: bytes, to: path, if: condition, mode: mode)
        }
    }

    /// Replaces an item's content with text, as UTF-8, under an exclusive lock. See `Access.write(text:to:if:mode:)`.
    @discardableResult
    public func write(
        text: String, to path: ItemPath, durability: Durability = .durable, if condition: WriteCondition = .always,
        mode: UInt32? = nil, timeout: Duration? = Coordinator.lockTimeout
    ) throws -> WriteResult {
        try write(
            bytes: Array(text.utf8), to: path, durability: durability, if: condition, mode: mode, timeout: timeout)
    }

    /// Writes a value as JSON, under an exclusive lock. See `Access.write(json:to:if:)`.
    @discardableResult
    public func write(
        json value: some Encodable, to path: ItemPath, durability: Durability = .durable,
        if condition: WriteCondition = .always, timeout: Duration? = Coordinator.lockTimeout
    ) throws -> WriteResult {
        let bytes = try ItemCoding.encode(value, for: path)
        return try write(bytes: bytes, to: path, durability: durability, if: condition, timeout: timeout)
    }

    /// Replaces an item's content with what `body` writes piece by piece. The exclusive lock is requested when the
    /// content is complete, so that no process waits for `body`. If `body` throws, nothing is changed. See
    /// `Access.write(to:if:mode:_:)`.
    @discardableResult
    public func write(
        to path: ItemPath, durability: Durability = .durable, if condition: WriteCondition = .always,
        mode: UInt32? = nil, timeout: Duration? = Coordinator.lockTimeout, _ body: (inout ItemWriter) throws -> Void
    ) throws -> WriteResult {
        let content = try ItemWriter.content(for: path, by: coordinator.container, body)
        return try run(.write(path, if: condition), durability, timeout) {
            try $0.write(content, to: path, if: condition, mode: mode)
        }
    }

    /// Replaces an item's content with what `body` returns for its present content (nil: absent), under one exclusive
    /// lock. If `body` throws, nothing is written.
    @discardableResult
    public func updateBytes(
        _ path: ItemPath, durability: Durability = .durable, timeout: Duration? = Coordinator.lockTimeout,
        _ body: ([UInt8]?) throws -> [UInt8]
    ) throws -> WriteResult {
        try run(.update(path), durability, timeout) {
            try $0.write(bytes: body($0.readBytesIfPresent(path)), to: path)
        }
    }

    /// Reads, changes and writes a value as JSON under one exclusive lock, so that no change of another process is
    /// lost. `default` is the value of an absent item. Returns the new value and its generation; where the value is the
    /// same, nothing is written, and the generation is the present one (complexity: see `Access.generation(of:)`).
    /// Error: `invalidContent` for an item that does not decode, which is left unchanged.
    @discardableResult
    public func update<Value: Codable>(
        _ path: ItemPath, default missing: Value, durability: Durability = .durable,
        timeout: Duration? = Coordinator.lockTimeout,
        _ body: (inout Value) throws -> Void
    ) throws -> Versioned<Value> {
        try run(.update(path), durability, timeout) {
            try $0.update(path, default: missing, body)
        }
    }

    /// Removes an item, under an exclusive lock on it and everything in it. See `Access.remove(_:recursively:if:)`.
    @discardableResult
    public func remove(
        _ path: ItemPath, recursively: Bool = false, durability: Durability = .durable,
        if condition: WriteCondition = .always, timeout: Duration? = Coordinator.lockTimeout
    ) throws -> WriteResult {
        try run(.remove(path, if: condition), durability, timeout) {
            try $0.remove(path, recursively: recursively, if: condition)
        }
    }

    /// Moves an item, under exclusive locks on both ends. See `Access.move(_:to:replacing:if:)`.
    @discardableResult
    public func move(
        _ path: ItemPath, to destination: ItemPath, replacing: Bool = false, durability: Durability = .durable,
        if condition: WriteCondition = .always, timeout: Duration? = Coordinator.lockTimeout
    ) throws -> WriteResult {
        try run(.move(path, destination), durability, timeout) {
            try $0.move(path, to: destination, replacing: replacing, if: condition)
        }
    }

    /// Copies a file, under a shared lock on it and an exclusive lock on the destination; with `recursively` also a
    /// directory, under exclusive locks on both and everything in them. See `Access.copy(_:to:recursively:replacing:)`.
    @discardableResult
    public func copy(
        _ path: ItemPath, to destination: ItemPath, recursively: Bool = false, replacing: Bool = false,
        durability: Durability = .durable, timeout: Duration? = Coordinator.lockTimeout
    ) throws -> WriteResult {
        try run(.copy(path, destination, recursively: recursively), durability, timeout) {
            try $0.copy(path, to: destination, recursively: recursively, replacing: replacing)
        }
    }

    /// Makes a directory and its missing parents. See `Access.createDirectory(_:)`.
    @discardableResult
    public func createDirectory(
        _ path: ItemPath, durability: Durability = .durable, timeout: Duration? = Coordinator.lockTimeout
    ) throws -> WriteResult {
        try run(.createDirectory(path), durability, timeout) {
            try $0.createDirectory(path)
        }
    }

    /// Sets an item's permissions. See `Access.setMode(_:of:)`.
    @discardableResult
    public func setMode(
        _ mode: UInt32, of path: ItemPath, durability: Durability = .durable,
        timeout: Duration? = Coordinator.lockTimeout
    ) throws -> WriteResult {
        try run(.setMode(path), durability, timeout) {
            try $0.setMode(mode, of: path)
        }
    }
}
