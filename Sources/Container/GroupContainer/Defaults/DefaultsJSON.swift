import FoundationEssentials

/// Values as JSON and back: for `Codable` types, and for people.
extension DefaultsValue {
    /// The bytes of the value as JSON, as `JSONEncoder` writes it: data in base 64, a date as its number of seconds, a
    /// URL as a text; on one line, with sorted names. Nil for a value without JSON: a number that is not finite, or a
    /// kind that a newer version wrote. Linear.
    public var jsonBytes: [UInt8]? {
        if case .json(let bytes) = self { return bytes }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return (try? encoder.encode(JSONNode(value: self))).map(Array.init)
    }

    /// Parses a JSON text; a `null` within arrays and dictionaries is left out. Nil where the text is no JSON, is
    /// `null`, or is nested deeper than `maximumDepth`.
    public init?(parsingJSON text: [UInt8]) {
        guard let node = try? JSONDecoder().decode(JSONNode.self, from: Data(text)), let value = node.value,
            value.depth <= Self.maximumDepth
        else { return nil }
        self = value
    }

    /// The value with JSON as the arrays, dictionaries and scalars that it holds; another value unchanged. Nil where
    /// the JSON is not valid.
    public var structured: DefaultsValue? {
        guard case .json(let text) = self else { return self }
        return DefaultsValue(parsingJSON: text)
    }
}

/// The form of a value that is encoded to JSON or decoded from it.
private struct JSONNode: Codable {
    var value: DefaultsValue?

    init(value: DefaultsValue?) { self.value = value }

    struct Name: CodingKey {
        var stringValue: String
        var intValue: Int? { nil }
        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }

    init(from decoder: any Decoder) throws {
        if let members = try? decoder.container(keyedBy: Name.self) {
            var values: [String: DefaultsValue] = [:]
            for name in members.allKeys {
                values[name.stringValue] = try members.decode(JSONNode.self, forKey: name).value
            }
            value = .dictionary(values)
        } else if var elements = try? decoder.unkeyedContainer() {
            var values: [DefaultsValue] = []
            while !elements.isAtEnd { if let value = try elements.decode(JSONNode.self).value { values.append(value) } }
            value = .array(values)
        } else {
            value = try Self.scalar(try decoder.singleValueContainer())
        }
    }

    private static func scalar(_ container: any SingleValueDecodingContainer) throws -> DefaultsValue? {
        if container.decodeNil() { return nil }
        if let value = try? container.decode(Bool.self) { return .bool(value) }
        if let value = try? container.decode(Int.self) { return .integer(value) }
        if let value = try? container.decode(Double.self) { return .double(value) }
        return .string(try container.decode(String.self))
    }

    func encode(to encoder: any Encoder) throws {
        func encode(_ value: some Encodable) throws {
            var container = encoder.singleValueContainer()
            try container.encode(value)
        }
        switch value {
        case nil:
            var container = encoder.singleValueContainer()
            try container.encodeNil()
        case .bool(let value): try encode(value)
        case .integer(let value): try encode(value)
        case .double(let value): try encode(value)
        case .float(let value): try encode(value)
        case .string(let text), .url(let text): try encode(text)
        case .data(let bytes): try encode(Data(bytes).base64EncodedString())
        case .date(let value): try encode(value.timeIntervalSinceReferenceDate)
        case .array(let values):
            var container = encoder.unkeyedContainer()
            for value in values { try container.encode(JSONNode(value: value)) }
        case .dictionary(let values):
            var container = encoder.container(keyedBy: Name.self)
            for (name, value) in values {
                try container.encode(JSONNode(value: value), forKey: Name(stringValue: name))
            }
        case .json: try JSONNode(value: value?.structured).encode(to: encoder)
        case .unknown:
            throw EncodingError.invalidValue(
                self, EncodingError.Context(codingPath: [], debugDescription: "a newer version has written it"))
        }
    }
}

extension GroupDefaults.Key where Value: Codable {
    /// Creates a key whose values are stored as JSON. A value that was set as an array, a dictionary or a scalar is
    /// decoded, too.
    public init(_ name: String, default defaultValue: Value) {
        self.name = name
        self.defaultValue = defaultValue
        encode = { value throws(CoordinationError) in
            do {
                let encoder = JSONEncoder()
                encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
                return .json(Array(try encoder.encode(value)))
            } catch {
                throw CoordinationError(
                    .invalidContent, operation: "encode", item: name, reason: "\(error)", cause: error)
            }
        }
        decode = { stored throws(CoordinationError) in
            let json = stored.jsonBytes ?? []
            do {
                return try JSONDecoder().decode(Value.self, from: Data(json))
            } catch {
                let fault = ItemCoding.fault(error, in: json)
                throw CoordinationError(
                    .invalidContent, operation: "decode", item: name,
                    reason:
                        "the value is \(stored.kindName), and not \(Value.self): \(fault); the value was not changed",
                    cause: error)
            }
        }
    }
}
