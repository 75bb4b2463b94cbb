public import FoundationEssentials

/// The types that are stored in a form of their own.
extension Bool: DefaultsRepresentable {
    /// A truth value.
    public var defaultsValue: DefaultsValue { .bool(self) }
    /// Converts a value as `DefaultsValue.boolValue` does.
    public init?(defaultsValue: DefaultsValue) {
        guard let value = defaultsValue.boolValue else { return nil }
        self = value
    }
}

extension Int: DefaultsRepresentable {
    /// A whole number.
    public var defaultsValue: DefaultsValue { .integer(self) }
    /// Converts a value as `DefaultsValue.integerValue` does.
    public init?(defaultsValue: DefaultsValue) {
        guard let value = defaultsValue.integerValue else { return nil }
        self = value
    }
}

extension Double: DefaultsRepresentable {
    /// A number.
    public var defaultsValue: DefaultsValue { .double(self) }
    /// Converts a value as `DefaultsValue.doubleValue` does.
    public init?(defaultsValue: DefaultsValue) {
        guard let value = defaultsValue.doubleValue else { return nil }
        self = value
    }
}

extension Float: DefaultsRepresentable {
    /// A number.
    public var defaultsValue: DefaultsValue { .float(self) }
    /// Converts a value as `DefaultsValue.floatValue` does.
    public init?(defaultsValue: DefaultsValue) {
        guard let value = defaultsValue.floatValue else { return nil }
        self = value
    }
}

extension String: DefaultsRepresentable {
    /// A text.
    public var defaultsValue: DefaultsValue { .string(self) }
    /// Converts a value as `DefaultsValue.stringValue` does.
    public init?(defaultsValue: DefaultsValue) {
        guard let value = defaultsValue.stringValue else { return nil }
        self = value
    }
}

extension Data: DefaultsRepresentable {
    /// Bytes.
    public var defaultsValue: DefaultsValue { .data(Array(self)) }
    /// Takes the bytes of data; nil for a value of another kind.
    public init?(defaultsValue: DefaultsValue) {
        guard case .data(let bytes) = defaultsValue else { return nil }
        self = Data(bytes)
    }
}

extension Date: DefaultsRepresentable {
    /// A moment.
    public var defaultsValue: DefaultsValue { .date(self) }
    /// Takes the moment of a date; nil for a value of another kind.
    public init?(defaultsValue: DefaultsValue) {
        guard case .date(let date) = defaultsValue else { return nil }
        self = date
    }
}

extension URL: DefaultsRepresentable {
    /// An absolute URL.
    public var defaultsValue: DefaultsValue { .url(absoluteString) }
    /// Takes a URL, or a text as a file's path, in which `~` is the home directory; nil for a value of another kind.
    public init?(defaultsValue: DefaultsValue) {
        switch defaultsValue {
        case .url(let text):
            guard let url = URL(string: text) else { return nil }
            self = url
        case .string(let path):
            let isHome = path == "~" || path.hasPrefix("~/")
            self.init(filePath: isHome ? URL.homeDirectory.path() + path.dropFirst(2) : path)
        case .bool, .integer, .double, .float, .data, .date, .array, .dictionary, .json, .unknown: return nil
        }
    }
}

extension Array: DefaultsRepresentable where Element: DefaultsRepresentable {
    /// An array of the elements in their own forms.
    public var defaultsValue: DefaultsValue { .array(map(\.defaultsValue)) }
    /// Converts each element; nil where one cannot be an element.
    public init?(defaultsValue: DefaultsValue) {
        guard case .array(let values)? = defaultsValue.structured else { return nil }
        let elements = values.compactMap { Element(defaultsValue: $0) }
        if elements.count != values.count { return nil }
        self = elements
    }
}

extension Dictionary: DefaultsRepresentable where Key == String, Value: DefaultsRepresentable {
    /// A dictionary of the values in their own forms.
    public var defaultsValue: DefaultsValue { .dictionary(mapValues(\.defaultsValue)) }
    /// Converts each value; nil where one cannot be a value.
    public init?(defaultsValue: DefaultsValue) {
        guard case .dictionary(let values)? = defaultsValue.structured else { return nil }
        let members = values.compactMapValues { Value(defaultsValue: $0) }
        if members.count != values.count { return nil }
        self = members
    }
}

extension DefaultsValue: DefaultsRepresentable {
    /// The value itself.
    public var defaultsValue: DefaultsValue { self }
    /// Takes the value unchanged.
    public init?(defaultsValue: DefaultsValue) { self = defaultsValue }
}

extension GroupDefaults {
    /// Returns the truth value of a key; false where nothing is set, or no truth value: see `DefaultsValue.boolValue`.
    public func bool(forKey key: String) -> Bool { value(forKey: key)?.boolValue ?? false }

    /// Returns the whole number of a key; 0 where nothing is set, or no number: see `DefaultsValue.integerValue`.
    public func integer(forKey key: String) -> Int { value(forKey: key)?.integerValue ?? 0 }

    /// Returns the number of a key; 0 where nothing is set, or no number: see `DefaultsValue.doubleValue`.
    public func double(forKey key: String) -> Double { value(forKey: key)?.doubleValue ?? 0 }

    /// Returns the number of a key; 0 where nothing is set, or no number: see `DefaultsValue.floatValue`.
    public func float(forKey key: String) -> Float { value(forKey: key)?.floatValue ?? 0 }

    /// Returns the text of a key, or a number as a text: see `DefaultsValue.stringValue`.
    public func string(forKey key: String) -> String? { value(forKey: key)?.stringValue }

    /// Returns the data of a key; nil where nothing is set, or a value of another kind.
    public func data(forKey key: String) -> Data? { value(forKey: key).flatMap { Data(defaultsValue: $0) } }

    /// Returns the date of a key; nil where nothing is set, or a value of another kind.
    public func date(forKey key: String) -> Date? { value(forKey: key).flatMap { Date(defaultsValue: $0) } }

    /// Returns the URL of a key, or its text as a file's path.
    public func url(forKey key: String) -> URL? { value(forKey: key).flatMap { URL(defaultsValue: $0) } }

    /// Returns the array of a key; nil where nothing is set, or a value of another kind.
    public func array(forKey key: String) -> [DefaultsValue]? {
        value(forKey: key).flatMap { Array(defaultsValue: $0) }
    }

    /// Returns the texts of a key; nil where nothing is set, a value of another kind, or an element that is no text and
    /// no number.
    public func stringArray(forKey key: String) -> [String]? {
        value(forKey: key).flatMap { Array(defaultsValue: $0) }
    }

    /// Returns the dictionary of a key; nil where nothing is set, or a value of another kind.
    public func dictionary(forKey key: String) -> [String: DefaultsValue]? {
        value(forKey: key).flatMap { Dictionary(defaultsValue: $0) }
    }

    /// Sets a value of a type that is stored in its own form; nil removes it. See `set(_:forKey:durability:)`.
    @discardableResult
    public func set(
        _ value: (some DefaultsRepresentable)?, forKey key: String, durability: Durability = .relaxed
    ) throws(CoordinationError) -> Generation {
        try set(value?.defaultsValue, forKey: key, durability: durability)
    }
}
