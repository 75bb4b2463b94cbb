import FoundationEssentials

/// Encodes items as JSON with sorted keys, so that equal values have equal bytes, and writing a value again changes
/// nothing.
enum ItemCoding {
    static func encode(_ value: some Encodable, for path: ItemPath) throws(CoordinationError) -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        do {
            return Array(try encoder.encode(value)) + [UInt8(ascii: "\n")]
        } catch {
            throw CoordinationError(.invalidContent, item: path.description, operation: "encode", cause: "\(error)")
        }
    }

    static func decode<Value: Decodable>(_ type: Value.Type, _ content: [UInt8], from path: ItemPath)
        throws(CoordinationError) -> Value
    {
        do {
            return try JSONDecoder().decode(type, from: Data(content))
        } catch {
            throw CoordinationError(
                .invalidContent, item: path.description, operation: "decode", cause: "\(error)",
                advice: "the file was left as it is")
        }
    }
}

extension ItemCoding {
    static func decode<Value: Decodable>(
        _ type: Value.Type, _ version: Versioned<[UInt8]>, from path: ItemPath
    ) throws(CoordinationError) -> Versioned<Value> {
        Versioned(content: try decode(type, version.content, from: path), generation: version.generation)
    }
}

extension Access {
    /// Decodes an item's JSON. Errors: `invalidContent`, and those of `readBytes`.
    public func read<Value: Decodable>(_ path: ItemPath, as type: Value.Type) throws(CoordinationError) -> Value {
        try ItemCoding.decode(type, readBytes(path), from: path)
    }

    /// Decodes an item's JSON and returns it with its generation. Errors: `invalidContent`, and those of `readVersion`.
    public func readVersion<Value: Decodable>(
        _ path: ItemPath, as type: Value.Type
    ) throws(CoordinationError) -> Versioned<Value> {
        try ItemCoding.decode(type, readVersion(path), from: path)
    }

    /// Writes a value as JSON. Errors: `invalidContent`, and those of `write(bytes:to:)`.
    public func write(
        _ value: some Encodable, to path: ItemPath, if condition: WriteCondition = .always
    ) throws(CoordinationError) -> WriteOutcome {
        try write(bytes: ItemCoding.encode(value, for: path), to: path, if: condition)
    }

    fileprivate func update<Value: Codable>(
        _ path: ItemPath, default missing: Value, _ body: (inout Value) throws -> Void
    ) throws -> WriteOutcome {
        var value = missing
        if let content = try readBytesIfPresent(path) { value = try ItemCoding.decode(Value.self, content, from: path) }
        try body(&value)
        return try write(value, to: path)
    }
}

extension BlockingCoordinator {
    /// Decodes an item's JSON, under a shared lock.
    public func read<Value: Decodable>(_ path: ItemPath, as type: Value.Type, timeout: Duration? = .seconds(30)) throws
        -> Value
    {
        try ItemCoding.decode(type, readBytes(path, timeout: timeout), from: path)
    }

    /// Writes a value as JSON, under an exclusive lock.
    @discardableResult
    public func write(
        _ value: some Encodable, to path: ItemPath, _ durability: Durability = .durable,
        if condition: WriteCondition = .always, timeout: Duration? = .seconds(30)
    ) throws -> WriteOutcome {
        try write(bytes: ItemCoding.encode(value, for: path), to: path, durability, if: condition, timeout: timeout)
    }

    /// Reads, changes and writes a value under one exclusive lock, so that no change of another process is lost.
    /// `default` is the value of an absent item. Throws `invalidContent` for an item that does not decode, and leaves
    /// it unchanged.
    @discardableResult
    public func update<Value: Codable>(
        _ path: ItemPath, default missing: Value, _ durability: Durability = .durable,
        timeout: Duration? = .seconds(30),
        _ body: (inout Value) throws -> Void
    ) throws -> WriteOutcome {
        try coordinate([.writing(path)], operation: "update", durability, timeout) { access in
            try access.update(path, default: missing, body)
        }
    }
}

extension Coordinator {
    /// Returns an item's content, read under a shared lock.
    public func readBytes(_ path: ItemPath, timeout: Duration? = .seconds(30)) async throws -> [UInt8] {
        try await coordinate([.reading(path)], operation: "read", .relaxed, timeout) { try $0.readBytes(path) }
    }

    /// Replaces an item's content, under an exclusive lock. See `Access.write`.
    @discardableResult
    public func write(
        bytes: [UInt8], to path: ItemPath, _ durability: Durability = .durable, if condition: WriteCondition = .always,
        timeout: Duration? = .seconds(30)
    ) async throws -> WriteOutcome {
        try await coordinate([.writing(path)], operation: "write", durability, timeout) {
            try $0.write(bytes: bytes, to: path, if: condition)
        }
    }

    /// Decodes an item's JSON, under a shared lock.
    public func read<Value: Decodable>(_ path: ItemPath, as type: Value.Type, timeout: Duration? = .seconds(30))
        async throws -> Value
    {
        try ItemCoding.decode(type, await readBytes(path, timeout: timeout), from: path)
    }

    /// Writes a value as JSON, under an exclusive lock.
    @discardableResult
    public func write(
        _ value: some Encodable, to path: ItemPath, _ durability: Durability = .durable,
        if condition: WriteCondition = .always, timeout: Duration? = .seconds(30)
    ) async throws -> WriteOutcome {
        try await write(
            bytes: ItemCoding.encode(value, for: path), to: path, durability, if: condition, timeout: timeout)
    }

    /// Reads, changes and writes a value under one exclusive lock, so that no change of another process is lost.
    /// `default` is the value of an absent item. Throws `invalidContent` for an item that does not decode, and leaves
    /// it unchanged.
    @discardableResult
    public func update<Value: Codable & Sendable>(
        _ path: ItemPath, default missing: Value, _ durability: Durability = .durable,
        timeout: Duration? = .seconds(30),
        _ body: @escaping @Sendable (inout Value) throws -> Void
    ) async throws -> WriteOutcome {
        try await coordinate([.writing(path)], operation: "update", durability, timeout) { access in
            try access.update(path, default: missing, body)
        }
    }
}
