import GroupBytes
import GroupCommandLine
import GroupContainer

extension Change {
    /// The object of a line of `--json`. For a name that is not UTF-8, the object also holds its bytes.
    var json: JSONValue {
        var fields: [(String, JSONValue)] = [
            ("sequence", .unsigned(sequence.rawValue)), ("cursor", .string(cursor.description)),
            ("kind", .string(kind.name)),
            ("path", .string(PipeText.lossyString(path.bytes))),
        ]
        if path.bytes.validText == nil { fields.append(("pathBytes", .string(Base64.encoded(path.bytes)))) }
        fields.append(("from", kind.otherPath.map { .string(PipeText.lossyString($0.bytes)) } ?? .null))
        if let from = kind.otherPath, from.bytes.validText == nil {
            fields.append(("fromBytes", .string(Base64.encoded(from.bytes))))
        }
        fields += [
            ("type", type.map { .string(ChangeText.name($0)) } ?? .null),
            ("size", size.map(JSONValue.unsigned) ?? .null),
            ("generation", .unsigned(generation.rawValue)), ("transaction", transaction.map(\.json) ?? .null),
            ("coordinated", .bool(isCoordinated)), ("by", author.map(\.json) ?? .null),
            ("time", shownNanoseconds.map { .string(Timestamp.text($0)) } ?? .null),
        ]
        if case .degraded(let reason) = kind { fields.append(("reason", .string(reason))) }
        return .object(fields)
    }
}

extension Change.Author {
    fileprivate var json: JSONValue {
        .object([("pid", .integer(Int64(processIdentifier))), ("purpose", .string(purpose))])
    }
}

extension Change.Transaction {
    fileprivate var json: JSONValue {
        .object([
            ("id", .string(identifier)), ("index", .integer(Int64(index))), ("count", .integer(Int64(count))),
        ])
    }
}
