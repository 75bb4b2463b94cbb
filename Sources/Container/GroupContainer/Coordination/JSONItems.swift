import FoundationEssentials
import GroupBytes

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

    /// The largest JSON that is decoded, in bytes; decoding takes several times as much memory.
    static let largest = 256 << 20

    static func check(size: Int, of path: ItemPath) throws(CoordinationError) {
        if size <= largest { return }
        throw CoordinationError(
            .invalidContent, operation: "decode", item: path.description,
            reason: "it has \(size) bytes, and JSON of more than \(largest >> 20) MiB is not decoded as a whole")
    }

    /// Returns why JSON could not be decoded.
    static func fault(_ error: any Error, in content: [UInt8]) -> String {
        guard let error = error as? DecodingError else { return "\(error)" }
        return error.fault { (try? JSONDecoder().decode(AnyJSON.self, from: Data(content))) != nil }
    }

    static func decode<Value: Decodable>(_ type: Value.Type, _ content: [UInt8], from path: ItemPath)
        throws(CoordinationError) -> Value
    {
        try check(size: content.count, of: path)
        do {
            return try JSONDecoder().decode(type, from: Data(content))
        } catch {
            throw CoordinationError(
                .invalidContent, operation: "decode", item: path.description, reason: fault(error, in: content),
                cause: error)
        }
    }
}

extension ItemCoding {
    static func text(of content: [UInt8], from path: ItemPath) throws(CoordinationError) -> String {
        if let text = String(validating: content, as: UTF8.self) { return text }
        throw CoordinationError(
            .invalidContent, operation: "decode", item: path.description, reason: "the content is not UTF-8")
    }

    static func decode<Value: Decodable>(
        _ type: Value.Type, _ version: Versioned<[UInt8]>, from path: ItemPath
    ) throws(CoordinationError) -> Versioned<Value> {
        Versioned(value: try decode(type, version.value, from: path), generation: version.generation)
    }
}

extension Access {
    /// Returns the content of an item that is to be decoded, after a look at its size.
    func encodedValue(_ path: ItemPath) throws(CoordinationError) -> [UInt8] {
        if let size = try item(path)?.size { try ItemCoding.check(size: Int(clamping: size), of: path) }
        return try readBytes(path)
    }

    /// Decodes an item's JSON of at most 256 MiB. Errors: `invalidContent`, and those of `readBytes`.
    public func read<Value: Decodable>(_ path: ItemPath, as type: Value.Type) throws(CoordinationError) -> Value {
        try container.locating { () throws(CoordinationError) -> Value in
            try ItemCoding.decode(type, encodedValue(path), from: path)
        }
    }

    /// Decodes an item's JSON, or returns `default` where there is no item, or an empty file. Errors: `invalidContent`,
    /// and those of `readBytes`.
    public func read<Value: Decodable>(
        _ path: ItemPath, as type: Value.Type, default missing: Value
    ) throws(CoordinationError) -> Value {
        try container.locating { () throws(CoordinationError) -> Value in
            let found = try ifPresent { () throws(CoordinationError) in try encodedValue(path) }
            guard let content = found, !content.isEmpty else { return missing }
            return try ItemCoding.decode(type, content, from: path)
        }
    }

    /// Returns an item's content as text. Errors: `invalidContent` where it is not UTF-8, and those of `readBytes`.
    public func readText(_ path: ItemPath) throws(CoordinationError) -> String {
        try container.locating { () throws(CoordinationError) -> String in
            try ItemCoding.text(of: readBytes(path), from: path)
        }
    }

    /// Replaces an item's content with text, as UTF-8. See `write(bytes:to:if:mode:)`.
    @discardableResult
    public func write(
        text: String, to path: ItemPath, if condition: WriteCondition = .always, mode: UInt32? = nil
    ) throws(CoordinationError) -> WriteResult {
        try write(bytes: Array(text.utf8), to: path, if: condition, mode: mode)
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

    /// Changes a value, and returns it with its generation: that of the change, or, where nothing was changed, the
    /// present one; `.unset` for a change that is only staged.
    package func update<Value: Codable>(
        _ path: ItemPath, default missing: Value, _ body: (inout Value) throws -> Void
    ) throws -> Versioned<Value> {
        var value = try read(path, as: Value.self, default: missing)
        try body(&value)
        let result = try write(json: value, to: path)
        let generation = try result.isChanged ? result.generation : generation(of: path)
        return Versioned(value: value, generation: generation ?? .unset)
    }
}
