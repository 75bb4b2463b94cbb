public import FoundationEssentials

/// The types that are kept as what they are.
extension Bool: DefaultsRepresentable {
    /// A truth value.
    public var defaultsValue: DefaultsValue { .bool(self) }
    /// See `DefaultsValue.boolValue`.
    public init?(defaultsValue: DefaultsValue) {
        guard let value = defaultsValue.boolValue else { return nil }
        self = value
    }
}

extension Int: DefaultsRepresentable {
    /// A whole number.
    public var defaultsValue: DefaultsValue { .integer(self) }
    /// See `DefaultsValue.integerValue`.
    public init?(defaultsValue: DefaultsValue) {
        guard let value = defaultsValue.integerValue else { return nil }
        self = value
    }
}

extension Double: DefaultsRepresentable {
    /// A number.
    public var defaultsValue: DefaultsValue { .double(self) }
    /// See `DefaultsValue.doubleValue`.
    public init?(defaultsValue: DefaultsValue) {
        guard let value = defaultsValue.doubleValue else { return nil }
        self = value
    }
}

extension Float: DefaultsRepresentable {
    /// A number.
    public var defaultsValue: DefaultsValue { .float(self) }
    /// See `DefaultsValue.floatValue`.
    public init?(defaultsValue: DefaultsValue) {
        guard let value = defaultsValue.floatValue else { return nil }
        self = value
    }
}

extension String: DefaultsRepresentable {
    /// A text.
    public var defaultsValue: DefaultsValue { .string(self) }
    /// See `DefaultsValue.stringValue`.
    public init?(defaultsValue: DefaultsValue) {
        guard let value = defaultsValue.stringValue else { return nil }
        self = value
    }
}

extension Data: DefaultsRepresentable {
    /// Bytes.
    public var defaultsValue: DefaultsValue { .data(Array(self)) }
    /// Only of data.
    public init?(defaultsValue: DefaultsValue) {
        guard case .data(let bytes) = defaultsValue else { return nil }
        self = Data(bytes)
    }
}

extension Date: DefaultsRepresentable {
    /// A moment.
    public var defaultsValue: DefaultsValue { .date(timeIntervalSinceReferenceDate) }
    /// Only of a date.
    public init?(defaultsValue: DefaultsValue) {
        guard case .date(let seconds) = defaultsValue else { return nil }
        self = Date(timeIntervalSinceReferenceDate: seconds)
    }
}

extension URL: DefaultsRepresentable {
    /// A URL, absolute.
    public var defaultsValue: DefaultsValue { .url(absoluteString) }
    /// Of a URL, or of a text, which is a file's path; `~` is the home directory.
    public init?(defaultsValue: DefaultsValue) {
        switch defaultsValue {
        case .url(let text):
            guard let url = URL(string: text) else { return nil }
            self = url
        case .string(let path):
            let isHome = path == "~" || path.hasPrefix("~/")
            self.init(filePath: isHome ? URL.homeDirectory.path() + path.dropFirst(2) : path)
        default: return nil
        }
    }
}

extension Array: DefaultsRepresentable where Element: DefaultsRepresentable {
    /// Each as what it is.
    public var defaultsValue: DefaultsValue { .array(map(\.defaultsValue)) }
    /// Only where each can be an element.
    public init?(defaultsValue: DefaultsValue) {
        guard case .array(let values)? = defaultsValue.structured else { return nil }
        let elements = values.compactMap { Element(defaultsValue: $0) }
        if elements.count != values.count { return nil }
        self = elements
    }
}

extension Dictionary: DefaultsRepresentable where Key == String, Value: DefaultsRepresentable {
    /// Each as what it is.
    public var defaultsValue: DefaultsValue { .dictionary(mapValues(\.defaultsValue)) }
    /// Only where each can be a value.
    public init?(defaultsValue: DefaultsValue) {
        guard case .dictionary(let values)? = defaultsValue.structured else { return nil }
        let members = values.compactMapValues { Value(defaultsValue: $0) }
        if members.count != values.count { return nil }
        self = members
    }
}

extension DefaultsValue: DefaultsRepresentable {
    /// Itself.
    public var defaultsValue: DefaultsValue { self }
    /// Itself.
    public init?(defaultsValue: DefaultsValue) { self = defaultsValue }
}

extension GroupDefaults {
    /// False where nothing is set, or what is set is no truth value: see `DefaultsValue.boolValue`.
    public func bool(forKey key: String) -> Bool { value(forKey: key)?.boolValue ?? false }

    /// 0 where nothing is set, or what is set is no number: see `DefaultsValue.integerValue`.
    public func integer(forKey key: String) -> Int { value(forKey: key)?.integerValue ?? 0 }

    /// 0 where nothing is set, or what is set is no number: see `DefaultsValue.doubleValue`.
    public func double(forKey key: String) -> Double { value(forKey: key)?.doubleValue ?? 0 }

    /// 0 where nothing is set, or what is set is no number: see `DefaultsValue.floatValue`.
    public func float(forKey key: String) -> Float { value(forKey: key)?.floatValue ?? 0 }

    /// A text, or a number as one: see `DefaultsValue.stringValue`.
    public func string(forKey key: String) -> String? { value(forKey: key)?.stringValue }

    /// Nil where something else is set.
    public func data(forKey key: String) -> Data? { value(forKey: key).flatMap { Data(defaultsValue: $0) } }

    /// Nil where something else is set.
    public func date(forKey key: String) -> Date? { value(forKey: key).flatMap { Date(defaultsValue: $0) } }

    /// Of a URL, or of a text, which is a file's path.
    public func url(forKey key: String) -> URL? { value(forKey: key).flatMap { URL(defaultsValue: $0) } }

    /// Nil where something else is set.
    public func array(forKey key: String) -> [DefaultsValue]? {
        value(forKey: key).flatMap { Array(defaultsValue: $0) }
    }

    /// Nil where something else is set, or one of its elements is no text and no number.
    public func stringArray(forKey key: String) -> [String]? {
        value(forKey: key).flatMap { Array(defaultsValue: $0) }
    }

    /// Nil where something else is set.
    public func dictionary(forKey key: String) -> [String: DefaultsValue]? {
        value(forKey: key).flatMap { Dictionary(defaultsValue: $0) }
    }

    /// Sets a value of a type that is kept as what it is; nil removes it. See `set(_:forKey:_:)`.
    @discardableResult
    public func set(
        _ value: (some DefaultsRepresentable)?, forKey key: String, _ durability: Durability = .relaxed
    ) throws(CoordinationError) -> UInt64 {
        try set(value?.defaultsValue, forKey: key, durability)
    }
}
