import FoundationEssentials
import GroupContainer

/// A property list as JSON, without a loss: texts, truth values, arrays, dictionaries, integers and other numbers are
/// themselves; any other value is an object with one member, whose name is one of `Tag`.
struct PropertyListNode: Codable {
    let value: DefaultsValue

    init(_ value: DefaultsValue) { self.value = value }

    /// The most levels of a line at which a value may be: no line can use up a stack.
    private static let deepest = 2 * DefaultsValue.maximumDepth

    private enum Tag: String {
        /// Base 64.
        case data = "$data"
        /// Seconds since 1970.
        case date = "$date"
        case url = "$url"
        /// Numbers as text: those that look like integers in JSON, or that it cannot hold.
        case double = "$double"
        case float = "$float"
        /// JSON as text.
        case json = "$json"
        /// A dictionary with one member, whose name begins with '$'.
        case dictionary = "$dictionary"
    }

    private struct Name: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }
        init(stringValue: String) { self.stringValue = stringValue }
        init(_ tag: Tag) { stringValue = tag.rawValue }
        init?(intValue: Int) { nil }
    }

    init(from decoder: any Decoder) throws {
        if decoder.codingPath.count > Self.deepest {
            throw Self.fault("nested too deeply", decoder)
        }
        if let members = try? decoder.container(keyedBy: Name.self) {
            value = try Self.object(members, decoder)
        } else if var elements = try? decoder.unkeyedContainer() {
            var values: [DefaultsValue] = []
            while !elements.isAtEnd { values.append(try elements.decode(PropertyListNode.self).value) }
            value = .array(values)
        } else {
            value = try Self.scalar(decoder)
        }
    }

    private static func object(
        _ members: KeyedDecodingContainer<Name>, _ decoder: any Decoder
    ) throws -> DefaultsValue {
        let names = members.allKeys
        guard names.count == 1, let name = names.first, name.stringValue.hasPrefix("$") else {
            var values: [String: DefaultsValue] = [:]
            for name in names {
                values[name.stringValue] = try members.decode(PropertyListNode.self, forKey: name).value
            }
            return .dictionary(values)
        }
        switch Tag(rawValue: name.stringValue) {
        case .data: return .data(Array(try members.decode(Data.self, forKey: name)))
        case .date: return .date(try members.decode(Date.self, forKey: name))
        case .url: return .url(try members.decode(String.self, forKey: name))
        case .double:
            if let number = Double(try members.decode(String.self, forKey: name)) { return .double(number) }
        case .float:
            if let number = Float(try members.decode(String.self, forKey: name)) { return .float(number) }
        case .json: return .json(Array(try members.decode(String.self, forKey: name).utf8))
        case .dictionary:
            return .dictionary(try members.decode([String: PropertyListNode].self, forKey: name).mapValues(\.value))
        case nil: break
        }
        throw fault("'\(name.stringValue)' has no such value", decoder)
    }

    private static func scalar(_ decoder: any Decoder) throws -> DefaultsValue {
        let scalar = try decoder.singleValueContainer()
        if let value = try? scalar.decode(Bool.self) { return .bool(value) }
        if let value = try? scalar.decode(Int.self) { return .integer(value) }
        if let value = try? scalar.decode(Double.self) { return .double(value) }
        if let value = try? scalar.decode(String.self) { return .string(value) }
        throw fault("a property list has no null", decoder)
    }

    private static func fault(_ what: String, _ decoder: any Decoder) -> DecodingError {
        .dataCorrupted(.init(codingPath: decoder.codingPath, debugDescription: what))
    }

    func encode(to encoder: any Encoder) throws {
        func tagged(_ tag: Tag, _ content: some Encodable) throws {
            var members = encoder.container(keyedBy: Name.self)
            try members.encode(content, forKey: Name(tag))
        }
        switch value {
        case .bool(let value): try plain(value, encoder)
        case .integer(let value): try plain(value, encoder)
        case .double(let value):
            if value.isFinite, value != value.rounded() {
                try plain(value, encoder)
            } else {
                try tagged(.double, value.description)
            }
        case .float(let value): try tagged(.float, value.description)
        case .string(let value): try plain(value, encoder)
        case .data(let value): try tagged(.data, Data(value))
        case .date(let value): try tagged(.date, value)
        case .url(let value): try tagged(.url, value)
        case .array(let values): try plain(values.map(PropertyListNode.init), encoder)
        case .dictionary(let values):
            let nodes = values.mapValues(PropertyListNode.init)
            if nodes.count == 1, nodes.keys.first?.hasPrefix("$") == true {
                try tagged(.dictionary, nodes)
            } else {
                try plain(nodes, encoder)
            }
        case .json(let bytes):
            guard let text = String(validating: bytes, as: UTF8.self) else { throw unencodable(encoder) }
            try tagged(.json, text)
        case .unknown: throw unencodable(encoder)
        }
    }

    private func plain(_ content: some Encodable, _ encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(content)
    }

    private func unencodable(_ encoder: any Encoder) -> EncodingError {
        .invalidValue(
            value, .init(codingPath: encoder.codingPath, debugDescription: "the value has no form in JSON"))
    }
}
