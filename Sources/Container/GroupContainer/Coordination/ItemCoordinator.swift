/// The calls by which a program changes items that `Coordinator`, for the processes of one machine, and a coordinator
/// for several machines have in common. Code for this protocol works with either.
///
///     func add(_ todo: Todo, by coordinator: some ItemCoordinator) async throws {
///         try await coordinator.update("todo.json", default: [Todo]()) { $0.append(todo) }
///     }
///
/// A change is on the disk when its call returns, and, where somebody else decides about it, accepted. The
/// coordinators' own calls of the same names have the details, and errors of their own.
public protocol ItemCoordinator: Sendable {
    /// Runs `body` with access to all items; its changes become visible together. Returns its result, and the
    /// generation of the changes; nil where nothing has a new generation.
    func transaction<Answer: Sendable>(
        _ intents: [AccessIntent], timeout: Duration?, _ body: @escaping @Sendable (Access) throws -> Answer
    ) async throws -> (answer: Answer, generation: Generation?)

    /// Replaces an item's content.
    func write(
        bytes: [UInt8], to path: ItemPath, if condition: WriteCondition, mode: UInt32?, timeout: Duration?
    ) async throws -> WriteResult

    /// Replaces an item's content with what `body` returns for its present content (nil: absent).
    func updateBytes(
        _ path: ItemPath, timeout: Duration?, _ body: @escaping @Sendable ([UInt8]?) throws -> [UInt8]
    ) async throws -> WriteResult

    /// Reads, changes and writes a value as JSON. Returns the new value and its generation.
    func update<Value: Codable & Sendable>(
        _ path: ItemPath, default missing: Value, timeout: Duration?,
        _ body: @escaping @Sendable (inout Value) throws -> Void
    ) async throws -> Versioned<Value>

    /// Removes an item; with `recursively`, a directory with everything in it.
    func remove(
        _ path: ItemPath, recursively: Bool, if condition: WriteCondition, timeout: Duration?
    ) async throws -> WriteResult

    /// Moves an item.
    func move(
        _ path: ItemPath, to destination: ItemPath, replacing: Bool, if condition: WriteCondition, timeout: Duration?
    ) async throws -> WriteResult

    /// Copies a file.
    func copy(
        _ path: ItemPath, to destination: ItemPath, replacing: Bool, timeout: Duration?
    ) async throws -> WriteResult

    /// Makes a directory and its missing parents.
    func createDirectory(_ path: ItemPath, timeout: Duration?) async throws -> WriteResult
}

/// The protocol's calls with the usual timeout.
extension ItemCoordinator {
    /// Runs `body` with access to all items. See the form with a timeout.
    @discardableResult
    public func transaction<Answer: Sendable>(
        _ intents: AccessIntent..., body: @escaping @Sendable (Access) throws -> Answer
    ) async throws -> (answer: Answer, generation: Generation?) {
        try await transaction(intents, timeout: Coordinator.lockTimeout, body)
    }

    /// Replaces an item's content. See the form with a timeout.
    @discardableResult
    public func write(
        bytes: [UInt8], to path: ItemPath, if condition: WriteCondition = .always
    ) async throws -> WriteResult {
        try await write(bytes: bytes, to: path, if: condition, mode: nil, timeout: Coordinator.lockTimeout)
    }

    /// Replaces an item's content with text, as UTF-8. See the form with a timeout.
    @discardableResult
    public func write(
        text: String, to path: ItemPath, if condition: WriteCondition = .always
    ) async throws -> WriteResult {
        try await write(bytes: Array(text.utf8), to: path, if: condition)
    }

    /// Writes a value as JSON. See the form with a timeout.
    @discardableResult
    public func write(
        json value: some Encodable, to path: ItemPath, if condition: WriteCondition = .always
    ) async throws -> WriteResult {
        try await write(bytes: ItemCoding.encode(value, for: path), to: path, if: condition)
    }

    /// Replaces an item's content with what `body` returns for it. See the form with a timeout.
    @discardableResult
    public func updateBytes(
        _ path: ItemPath, body: @escaping @Sendable ([UInt8]?) throws -> [UInt8]
    ) async throws -> WriteResult {
        try await updateBytes(path, timeout: Coordinator.lockTimeout, body)
    }

    /// Reads, changes and writes a value as JSON. See the form with a timeout.
    @discardableResult
    public func update<Value: Codable & Sendable>(
        _ path: ItemPath, default missing: Value, body: @escaping @Sendable (inout Value) throws -> Void
    ) async throws -> Versioned<Value> {
        try await update(path, default: missing, timeout: Coordinator.lockTimeout, body)
    }

    /// Removes an item. See the form with a timeout.
    @discardableResult
    public func remove(
        _ path: ItemPath, recursively: Bool = false, if condition: WriteCondition = .always
    ) async throws -> WriteResult {
        try await remove(path, recursively: recursively, if: condition, timeout: Coordinator.lockTimeout)
    }

    /// Moves an item. See the form with a timeout.
    @discardableResult
    public func move(
        _ path: ItemPath, to destination: ItemPath, replacing: Bool = false, if condition: WriteCondition = .always
    ) async throws -> WriteResult {
        try await move(
            path, to: destination, replacing: replacing, if: condition, timeout: Coordinator.lockTimeout)
    }

    /// Copies a file. See the form with a timeout.
    @discardableResult
    public func copy(
        _ path: ItemPath, to destination: ItemPath, replacing: Bool = false
    ) async throws -> WriteResult {
        try await copy(path, to: destination, replacing: replacing, timeout: Coordinator.lockTimeout)
    }

    /// Makes a directory and its missing parents. See the form with a timeout.
    @discardableResult
    public func createDirectory(_ path: ItemPath) async throws -> WriteResult {
        try await createDirectory(path, timeout: Coordinator.lockTimeout)
    }
}

/// Durable changes.
extension Coordinator: ItemCoordinator {
    /// The durable form of this call: see `ItemCoordinator.transaction`.
    @discardableResult
    public func transaction<Answer: Sendable>(
        _ intents: [AccessIntent], timeout: Duration?, _ body: @escaping @Sendable (Access) throws -> Answer
    ) async throws -> (answer: Answer, generation: Generation?) {
        try await transaction(intents, durability: .durable, timeout: timeout, body)
    }

    /// The durable form of this call: see `ItemCoordinator.write`.
    @discardableResult
    public func write(
        bytes: [UInt8], to path: ItemPath, if condition: WriteCondition, mode: UInt32?, timeout: Duration?
    ) async throws -> WriteResult {
        try await write(bytes: bytes, to: path, durability: .durable, if: condition, mode: mode, timeout: timeout)
    }

    /// The durable form of this call: see `ItemCoordinator.updateBytes`.
    @discardableResult
    public func updateBytes(
        _ path: ItemPath, timeout: Duration?, _ body: @escaping @Sendable ([UInt8]?) throws -> [UInt8]
    ) async throws -> WriteResult {
        try await updateBytes(path, durability: .durable, timeout: timeout, body)
    }

    /// The durable form of this call: see `ItemCoordinator.update`.
    @discardableResult
    public func update<Value: Codable & Sendable>(
        _ path: ItemPath, default missing: Value, timeout: Duration?,
        _ body: @escaping @Sendable (inout Value) throws -> Void
    ) async throws -> Versioned<Value> {
        try await update(path, default: missing, durability: .durable, timeout: timeout, body)
    }

    /// The durable form of this call: see `ItemCoordinator.remove`.
    @discardableResult
    public func remove(
        _ path: ItemPath, recursively: Bool, if condition: WriteCondition, timeout: Duration?
    ) async throws -> WriteResult {
        try await remove(path, recursively: recursively, durability: .durable, if: condition, timeout: timeout)
    }

    /// The durable form of this call: see `ItemCoordinator.move`.
    @discardableResult
    public func move(
        _ path: ItemPath, to destination: ItemPath, replacing: Bool, if condition: WriteCondition, timeout: Duration?
    ) async throws -> WriteResult {
        try await move(
            path, to: destination, replacing: replacing, durability: .durable, if: condition, timeout: timeout)
    }

    /// The durable form of this call: see `ItemCoordinator.copy`.
    @discardableResult
    public func copy(
        _ path: ItemPath, to destination: ItemPath, replacing: Bool, timeout: Duration?
    ) async throws -> WriteResult {
        try await copy(
            path, to: destination, recursively: false, replacing: replacing, durability: .durable, timeout: timeout)
    }

    /// The durable form of this call: see `ItemCoordinator.createDirectory`.
    @discardableResult
    public func createDirectory(_ path: ItemPath, timeout: Duration?) async throws -> WriteResult {
        try await createDirectory(path, durability: .durable, timeout: timeout)
    }
}
