import GroupSystemCalls

/// A type whose values are kept as what they are, rather than as JSON.
public protocol DefaultsRepresentable {
    /// What is stored.
    var defaultsValue: DefaultsValue { get }
    /// Nil where a stored value cannot be one of this type; conversions are those of `GroupDefaults`' readers.
    init?(defaultsValue: DefaultsValue)
}

extension GroupDefaults {
    /// A key with its type and what it has where nothing is set:
    ///
    ///     extension GroupDefaults.Key<Int> { static let opened = Self("opened", default: 0) }
    ///
    /// Values of types that are `DefaultsRepresentable` (numbers, texts, dates, data, URLs, arrays and dictionaries of
    /// these) are kept as such, so that any reader can convert them; others as JSON.
    public struct Key<Value: Sendable>: Sendable {
        /// Its name in the suite.
        public let name: String
        /// What it has where nothing is set, or what is set is of another type.
        public let fallback: Value
        let encode: @Sendable (Value) throws(CoordinationError) -> DefaultsValue
        let decode: @Sendable (DefaultsValue) throws(CoordinationError) -> Value
    }

    /// A key's value now. Where what is set cannot be a value of the type, the key's default: `read` says so instead.
    public subscript<Value>(key: Key<Value>) -> Value {
        guard let value = value(forKey: key.name) else { return key.fallback }
        return (try? key.decode(value)) ?? key.fallback
    }

    /// The same for a whole number. (What is not generic need not look up what it is about.)
    public subscript(key: Key<Int>) -> Int { value(forKey: key.name)?.integerValue ?? key.fallback }

    /// The same for a truth value.
    public subscript(key: Key<Bool>) -> Bool { value(forKey: key.name)?.boolValue ?? key.fallback }

    /// The same for a number.
    public subscript(key: Key<Double>) -> Double { value(forKey: key.name)?.doubleValue ?? key.fallback }

    /// The same for a text.
    public subscript(key: Key<String>) -> String { value(forKey: key.name)?.stringValue ?? key.fallback }

    /// A key's value now, or its default; see the first subscript. Errors: `invalidContent` where what is set is no
    /// value of the type; `damaged`
    public func read<Value>(_ key: Key<Value>) throws(CoordinationError) -> Value {
        let stored = try versionedValue(forKey: key.name).value
        guard let value = stored ?? fallbacks.withLock({ $0[key.name] }) else { return key.fallback }
        return try key.decode(value)
    }

    /// Sets a key's value. See `set(_:forKey:_:)`.
    @discardableResult
    public func set<Value>(
        _ value: Value, for key: Key<Value>, _ durability: Durability = .relaxed
    ) throws(CoordinationError) -> UInt64 {
        try set(try key.encode(value), forKey: key.name, durability)
    }

    /// Nothing is set then, and the key has its default.
    public func remove<Value>(_ key: Key<Value>, _ durability: Durability = .relaxed) throws(CoordinationError) {
        try removeValue(forKey: key.name, durability)
    }

    /// Reads, changes and sets a value: exact, however many do so at once, in all processes. `body` may run more than
    /// once, where the key is set by others meanwhile; see `transaction`. What is set is returned. Where what was set
    /// cannot be a value of the type, it is left as it is. Errors: `invalidContent`, and those of `set`.
    @discardableResult
    public func update<Value>(
        _ key: Key<Value>, _ durability: Durability = .relaxed, _ body: (inout Value) throws -> Void
    ) throws -> Value {
        var value = key.fallback
        try update(key.name, durability) { stored in
            value = try stored.map { try key.decode($0) } ?? key.fallback
            try body(&value)
            return try key.encode(value)
        }
        return value
    }

    /// The same without types, which cost more than all else here where they are not known.
    private func update(
        _ key: String, _ durability: Durability, _ body: (DefaultsValue?) throws -> DefaultsValue
    ) throws {
        let store = try writableStore("update")
        var attempt = AppendAttempt()
        defer { attempt.end() }
        while true {
            let (entry, moment) = try store.read(for: &attempt) { ($0.entries[key], $0.generation) }
            let value = try body(entry?.value ?? fallbacks.withLock { $0[key] })
            let reads = SuiteReads(key: key, generation: entry?.generation ?? 0, at: moment)
            guard let place = try store.append([.set(key, value)], if: reads, by: writer, &attempt) else { continue }
            attempt.end()
            if durability == .durable { try store.synchronize(through: place) }
            return
        }
    }
}

extension GroupDefaults.Key where Value: DefaultsRepresentable {
    /// A key whose values are kept as what they are.
    public init(_ name: String, default fallback: Value) { self.init(representing: name, fallback) }

    private init(representing name: String, _ fallback: Value) {
        (self.name, self.fallback) = (name, fallback)
        encode = { $0.defaultsValue }
        decode = { stored throws(CoordinationError) in
            guard let value = Value(defaultsValue: stored) else {
                throw CoordinationError(
                    .invalidContent, item: name, operation: "read",
                    cause: "what is set is \(stored.kindName), and not \(Value.self)", advice: "it was left as it is")
            }
            return value
        }
    }
}

extension GroupDefaults.Key where Value: DefaultsRepresentable & Codable {
    /// A key whose values are kept as what they are.
    public init(_ name: String, default fallback: Value) { self.init(representing: name, fallback) }
}

extension DefaultsTransaction {
    /// A key's value, as this transaction has left it; its default where nothing is set, or something else.
    public subscript<Value>(key: GroupDefaults.Key<Value>) -> Value {
        mutating get { value(forKey: key.name).flatMap { try? key.decode($0) } ?? key.fallback }
    }

    /// Sets a key's value. Error: `invalidContent` where it cannot be encoded.
    public mutating func set<Value>(_ value: Value, for key: GroupDefaults.Key<Value>) throws(CoordinationError) {
        set(try key.encode(value), forKey: key.name)
    }
}
