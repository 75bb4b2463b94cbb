import GroupBytes
import GroupCommandLine
import GroupCommands
import GroupContainer

/// What a client calls a request: a whole number or a text. What a request makes and leaves (a lock, a stream, a
/// listener, a refresh) has the request's id.
enum RequestID: Hashable, Sendable {
    case number(Int64)
    /// By its bytes: texts that are canonically equivalent are two ids.
    case text([UInt8])

    private static let longest = 256

    init?(_ json: JSONValue?) {
        switch json {
        case .integer(let number)?: self = .number(number)
        case .string(let text)? where !text.isEmpty && text.utf8.count <= Self.longest: self = .text(Array(text.utf8))
        default: return nil
        }
    }

    var json: JSONValue {
        switch self {
        case .number(let number): .integer(number)
        case .text(let bytes): .string(String(decoding: bytes, as: UTF8.self))
        }
    }
}

/// A line of a client: an id, an operation, and members that the operation knows. Errors of its members are
/// `invalidArgument`, and name the member.
struct Request: Sendable {
    let id: RequestID
    let operation: Operation
    private var members: [String: JSONValue]

    /// The levels that a request may nest: as many as a value that a program has set as JSON, and those around it.
    private static let deepest = 520
    private static let longestWait: Int64 = 1 << 40

    /// Why a line is no request, and its id if it has one.
    struct Fault: Error {
        var id: RequestID?
        var error: CoordinationError
    }

    init(line: [UInt8]) throws(Fault) {
        let json: JSONValue
        do throws(TextFault) { json = try JSONReader.value(of: line, deepest: Self.deepest) } catch {
            throw Fault(error: GroupServing.invalid("read a request", "it is not JSON: \(error.what)"))
        }
        guard case .object(let pairs) = json else {
            throw Fault(
                error: GroupServing.invalid("read a request", #"it is no object, such as {"id":1,"do":"status"}"#))
        }
        // The reader refuses a name that appears twice.
        let members = Dictionary(pairs) { first, _ in first }
        guard let id = RequestID(members["id"]) else {
            throw Fault(
                error: GroupServing.invalid(
                    "read a request", "its id is no whole number and no text of 1 to 256 bytes"))
        }
        do throws(CoordinationError) { try self.init(id, members) } catch { throw Fault(id: id, error: error) }
    }

    private init(_ id: RequestID, _ all: [String: JSONValue]) throws(CoordinationError) {
        self.id = id
        var members = all
        members["id"] = nil
        guard case .string(let name)? = members.removeValue(forKey: "do") else {
            throw GroupServing.invalid("read a request", "the text 'do' is missing, which names what to do")
        }
        guard let operation = Operation(rawValue: name) else {
            let meant = Self.meant(name, among: Operation.allCases.map(\.rawValue))
            throw GroupServing.invalid("read a request", "there is no operation '\(shown(name))'\(meant)")
        }
        self.operation = operation
        self.members = members
        if let name = members.keys.sorted().first(where: { !operation.members.contains($0) }) {
            let meant = Self.meant(name, among: operation.members.sorted())
            throw invalid("'\(shown(name))' is no member of this operation\(meant)")
        }
    }

    private static func meant(_ name: String, among known: [String]) -> String {
        NearestName.among(known, to: name).map { "; did you mean '\($0)'?" } ?? ""
    }

    /// Returns the changes of a transaction, each of which is like a request without an id.
    func changes() throws(CoordinationError) -> [Request] {
        guard case .array(let elements)? = members["changes"], !elements.isEmpty else {
            throw invalid("'changes' is an array of requests without ids, such as {\"do\":\"write\",…}")
        }
        var changes: [Request] = []
        for element in elements {
            guard case .object(let pairs) = element else { throw invalid("one of the changes is no object") }
            let change = try Request(id, Dictionary(pairs) { first, _ in first })
            if let name = ["timeout", "durable", "lock"].first(where: { change.has($0) }) {
                throw invalid("'\(name)' belongs to the whole transaction, and not to one of its changes")
            }
            changes.append(change)
        }
        return changes
    }

    /// This request with a timeout of 0; nil where its own timeout is wrong.
    var tryingOnce: Request? {
        do throws(CoordinationError) { _ = try timeout() } catch { return nil }
        var request = self
        request.members["timeout"] = 0
        return request
    }

    func invalid(_ reason: String) -> CoordinationError { GroupServing.invalid(operation.rawValue, reason) }

    /// Whether the member is there, and is not null.
    func has(_ name: String) -> Bool {
        if case .null? = members[name] { return false }
        return members[name] != nil
    }

    subscript(name: String) -> JSONValue? { members[name] }

    func flag(_ name: String, unless standard: Bool = false) throws(CoordinationError) -> Bool {
        switch members[name] {
        case nil, .null?: return standard
        case .bool(let value)?: return value
        default: throw invalid("'\(name)' is true or false")
        }
    }

    func textIfPresent(_ name: String) throws(CoordinationError) -> String? {
        switch members[name] {
        case nil, .null?: return nil
        case .string(let text)?: return text
        default: throw invalid("'\(name)' is a text")
        }
    }

    func text(_ name: String) throws(CoordinationError) -> String {
        guard let text = try textIfPresent(name) else { throw invalid("the text '\(name)' is missing") }
        return text
    }

    func texts(_ name: String) throws(CoordinationError) -> [String]? {
        switch members[name] {
        case nil, .null?: return nil
        case .array(let elements)?:
            var texts: [String] = []
            for element in elements {
                guard case .string(let text) = element else { throw invalid("'\(name)' is an array of texts") }
                texts.append(text)
            }
            return texts
        default: throw invalid("'\(name)' is an array of texts")
        }
    }

    /// Returns paths: the members of the name and, for paths that are not UTF-8, of the one with `Bytes` after it.
    func paths(_ name: String) throws(CoordinationError) -> [ItemPath] {
        var paths = try texts(name)?.map { ItemPath($0) } ?? []
        for text in try texts(name + "Bytes") ?? [] {
            guard let bytes = Base64.decoded(text.utf8) else { throw invalid("'\(name)Bytes' is not base64") }
            paths.append(ItemPath(bytes: bytes))
        }
        return paths
    }

    func numberIfPresent(_ name: String) throws(CoordinationError) -> Int64? {
        switch members[name] {
        case nil, .null?: return nil
        case .integer(let number)?: return number
        default: throw invalid("'\(name)' is a whole number of at most 64 bits")
        }
    }

    func number(_ name: String) throws(CoordinationError) -> Int64 {
        guard let number = try numberIfPresent(name) else { throw invalid("the number '\(name)' is missing") }
        return number
    }

    /// Returns a time in milliseconds; nil without one.
    func milliseconds(_ name: String) throws(CoordinationError) -> Duration? {
        guard let number = try numberIfPresent(name) else { return nil }
        guard (0...Self.longestWait).contains(number) else { throw invalid("'\(name)' is a time in milliseconds") }
        return .milliseconds(number)
    }

    /// Returns how long to wait for locks; nil for the member null: without a limit.
    func timeout() throws(CoordinationError) -> Duration? {
        if members["timeout"] == nil { return Coordinator.lockTimeout }
        return try milliseconds("timeout")
    }

    func durability(unless standard: Durability = .durable) throws(CoordinationError) -> Durability {
        try flag("durable", unless: standard == .durable) ? .durable : .relaxed
    }

    func condition() throws(CoordinationError) -> WriteCondition {
        switch members["ifGeneration"] {
        case nil: return .always
        case .string("absent")?: return .absent
        case .integer(let number)? where number >= 0: return .generation(Generation(rawValue: UInt64(number)))
        // Null is what an answer has where there is no item: a client that passes it on has not decided.
        default: throw invalid(#"'ifGeneration' is a generation or "absent"; without a condition, leave it out"#)
        }
    }

    /// Returns the permissions for a file, which are written in octal digits as for chmod(1).
    func mode() throws(CoordinationError) -> UInt32? {
        guard let text = try textIfPresent("mode") else { return nil }
        guard let mode = UInt32(text, radix: 8), mode <= 0o7777 else {
            throw invalid("'mode' is a text of octal digits, such as \"640\"")
        }
        return mode
    }

    /// Returns a path: the member of the name or, for a path that is not UTF-8, the one with `Bytes` after it.
    func pathIfPresent(_ name: String) throws(CoordinationError) -> ItemPath? {
        if let bytes = try base64(name + "Bytes") {
            if has(name) { throw invalid("'\(name)' and '\(name)Bytes' exclude each other") }
            return ItemPath(bytes: bytes)
        }
        return try textIfPresent(name).map { ItemPath($0) }
    }

    func path(_ name: String = "path") throws(CoordinationError) -> ItemPath {
        guard let path = try pathIfPresent(name) else { throw invalid("the text '\(name)' is missing") }
        return path
    }

    /// Returns a content: `text`, or `bytes` in base64; nil without either.
    func contentIfPresent() throws(CoordinationError) -> [UInt8]? {
        guard let bytes = try base64("bytes") else { return try textIfPresent("text").map { Array($0.utf8) } }
        if has("text") { throw invalid("'text' and 'bytes' exclude each other") }
        return bytes
    }

    func content() throws(CoordinationError) -> [UInt8] {
        guard let content = try contentIfPresent() else {
            throw invalid("a content is missing: 'text', or 'bytes' in base64")
        }
        return content
    }

    private func base64(_ name: String) throws(CoordinationError) -> [UInt8]? {
        guard let text = try textIfPresent(name) else { return nil }
        guard let bytes = Base64.decoded(text.utf8) else { throw invalid("'\(name)' is not base64") }
        return bytes
    }

    /// Returns the id of an earlier request.
    func earlier(_ name: String) throws(CoordinationError) -> RequestID? {
        if !has(name) { return nil }
        guard let id = RequestID(members[name]) else { throw invalid("'\(name)' is the id of an earlier request") }
        return id
    }

    /// Returns the position from which to follow.
    func origin() throws(CoordinationError) -> ChangeOrigin {
        switch try textIfPresent("since") {
        case nil, "now"?: return .now
        case "start"?: return .start
        case "snapshot"?: return .snapshot
        case let text?:
            guard let cursor = Cursor(text) else {
                throw invalid(#"'since' is a cursor, "now", "start" or "snapshot""#)
            }
            return .cursor(cursor)
        }
    }
}

/// The error of a request that is wrong.
func invalid(_ operation: String, _ reason: String) -> CoordinationError {
    CoordinationError(.invalidArgument, operation: operation, reason: reason)
}

func shown(_ text: String) -> String { PipeText.escaped(Array(text.utf8.prefix(100))) }
