import FoundationEssentials

/// Encodes items as JSON with sorted keys, so that equal values have equal bytes, and writing a value again changes
/// nothing.
package enum ItemCoding {
    package static func encode(_ value: some Encodable, for path: ItemPath) throws(CoordinationError) -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        do {
            return Array(try encoder.encode(value)) + [UInt8(ascii: "\n")]
        } catch {
            throw CoordinationError(
                .invalidContent, operation: "encode", item: path.description, reason: "\(error)", cause: error)
        }
    }

    static func decode<Value: Decodable>(_ type: Value.Type, _ content: [UInt8], from path: ItemPath)
        throws(CoordinationError) -> Value
    {
        do {
            return try JSONDecoder().decode(type, from: Data(content))
        } catch {
            throw CoordinationError(
                .invalidContent, operation: "decode", item: path.description,
                reason: "\(error)", cause: error)
        }
    }
}

extension ItemCoding {
    static func decode<Value: Decodable>(
        _ type: Value.Type, _ version: Versioned<[UInt8]>, from path: ItemPath
    ) throws(CoordinationError) -> Versioned<Value> {
        Versioned(value: try decode(type, version.value, from: path), generation: version.generation)
    }
}

extension Access {
    /// Decodes an item's JSON. Errors: `invalidContent`, and those of `readBytes`.
    public func read<Value: Decodable>(_ path: ItemPath, as type: Value.Type) throws(CoordinationError) -> Value {
        try container.locating { () throws(CoordinationError) -> Value in
            try ItemCoding.decode(type, readBytes(path), from: path)
        }
    }

    /// Decodes an item's JSON and returns it with its generation. Errors: `invalidContent`, and those of `readVersion`.
    public func readVersion<Value: Decodable>(
        _ path: ItemPath, as type: Value.Type
    ) throws(CoordinationError) -> Versioned<Value> {
        try container.locating { () throws(CoordinationError) -> Versioned<Value> in
            try ItemCoding.decode(type, readVersion(path), from: path)
        }
    }

    /// Writes a value as JSON. Errors: `invalidContent`, and those of `write(bytes:to:)`.
    @discardableResult
    public func write(
        json value: some Encodable, to path: ItemPath, if condition: WriteCondition = .always
    ) throws(CoordinationError) -> WriteResult {
        try write(bytes: ItemCoding.encode(value, for: path), to: path, if: condition)
    }

    package func update<Value: Codable>(
        _ path: ItemPath, default missing: Value, _ body: (inout Value) throws -> Void
    ) throws -> WriteResult {
        var value = missing
        // An empty file, as touch(1) makes one, is as good as none.
        if let content = try readBytesIfPresent(path), !content.isEmpty {
            value = try container.locating { () throws(CoordinationError) in
                try ItemCoding.decode(Value.self, content, from: path)
            }
        }
        try body(&value)
        return try write(json: value, to: path)
    }
}
