import GroupBytes
import GroupCommandLine
import GroupCommands
import GroupContainer

extension Connection {
    func suite(_ request: Request) throws -> GroupDefaults {
        try GroupDefaults(
            container, suite: request.textIfPresent("suite") ?? "standard", purpose: purpose)
    }

    private func members(_ value: DefaultsValue?) throws(CoordinationError) -> [(String, JSONValue)] {
        guard let value else { return [("value", .null), ("type", .null)] }
        do throws(NoForm) { return [("value", try value.json()), ("type", .string(value.typeName))] } catch {
            throw CoordinationError(.invalidContent, operation: "get", reason: "\(error)")
        }
    }

    func get(_ request: Request) throws -> JSONValue {
        let version = try suite(request).readVersion(forKey: try request.text("key"))
        return .object(try members(version.value) + [("generation", .unsigned(version.generation.rawValue))])
    }

    func set(_ request: Request) throws -> JSONValue {
        let (key, value) = (try request.text("key"), try value(request))
        let generation = try suite(request).set(
            value, forKey: key, if: try request.condition(), durability: try request.durability(unless: .relaxed))
        return ["generation": .unsigned(generation.rawValue)]
    }

    /// Returns the value that a request has; nil for null, which removes the key.
    private func value(_ request: Request) throws(CoordinationError) -> DefaultsValue? {
        guard let json = request["value"] else {
            throw request.invalid("'value' is missing; null removes the key")
        }
        guard let name = try request.textIfPresent("type") else {
            return request.has("value") ? DefaultsValue(json) : nil
        }
        switch (name, json) {
        case ("string", .string(let text)): return .string(text)
        case ("url", .string(let text)): return .url(text)
        case ("int", .integer(let number)): return .integer(Int(number))
        case ("bool", .bool(let value)): return .bool(value)
        case ("double", .integer(let number)): return .double(Double(number))
        case ("double", .double(let number)): return .double(number)
        case ("json", _): return .json(Array(json.encoded().utf8))
        case ("array", .array), ("dictionary", .object): return DefaultsValue(json)
        case ("date", .string(let text)), ("data", .string(let text)):
            do throws(ValueType.Fault) {
                return try (name == "date" ? ValueType.date : .data).value(of: Array(text.utf8))
            } catch { throw request.invalid("'value': \(error)") }
        default:
            throw request.invalid(
                "'value' is not of the type '\(shown(name))'; the types are string, int, double, bool, date, data, "
                    + "url, array, dictionary and json")
        }
    }

    func increment(_ request: Request) throws -> JSONValue {
        let (key, step) = (try request.text("key"), try request.numberIfPresent("by") ?? 1)
        let sum = try suite(request).increment(
            key, by: Int(step), durability: try request.durability(unless: .relaxed))
        return ["value": .integer(Int64(sum))]
    }

    func keys(_ request: Request) throws -> JSONValue {
        let all = try suite(request).transaction { $0.dictionaryRepresentation() }
        let sorted = all.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
        // A value without a form in JSON must not hide the others.
        return [
            "keys": .array(
                sorted.map { key, value in
                    let members = (try? members(value)) ?? [("value", .null), ("type", .string(value.typeName))]
                    return .object([("key", .string(key))] + members)
                })
        ]
    }
}
