extension JSONValue: ExpressibleByNilLiteral, ExpressibleByBooleanLiteral, ExpressibleByIntegerLiteral {
    /// Creates null.
    package init(nilLiteral: ()) { self = .null }

    /// Creates `true` or `false`.
    package init(booleanLiteral value: Bool) { self = .bool(value) }

    /// Creates a whole number.
    package init(integerLiteral value: Int64) { self = .integer(value) }
}

extension JSONValue: ExpressibleByStringLiteral, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral {
    /// Creates a string.
    package init(stringLiteral value: String) { self = .string(value) }

    /// Creates an array.
    package init(arrayLiteral elements: JSONValue...) { self = .array(elements) }

    /// Creates an object with its members in the order written.
    package init(dictionaryLiteral elements: (String, JSONValue)...) { self = .object(elements) }
}
