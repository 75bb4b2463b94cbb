extension JSONValue: ExpressibleByNilLiteral, ExpressibleByBooleanLiteral, ExpressibleByIntegerLiteral {
    /// `nil` is null.
    package init(nilLiteral: ()) { self = .null }

    /// `true` or `false`.
    package init(booleanLiteral value: Bool) { self = .bool(value) }

    /// A whole number.
    package init(integerLiteral value: Int64) { self = .integer(value) }
}

extension JSONValue: ExpressibleByStringLiteral, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral {
    /// A text.
    package init(stringLiteral value: String) { self = .string(value) }

    /// A list.
    package init(arrayLiteral elements: JSONValue...) { self = .array(elements) }

    /// An object with its members in the order written.
    package init(dictionaryLiteral elements: (String, JSONValue)...) { self = .object(elements) }
}
