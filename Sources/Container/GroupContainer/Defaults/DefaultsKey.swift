import GroupLog
import GroupSystemCalls

/// A type whose values are stored in a form of their own, rather than as JSON.
public protocol DefaultsRepresentable {
    /// The stored form of the value.
    var defaultsValue: DefaultsValue { get }
    /// Converts a stored value as the typed readers of `GroupDefaults` do; nil where it cannot be a value of this type.
    init?(defaultsValue: DefaultsValue)
}

extension GroupDefaults {
    /// A key with its type and its default:
    ///
    ///     extension GroupDefaults.Key<Int> { static let opened = Self("opened", default: 0) }
    ///
    /// Values of types that are `DefaultsRepresentable` (numbers, texts, dates, data, URLs, arrays and dictionaries of
    /// these) are stored as such, so that any reader can convert them; others as JSON.
    public struct Key<Value: Sendable>: Sendable {
        /// The name of the key in the suite.
        public let name: String
        /// The value where nothing is set, or where what is set is of another type.
        public let defaultValue: Value
        let encode: @Sendable (Value) throws(CoordinationError) -> DefaultsValue
        let decode: @Sendable (DefaultsValue) throws(CoordinationError) -> Value
    }

    /// The present value of a key. Where the stored value cannot be a value of the type, the key's default; `read`
    /// throws instead.
    public subscript<Value>(key: Key<Value>) -> Value {
        guard let value = value(forKey: key.name) else { return key.defaultValue }
        return (try? key.decode(value)) ?? key.defaultValue
    }

    /// The present value of a key for a whole number. (A subscript that is not generic saves the look-up of its type.)
    public subscript(key: Key<Int>) -> Int { value(forKey: key.name)?.integerValue ?? key.defaultValue }

    /// The present value of a key for a truth value.
    public subscript(key: Key<Bool>) -> Bool { value(forKey: key.name)?.boolValue ?? key.defaultValue }

    /// The present value of a key for a number.
    public subscript(key: Key<Double>) -> Double { value(forKey: key.name)?.doubleValue ?? key.defaultValue }

    /// The present value of a key for a text.
    public subscript(key: Key<String>) -> String { value(forKey: key.name)?.stringValue ?? key.defaultValue }

    /// Returns the present value of a key, or its default where nothing is set. Errors: `invalidContent` where the
    /// stored value is no value of the type; `damaged`.
    public func read<Value>(_ key: Key<Value>) throws(CoordinationError) -> Value {
        try container.opened.locating { () throws(CoordinationError) -> Value in
            let stored = try readVersion(forKey: key.name).value
            guard let value = stored ?? fallbacks.withLock({ $0[key.name] }) else { return key.defaultValue }
            return try key.decode(value)
        }
    }

    /// Sets a key's value. See `set(_:forKey:durability:)`.
    @discardableResult
    public func set<Value>(
        _ value: Value, for key: Key<Value>, durability: Durability = .relaxed
    ) throws(CoordinationError) -> Generation {
        try set(try key.encode(value), forKey: key.name, durability: durability)
    }

    /// Removes a key's value; the key has its default then.
    public func remove<Value>(_ key: Key<Value>, durability: Durability = .relaxed) throws(CoordinationError) {
        try removeValue(forKey: key.name, durability: durability)
    }

    /// Reads, changes and sets a value, exactly, however many processes do so at once. Returns the value that was set.
    /// `body` may run more than once, where others set the key meanwhile; see `transaction`. A stored value that cannot
    /// be a value of the type is left as it is. Errors: `invalidContent`, and those of `set`.
    @discardableResult
    public func update<Value>(
        _ key: Key<Value>, durability: Durability = .relaxed, _ body: (inout Value) throws -> Void
    ) throws -> Value {
        var value = key.defaultValue
        try update(key.name, durability: durability) { stored in
            value = try stored.map { try key.decode($0) } ?? key.defaultValue
            try body(&value)
            return try encoded(value, for: key)
        }
        return value
    }

    private func encoded<Value>(_ value: Value, for key: Key<Value>) throws(CoordinationError) -> DefaultsValue {
        try container.opened.locating { () throws(CoordinationError) in try key.encode(value) }
    }

    /// The form of `update` without types: generic code that is not specialized costs more than everything else here.
    private func update(
        _ key: String, durability: Durability, _ body: (DefaultsValue?) throws -> DefaultsValue
    ) throws {
        let opened = container.opened
        let store = try opened.locating { () throws(CoordinationError) in
            try writableStore("update", durability)
        }
        var attempt = AppendAttempt()
        defer { attempt.end() }
        while true {
            let (entry, moment) = try opened.locating { () throws(CoordinationError) in
                try store.read(for: &attempt) { ($0.entries[key], $0.generation) }
            }
            let value = try body(entry?.value ?? fallbacks.withLock { $0[key] })
            let reads = SuiteReads(key: key, generation: entry?.generation ?? 0, at: moment)
            let end = try opened.locating { () throws(CoordinationError) in
                try store.append([.set(key, value.canonical)], if: reads, by: writer, &attempt)
            }
            guard let end else { continue }
            attempt.end()
            if durability != .durable { return }
            return try opened.locating { () throws(CoordinationError) in try store.synchronize(through: end) }
        }
    }
}

extension GroupDefaults.Key where Value: DefaultsRepresentable {
    /// Creates a key whose values are stored in their own form.
    public init(_ name: String, default defaultValue: Value) { self.init(representing: name, defaultValue) }

    private init(representing name: String, _ defaultValue: Value) {
        self.name = name
        self.defaultValue = defaultValue
        encode = { $0.defaultsValue }
        decode = { stored throws(CoordinationError) in
            guard let value = Value(defaultsValue: stored) else {
                throw CoordinationError(
                    .invalidContent, operation: "read", item: name,
                    reason: "the value is \(stored.kindName), and not \(Value.self); the value was not changed")
            }
            return value
        }
    }
}

extension GroupDefaults.Key where Value: DefaultsRepresentable & Codable {
    /// Creates a key whose values are stored in their own form.
    public init(_ name: String, default defaultValue: Value) { self.init(representing: name, defaultValue) }
}

extension DefaultsTransaction {
    /// The value of a key as this transaction has left it; the key's default where nothing is set, or a value of
    /// another type.
    public subscript<Value>(key: GroupDefaults.Key<Value>) -> Value {
        mutating get { value(forKey: key.name).flatMap { try? key.decode($0) } ?? key.defaultValue }
    }

    /// Sets a key's value. Error: `invalidContent` where it cannot be encoded.
    public mutating func set<Value>(_ value: Value, for key: GroupDefaults.Key<Value>) throws(CoordinationError) {
        set(try key.encode(value), forKey: key.name)
    }
}
