/// Reading for a later compare and set.
extension BlockingCoordinator {
    /// The generation that an item is at, or nil where nothing stands, under a shared lock. See `Access.generation`.
    public func generation(of path: ItemPath, timeout: Duration? = .seconds(30)) throws -> UInt64? {
        try coordinate([.reading(path)], operation: "look at", .relaxed, timeout) { try $0.generation(of: path) }
    }

    /// An item's content and its generation, under one shared lock. See `Access.readVersion`.
    public func readVersion(_ path: ItemPath, timeout: Duration? = .seconds(30)) throws -> Versioned<[UInt8]> {
        try coordinate([.reading(path)], operation: "read", .relaxed, timeout) { try $0.readVersion(path) }
    }

    /// An item's JSON, decoded, and its generation, under one shared lock. See `Access.readVersion`.
    public func readVersion<Value: Decodable>(
        _ path: ItemPath, as type: Value.Type, timeout: Duration? = .seconds(30)
    ) throws -> Versioned<Value> {
        try ItemCoding.decode(type, readVersion(path, timeout: timeout), from: path)
    }
}

extension Coordinator {
    /// The generation that an item is at, or nil where nothing stands, under a shared lock. See `Access.generation`.
    public func generation(of path: ItemPath, timeout: Duration? = .seconds(30)) async throws -> UInt64? {
        try await coordinate([.reading(path)], operation: "look at", .relaxed, timeout) { try $0.generation(of: path) }
    }

    /// An item's content and its generation, under one shared lock. See `Access.readVersion`.
    public func readVersion(_ path: ItemPath, timeout: Duration? = .seconds(30)) async throws -> Versioned<[UInt8]> {
        try await coordinate([.reading(path)], operation: "read", .relaxed, timeout) { try $0.readVersion(path) }
    }

    /// An item's JSON, decoded, and its generation, under one shared lock. See `Access.readVersion`.
    public func readVersion<Value: Decodable>(
        _ path: ItemPath, as type: Value.Type, timeout: Duration? = .seconds(30)
    ) async throws -> Versioned<Value> {
        try ItemCoding.decode(type, await readVersion(path, timeout: timeout), from: path)
    }
}
