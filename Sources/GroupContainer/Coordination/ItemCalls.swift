/// The intents of each single-change call, shared by both coordinators.
private enum Intents {
    static func remove(_ path: ItemPath) -> [AccessIntent] { [.writing(path, .forDeleting)] }
    static func move(_ path: ItemPath, _ destination: ItemPath) -> [AccessIntent] {
        [.writing(path, .forMoving), .writing(destination, .forReplacing)]
    }
    static func copy(_ path: ItemPath, _ destination: ItemPath, recursively: Bool) -> [AccessIntent] {
        [.reading(path, recursively ? .recursively : []), .writing(destination, .forReplacing)]
    }
    static func setMode(_ path: ItemPath) -> [AccessIntent] { [.writing(path, .contentIndependentMetadataOnly)] }
}

extension BlockingCoordinator {
    /// Removes an item, under an exclusive lock on it and everything in it. See `Access.remove`.
    @discardableResult
    public func remove(
        _ path: ItemPath, recursively: Bool = false, _ durability: Durability = .durable,
        if condition: WriteCondition = .always, timeout: Duration? = .seconds(30)
    ) throws -> UInt64 {
        try coordinate(Intents.remove(path), operation: "remove", durability, timeout) {
            try $0.remove(path, recursively: recursively, if: condition)
        }
    }

    /// Moves an item, under exclusive locks on both ends. See `Access.move`.
    @discardableResult
    public func move(
        _ path: ItemPath, to destination: ItemPath, replacing: Bool = false, _ durability: Durability = .durable,
        if condition: WriteCondition = .always, timeout: Duration? = .seconds(30)
    ) throws -> UInt64 {
        try coordinate(Intents.move(path, destination), operation: "move", durability, timeout) {
            try $0.move(path, to: destination, replacing: replacing, if: condition)
        }
    }

    /// Copies a file, under a shared lock on it and an exclusive lock on the destination; with `recursively` also a
    /// directory, under exclusive locks on both and everything in them. See `Access.copy`.
    @discardableResult
    public func copy(
        _ path: ItemPath, to destination: ItemPath, recursively: Bool = false, replacing: Bool = false,
        _ durability: Durability = .durable, timeout: Duration? = .seconds(30)
    ) throws -> WriteOutcome {
        try coordinate(
            Intents.copy(path, destination, recursively: recursively), operation: "copy", durability, timeout
        ) {
            try $0.copy(path, to: destination, recursively: recursively, replacing: replacing)
        }
    }

    /// Makes a directory and its missing parents. See `Access.createDirectory`.
    @discardableResult
    public func createDirectory(
        _ path: ItemPath, _ durability: Durability = .durable, timeout: Duration? = .seconds(30)
    ) throws -> WriteOutcome {
        try coordinate([.writing(path)], operation: "create directory", durability, timeout) {
            try $0.createDirectory(path)
        }
    }

    /// Sets an item's permissions. See `Access.setMode`.
    @discardableResult
    public func setMode(
        _ mode: UInt32, of path: ItemPath, _ durability: Durability = .durable, timeout: Duration? = .seconds(30)
    ) throws -> WriteOutcome {
        try coordinate(Intents.setMode(path), operation: "set the mode of", durability, timeout) {
            try $0.setMode(mode, of: path)
        }
    }
}

extension Coordinator {
    /// Removes an item, under an exclusive lock on it and everything in it. See `Access.remove`.
    @discardableResult
    public func remove(
        _ path: ItemPath, recursively: Bool = false, _ durability: Durability = .durable,
        if condition: WriteCondition = .always, timeout: Duration? = .seconds(30)
    ) async throws -> UInt64 {
        try await coordinate(Intents.remove(path), operation: "remove", durability, timeout) {
            try $0.remove(path, recursively: recursively, if: condition)
        }
    }

    /// Moves an item, under exclusive locks on both ends. See `Access.move`.
    @discardableResult
    public func move(
        _ path: ItemPath, to destination: ItemPath, replacing: Bool = false, _ durability: Durability = .durable,
        if condition: WriteCondition = .always, timeout: Duration? = .seconds(30)
    ) async throws -> UInt64 {
        try await coordinate(Intents.move(path, destination), operation: "move", durability, timeout) {
            try $0.move(path, to: destination, replacing: replacing, if: condition)
        }
    }

    /// Copies a file, under a shared lock on it and an exclusive lock on the destination; with `recursively` also a
    /// directory, under exclusive locks on both and everything in them. See `Access.copy`.
    @discardableResult
    public func copy(
        _ path: ItemPath, to destination: ItemPath, recursively: Bool = false, replacing: Bool = false,
        _ durability: Durability = .durable, timeout: Duration? = .seconds(30)
    ) async throws -> WriteOutcome {
        try await coordinate(
            Intents.copy(path, destination, recursively: recursively), operation: "copy", durability, timeout
        ) {
            try $0.copy(path, to: destination, recursively: recursively, replacing: replacing)
        }
    }

    /// Makes a directory and its missing parents. See `Access.createDirectory`.
    @discardableResult
    public func createDirectory(
        _ path: ItemPath, _ durability: Durability = .durable, timeout: Duration? = .seconds(30)
    ) async throws -> WriteOutcome {
        try await coordinate([.writing(path)], operation: "create directory", durability, timeout) {
            try $0.createDirectory(path)
        }
    }

    /// Sets an item's permissions. See `Access.setMode`.
    @discardableResult
    public func setMode(
        _ mode: UInt32, of path: ItemPath, _ durability: Durability = .durable, timeout: Duration? = .seconds(30)
    ) async throws -> WriteOutcome {
        try await coordinate(Intents.setMode(path), operation: "set the mode of", durability, timeout) {
            try $0.setMode(mode, of: path)
        }
    }
}

/// Reads for a later compare-and-set.
extension BlockingCoordinator {
    /// Returns an item's generation, or nil where there is no item, under a shared lock. See `Access.generation`.
    public func generation(of path: ItemPath, timeout: Duration? = .seconds(30)) throws -> UInt64? {
        try coordinate([.reading(path)], operation: "look at", .relaxed, timeout) { try $0.generation(of: path) }
    }

    /// Returns an item's content and its generation, read under one shared lock. See `Access.readVersion`.
    public func readVersion(_ path: ItemPath, timeout: Duration? = .seconds(30)) throws -> Versioned<[UInt8]> {
        try coordinate([.reading(path)], operation: "read", .relaxed, timeout) { try $0.readVersion(path) }
    }

    /// Returns an item's decoded JSON and its generation, read under one shared lock. See `Access.readVersion`.
    public func readVersion<Value: Decodable>(
        _ path: ItemPath, as type: Value.Type, timeout: Duration? = .seconds(30)
    ) throws -> Versioned<Value> {
        try ItemCoding.decode(type, readVersion(path, timeout: timeout), from: path)
    }
}

extension Coordinator {
    /// Returns an item's generation, or nil where there is no item, under a shared lock. See `Access.generation`.
    public func generation(of path: ItemPath, timeout: Duration? = .seconds(30)) async throws -> UInt64? {
        try await coordinate([.reading(path)], operation: "look at", .relaxed, timeout) { try $0.generation(of: path) }
    }

    /// Returns an item's content and its generation, read under one shared lock. See `Access.readVersion`.
    public func readVersion(_ path: ItemPath, timeout: Duration? = .seconds(30)) async throws -> Versioned<[UInt8]> {
        try await coordinate([.reading(path)], operation: "read", .relaxed, timeout) { try $0.readVersion(path) }
    }

    /// Returns an item's decoded JSON and its generation, read under one shared lock. See `Access.readVersion`.
    public func readVersion<Value: Decodable>(
        _ path: ItemPath, as type: Value.Type, timeout: Duration? = .seconds(30)
    ) async throws -> Versioned<Value> {
        try ItemCoding.decode(type, await readVersion(path, timeout: timeout), from: path)
    }
}
