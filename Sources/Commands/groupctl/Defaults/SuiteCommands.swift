import GroupBytes
import GroupCommandLine
import GroupCommands
import GroupContainer

/// The result of a command.
enum SuiteAnswer {
    /// No output, except the fields with `--json`.
    case done([(String, JSONValue)])
    case value(DefaultsValue, key: String)
    case listing([String: DefaultsValue])
    case document(JSONValue)
    case propertyList(String)
}

/// The commands over one suite.
struct SuiteCommands {
    let defaults: GroupDefaults
    /// Whether standard input can be imported; in a batch it holds the commands.
    let mayReadInput: Bool

    func answer(to arguments: ParsedArguments) throws -> SuiteAnswer {
        guard let command = arguments.subcommands.last.flatMap(DefaultsCommand.init) else {
            throw arguments.usageError("missing a command")
        }
        switch command {
        case .get: return try get(arguments)
        case .set: return try set(arguments)
        case .delete: return try delete(arguments)
        case .increment: return try increment(arguments)
        case .list: return .listing(try members())
        case .importing: return try importFile(arguments)
        case .export: return try export(arguments)
        case .clear:
            // Clearing a suite that does not exist does not create it.
            if defaults.mark != nil { try defaults.removeAll() }
            return .done([("outcome", "cleared")])
        case .flush:
            try defaults.flush()
            return .done([("outcome", "flushed")])
        }
    }

    private func text(_ name: String, _ arguments: ParsedArguments) throws(UsageError) -> String {
        guard let text = arguments.positional(name)?.validText else {
            throw arguments.usageError("\(name) is not valid UTF-8")
        }
        return text
    }

    private func get(_ arguments: ParsedArguments) throws -> SuiteAnswer {
        let key = try text("KEY", arguments)
        let fallback = try arguments.text("default")
        if let value = try defaults.readVersion(forKey: key).value { return .value(value, key: key) }
        if let fallback { return .value(.string(fallback), key: key) }
        throw CoordinationError.noSuchKey(key, in: defaults, operation: "get")
    }

    private func set(_ arguments: ParsedArguments) throws -> SuiteAnswer {
        let key = try text("KEY", arguments)
        let name = try arguments.text("type") ?? ValueType.string.rawValue
        guard let type = ValueType(rawValue: name) else {
            let known = ValueType.allCases.map(\.rawValue).joined(separator: ", ")
            throw arguments.usageError(
                "--type: '\(PipeText.escaped(Array(name.utf8)))' is not a type; the types are \(known)")
        }
        let value: DefaultsValue
        do throws(ValueType.Fault) {
            value = try type.value(of: arguments.positional("VALUE") ?? [])
        } catch {
            throw arguments.usageError("VALUE: \(error)")
        }
        let durability: Durability = arguments.flag("durable") ? .durable : .relaxed
        if let expected = arguments.value("if") {
            try set(value, key, ifPresent: (expected, type), durability: durability)
        } else {
            try defaults.set(value, forKey: key, durability: durability)
        }
        return .done([("key", .string(key)), ("outcome", "set")])
    }

    private func set(
        _ value: DefaultsValue, _ key: String, ifPresent expected: (word: [UInt8], type: ValueType),
        durability: Durability
    ) throws {
        let sameType = try? expected.type.value(of: expected.word)
        try defaults.transaction(durability: durability) { transaction in
            let present = transaction.storedValue(forKey: key)
            let shown = try? present?.plainText()
            guard let present, isSame(present, as: sameType, expected.word, shown) else {
                let now = shown.map { "is '\(PipeText.escaped(Array($0.prefix(100).utf8)))'" } ?? "is another one"
                throw CoordinationError.ofDefaults(
                    .conflict, operation: "set", key, in: defaults,
                    reason: present == nil ? "nothing is set" : "the value \(now)",
                    remedy: .ofCommand("read the value again, and decide again"))
            }
            transaction.set(value, forKey: key)
        }
    }

    /// Returns whether a value is the one that --if names: by its type, as it is printed, or, unless it is a text, as
    /// JSON.
    private func isSame(
        _ present: DefaultsValue, as typed: DefaultsValue?, _ word: [UInt8], _ shown: String?
    ) -> Bool {
        if typed.map(present.isSame) == true || shown.map({ Array($0.utf8) }) == word { return true }
        switch present {
        case .string, .url, .data, .unknown: return false
        case .bool, .integer, .double, .float, .date, .array, .dictionary, .json: return present.isSame(as: .json(word))
        }
    }

    private func delete(_ arguments: ParsedArguments) throws -> SuiteAnswer {
        let key = try text("KEY", arguments)
        let missing = CoordinationError.noSuchKey(key, in: defaults, operation: "delete")
        if try defaults.readVersion(forKey: key).value == nil { throw missing }
        try defaults.transaction { transaction in
            if transaction.storedValue(forKey: key) == nil { throw missing }
            transaction.set(nil, forKey: key)
        }
        return .done([("key", .string(key)), ("outcome", "removed")])
    }

    private func increment(_ arguments: ParsedArguments) throws -> SuiteAnswer {
        let key = try text("KEY", arguments)
        let word = arguments.positional("N") ?? Array("1".utf8)
        guard let step = word.validText.flatMap({ Int($0) }) else {
            throw arguments.usageError("N: '\(PipeText.escaped(word))' is not an integer of 64 bits")
        }
        let sum = try defaults.transaction { transaction in
            let present = try number(transaction.storedValue(forKey: key), key)
            if case .integer? = transaction.storedValue(forKey: key) {
            } else if present != 0 {
                // A text that is a number becomes one.
                transaction.set(.integer(present), forKey: key)
            }
            if present.addingReportingOverflow(step).overflow {
                throw invalid(key, "the sum of \(present) and \(step) is beyond 64 bits")
            }
            return try transaction.increment(key, by: step)
        }
        return .value(.integer(sum), key: key)
    }

    /// Returns the number that is set, 0 if there is none. A text that is a whole number counts, because `set` without
    /// a type sets a text.
    private func number(_ value: DefaultsValue?, _ key: String) throws(CoordinationError) -> Int {
        switch value {
        case nil: return 0
        case .integer(let number)?: return number
        case .string(let text)?:
            if let number = Int(text) { return number }
            throw invalid(key, "the value is a text, and not a whole number")
        case let value?: throw invalid(key, "the value is of type \(value.typeName), and not a whole number")
        }
    }

    private func invalid(_ key: String, _ reason: String) -> CoordinationError {
        .ofDefaults(
            .invalidContent, operation: "increment", key, in: defaults, reason: "\(reason); the value was not changed")
    }

    /// Returns all keys and values. Throws if the suite is damaged, where the library's own reading continues with what
    /// is intact.
    func members() throws(CoordinationError) -> [String: DefaultsValue] {
        _ = try defaults.readVersion(forKey: "")
        return defaults.dictionaryRepresentation()
    }
}
