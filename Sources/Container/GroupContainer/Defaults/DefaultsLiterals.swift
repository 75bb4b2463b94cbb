// Imports nothing: no file, clock or process.

/// Values as literals: `["title": "Milk", "count": 2, "done": false]`.
extension DefaultsValue: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral,
    ExpressibleByBooleanLiteral, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
    /// Creates a text.
    public init(stringLiteral text: String) { self = .string(text) }

    /// Creates a whole number.
    public init(integerLiteral number: Int) { self = .integer(number) }

    /// Creates a number with a fraction.
    public init(floatLiteral number: Double) { self = .double(number) }

    /// Creates a truth value.
    public init(booleanLiteral isTrue: Bool) { self = .bool(isTrue) }

    /// Creates an array of values.
    public init(arrayLiteral values: DefaultsValue...) { self = .array(values) }

    /// Creates a dictionary of values; of two values with the same name, the later one counts.
    public init(dictionaryLiteral members: (String, DefaultsValue)...) {
        self = .dictionary(Dictionary(members) { _, later in later })
    }
}
