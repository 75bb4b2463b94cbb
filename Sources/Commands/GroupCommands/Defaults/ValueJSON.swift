import FoundationEssentials
package import GroupCommandLine
package import GroupContainer

/// A value that has no form in an output format.
package struct NoForm: Error, Equatable, CustomStringConvertible {
    package let description: String

    init(_ description: String) { self.description = description }
}

/// Values as the commands print and read them: a date as ISO 8601, data as base64, a URL as its text.
extension DefaultsValue {
    /// Returns the value in JSON, names sorted. Error: the value holds a number that is not finite, a date without a
    /// four-digit year, or a type that only a newer version knows.
    package func json() throws(NoForm) -> JSONValue {
        switch self {
        case .bool(let value): return .bool(value)
        case .integer(let value): return .integer(Int64(value))
        case .double(let value): return try Self.number(value, value.description)
        case .float(let value): return try Self.number(Double(value.description) ?? .nan, value.description)
        case .string(let text), .url(let text): return .string(text)
        case .data(let bytes): return .string(Base64.encoded(bytes))
        case .date(let date):
            guard let text = DateText.text(of: date.timeIntervalSinceReferenceDate) else {
                throw NoForm("the year of a date has more than four digits")
            }
            return .string(text)
        case .array(let values):
            var elements: [JSONValue] = []
            for value in values { elements.append(try value.json()) }
            return .array(elements)
        case .dictionary(let values):
            var members: [(String, JSONValue)] = []
            for (name, value) in values.sorted(by: { $0.key < $1.key }) { members.append((name, try value.json())) }
            return .object(members)
        case .json(let text):
            do throws(TextFault) {
                return try JSONReader.value(of: text, deepest: Self.deepestJSON)
            } catch {
                throw NoForm("the value was set as JSON, but is not JSON: \(error)")
            }
        case .unknown: throw NoForm("a newer version wrote the value")
        }
    }

    /// The levels that JSON may nest: more than other values may, because a program has encoded it.
    static let deepestJSON = 512

    private static func number(_ value: Double, _ text: String) throws(NoForm) -> JSONValue {
        if value.isFinite { return .double(value) }
        throw NoForm("\(text) is not a number in JSON")
    }

    /// Returns the value for a person or a script: a text without quotes, any other value as JSON.
    package func plainText() throws(NoForm) -> String {
        switch self {
        case .double(let value) where !value.isFinite: return value.description
        case .float(let value) where !value.isFinite: return value.description
        default: break
        }
        let json = try json()
        if case .string(let text) = json { return text }
        return json.encoded()
    }

    /// The plain text of a value in a list, where a value without a form must not hide the others: `null` stands for
    /// it.
    package var shownText: String { (try? plainText()) ?? "null" }

    /// Creates a value from JSON: arrays, dictionaries and scalars. JSON that contains a `null`, or a whole number that
    /// `Int` cannot hold, is kept as JSON, so that nothing is lost.
    package init(_ json: JSONValue) { self = Self.structured(json) ?? .json(Array(json.encoded().utf8)) }

    private static func structured(_ json: JSONValue) -> DefaultsValue? {
        switch json {
        case .null: return nil
        case .bool(let value): return .bool(value)
        case .integer(let value): return .integer(Int(value))
        case .unsigned(let value): return Int(exactly: value).map { .integer($0) }
        case .digits: return nil
        case .double(let value): return .double(value)
        case .string(let text): return .string(text)
        case .array(let elements):
            let values = elements.compactMap(structured)
            return values.count == elements.count ? .array(values) : nil
        case .object(let members):
            var values: [String: DefaultsValue] = [:]
            for (name, member) in members { values[name] = structured(member) }
            return values.count == members.count ? .dictionary(values) : nil
        }
    }

    /// The word for the value's type.
    package var typeName: String {
        switch self {
        case .bool: "bool"
        case .integer: "int"
        case .double: "double"
        case .float: "float"
        case .string: "string"
        case .data: "data"
        case .date: "date"
        case .url: "url"
        case .array: "array"
        case .dictionary: "dictionary"
        case .json: "json"
        case .unknown: "unknown"
        }
    }
}
