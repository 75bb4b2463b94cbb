package import CGroupInterface
import FoundationEssentials
import GroupContainer

/// A suite that a C program has opened.
private final class OpenedSuite: Sendable {
    let defaults: GroupDefaults
    init(_ defaults: GroupDefaults) { self.defaults = defaults }
}

/// A value as C has it, before its bytes are copied.
private struct FlatValue {
    var type: Int
    var integer: Int64 = 0
    var real = 0.0
    var bytes: [UInt8] = []
    var generation: UInt64 = 0

    init(_ value: DefaultsValue, generation: UInt64 = 0) {
        self.generation = generation
        type = GROUP_UNKNOWN_VALUE
        switch value {
        case .bool(let value): (type, integer) = (GROUP_BOOL, value ? 1 : 0)
        case .integer(let value): (type, integer) = (GROUP_INTEGER, Int64(value))
        case .double(let value): (type, real) = (GROUP_DOUBLE, value)
        case .float(let value): (type, real) = (GROUP_DOUBLE, Double(value))
        case .string(let value): (type, bytes) = (GROUP_STRING, Array(value.utf8))
        case .data(let value): (type, bytes) = (GROUP_DATA, value)
        case .date(let value): (type, real) = (GROUP_DATE, value.timeIntervalSinceReferenceDate)
        case .url(let value): (type, bytes) = (GROUP_URL, Array(value.utf8))
        case .json(let value): (type, bytes) = (GROUP_JSON, value)
        case .array, .dictionary: if let json = value.jsonBytes { (type, bytes) = (GROUP_JSON, json) }
        case .unknown: break
        }
    }

    var room: Int { bytes.count + 1 }

    func written<Whole>(to block: inout Block<Whole>) -> group_value {
        unsafe group_value(
            type: Int32(type), integer: integer, real: real, text: block.path(bytes), length: bytes.count,
            generation: generation)
    }
}

/// Reads a value of the caller; nil for NULL. Errors: `invalidArgument`, `invalidContent`
private func value(
    _ value: UnsafePointer<group_value>?, _ operation: String
) throws(CoordinationError) -> DefaultsValue? {
    guard let value = unsafe value else { return nil }
    let given = unsafe value.pointee
    func content() throws(CoordinationError) -> [UInt8] { try unsafe bytes(given.text, given.length, operation) }
    func text() throws(CoordinationError) -> String {
        guard let text = String(validating: try content(), as: UTF8.self) else {
            throw invalid(operation, nil, "the value is not UTF-8")
        }
        return text
    }
    switch unsafe Int(given.type) {
    case GROUP_BOOL: return .bool(unsafe given.integer != 0)
    case GROUP_INTEGER: return .integer(Int(unsafe given.integer))
    case GROUP_DOUBLE: return .double(unsafe given.real)
    case GROUP_STRING: return .string(try text())
    case GROUP_DATA: return .data(try content())
    case GROUP_DATE: return .date(Date(timeIntervalSinceReferenceDate: unsafe given.real))
    case GROUP_URL: return .url(try text())
    case GROUP_JSON:
        let json = try content()
        if DefaultsValue(parsingJSON: json) == nil && json != Array("null".utf8) {
            throw CoordinationError(
                .invalidContent, operation: operation, reason: "the value is no JSON, or is nested too deep")
        }
        return .json(json)
    default: throw unsafe invalid(operation, nil, "\(given.type) is no type of a value that can be set")
    }
}

@c @implementation package func group_value_free(_ value: UnsafeMutablePointer<group_value>?) { unsafe release(value) }

@c @implementation package func group_defaults_open(
    _ container: OpaquePointer?, _ suite: UnsafePointer<CChar>?, _ defaults: UnsafeMutablePointer<OpaquePointer?>?,
    _ error: ErrorPointer?
) -> group_status {
    unsafe answering("open", error) {
        let opened = try unsafe OpenedContainer.of(container)
        let suite = try unsafe text(suite, "open", "the suite") ?? "standard"
        try unsafe set(defaults) {
            unsafe Handles.add(
                OpenedSuite(try GroupDefaults(opened.container, suite: suite, purpose: opened.purpose)))
        }
    }
}

@c @implementation package func group_defaults_close(_ defaults: OpaquePointer?) {
    unsafe Handles.remove(defaults, as: OpenedSuite.self)
}

@c @implementation package func group_defaults_get(
    _ defaults: OpaquePointer?, _ key: UnsafePointer<CChar>?,
    _ result: UnsafeMutablePointer<UnsafeMutablePointer<group_value>?>?, _ error: ErrorPointer?
) -> group_status {
    unsafe answering("read", error) {
        let suite = try unsafe Handles.object(defaults, as: OpenedSuite.self)
        let key = try unsafe name(key, "read", "the key")
        try unsafe set(result) {
            let version = try suite.defaults.readVersion(forKey: key)
            guard let present = version.value else { throw Outcome.nothing }
            let flat = FlatValue(present, generation: version.generation.rawValue)
            guard var block = unsafe Block<group_value>(room: flat.room) else { throw noMemory("read") }
            let value = unsafe flat.written(to: &block)
            return unsafe block.finish(value)
        }
    }
}

@c @implementation package func group_defaults_generation(_ defaults: OpaquePointer?) -> UInt64 {
    guard let suite = try? unsafe Handles.object(defaults, as: OpenedSuite.self) else { return 0 }
    return (try? suite.defaults.readGeneration())?.rawValue ?? 0
}

/// Changes a key.
private func change(
    _ operation: String, _ defaults: OpaquePointer?, _ key: UnsafePointer<CChar>?,
    _ options: UnsafePointer<group_options>?, _ error: ErrorPointer?,
    _ body: (GroupDefaults, String, Options) throws -> Void
) -> group_status {
    unsafe answering(operation, error) {
        let suite = try unsafe Handles.object(defaults, as: OpenedSuite.self)
        // A key's change is visible at once, and need not be on the disk: as in `GroupDefaults`.
        let options = try unsafe Options(options, operation, durability: .relaxed)
        try body(suite.defaults, try unsafe name(key, operation, "the key"), options)
    }
}

@c @implementation package func group_defaults_set(
    _ defaults: OpaquePointer?, _ key: UnsafePointer<CChar>?, _ newValue: UnsafePointer<group_value>?,
    _ options: UnsafePointer<group_options>?, _ generation: UnsafeMutablePointer<UInt64>?, _ error: ErrorPointer?
) -> group_status {
    unsafe change("set", defaults, key, options, error) { defaults, key, options in
        let new = try defaults.set(
            try unsafe value(newValue, "set"), forKey: key, if: options.condition, durability: options.durability)
        unsafe generation?.pointee = new.rawValue
    }
}

@c @implementation package func group_defaults_compare_and_set(
    _ defaults: OpaquePointer?, _ key: UnsafePointer<CChar>?, _ expected: UnsafePointer<group_value>?,
    _ newValue: UnsafePointer<group_value>?, _ options: UnsafePointer<group_options>?, _ error: ErrorPointer?
) -> group_status {
    unsafe change("set", defaults, key, options, error) { defaults, key, options in
        let isSet = try defaults.compareAndSet(
            forKey: key, from: try unsafe value(expected, "set"), to: try unsafe value(newValue, "set"),
            durability: options.durability)
        if !isSet { throw Outcome.nothing }
    }
}

@c @implementation package func group_defaults_increment(
    _ defaults: OpaquePointer?, _ key: UnsafePointer<CChar>?, _ by: Int64, _ options: UnsafePointer<group_options>?,
    _ sum: UnsafeMutablePointer<Int64>?, _ error: ErrorPointer?
) -> group_status {
    unsafe change("increment", defaults, key, options, error) { defaults, key, options in
        let new = try defaults.increment(key, by: Int(by), durability: options.durability)
        unsafe sum?.pointee = Int64(new)
    }
}

@c @implementation package func group_defaults_keys(
    _ defaults: OpaquePointer?, _ keys: UnsafeMutablePointer<UnsafeMutablePointer<group_items>?>?,
    _ error: ErrorPointer?
) -> group_status {
    unsafe answering("list", error) {
        let suite = try unsafe Handles.object(defaults, as: OpenedSuite.self)
        try unsafe set(keys) {
            let keys = try suite.defaults.transaction { $0.dictionaryRepresentation().keys.sorted() }
            return try unsafe list(keys.map { ListedItem(path: Array($0.utf8)) })
        }
    }
}

@c @implementation package func group_defaults_follow(
    _ defaults: OpaquePointer?, _ keys: UnsafePointer<UnsafePointer<CChar>?>?, _ since: UnsafePointer<CChar>?,
    _ follower: UnsafeMutablePointer<OpaquePointer?>?, _ error: ErrorPointer?
) -> group_status {
    unsafe answering("follow", error) {
        let suite = try unsafe Handles.object(defaults, as: OpenedSuite.self)
        let names = try unsafe list(keys, "follow", "the keys")?.map { bytes throws(CoordinationError) in
            guard let key = String(validating: bytes, as: UTF8.self) else {
                throw invalid("follow", nil, "a key is not UTF-8")
            }
            return key
        }
        let origin = try unsafe origin(since, "follow")
        try unsafe set(follower) {
            let changes = try suite.defaults.follow(of: names.map { Set($0) }, since: origin)
            return unsafe Handles.add(try PolledFollower(changes))
        }
    }
}

@c @implementation package func group_key_follower_descriptor(_ follower: OpaquePointer?) -> Int32 {
    unsafe descriptor(follower, PolledFollower<DefaultsChange>.self)
}

@c @implementation package func group_key_follower_next(
    _ follower: OpaquePointer?, _ timeout: Int64, _ cancellation: OpaquePointer?,
    _ change: UnsafeMutablePointer<UnsafeMutablePointer<group_key_change>?>?, _ error: ErrorPointer?
) -> group_status {
    unsafe next(
        { () throws(CoordinationError) in
            try unsafe Handles.object(follower, as: PolledFollower<DefaultsChange>.self)
        }, timeout, cancellation, change, error
    ) { (change: DefaultsChange) throws(CoordinationError) in try unsafe describe(change)
    }
}

extension DefaultsChange.Kind {
    fileprivate var number: Int32 {
        switch self {
        case .set, .removed, .cleared: Int32(GROUP_MODIFIED)
        case .present: Int32(GROUP_PRESENT)
        case .rescan: Int32(GROUP_RESCAN)
        case .degraded: Int32(GROUP_DEGRADED)
        }
    }
}

private func describe(_ change: DefaultsChange) throws(CoordinationError) -> UnsafeMutablePointer<group_key_change> {
    let values = [change.oldValue, change.newValue].map { $0.map { FlatValue($0) } }
    let cursor = change.cursor.description
    let texts = [change.key, change.suite, change.author?.purpose, cursor]
    let room = unsafe texts.reduce(2 * MemoryLayout<group_value>.stride) { $0 + ($1.map { $0.utf8.count + 1 } ?? 0) }
    guard var block = unsafe Block<group_key_change>(room: values.reduce(room) { $0 + ($1?.room ?? 0) }),
        let place = unsafe block.array(of: group_value.self, count: 2)
    else { throw noMemory("follow") }
    for (index, value) in values.enumerated() {
        if let value { unsafe place[index] = unsafe value.written(to: &block) }
    }
    return unsafe block.finish(
        unsafe group_key_change(
            key: block.text(change.key), suite: block.text(change.suite),
            old_value: values[0] == nil ? nil : UnsafePointer(place),
            new_value: values[1] == nil ? nil : UnsafePointer(place + 1), generation: change.generation.rawValue,
            author_process: change.author?.processIdentifier ?? 0, author_purpose: block.text(change.author?.purpose),
            cursor: block.text(cursor), kind: change.kind.number))
}

@c @implementation package func group_key_change_free(_ change: UnsafeMutablePointer<group_key_change>?) {
    unsafe release(change)
}

@c @implementation package func group_key_follower_close(_ follower: OpaquePointer?) {
    unsafe Handles.remove(follower, as: PolledFollower<DefaultsChange>.self)
}
