import GroupBytes
package import GroupCommandLine
package import GroupContainer

extension Item {
    /// The object that `groupctl list --json` prints. For a name that is not UTF-8, the object also holds its bytes.
    package var json: JSONValue { .object(fields) }

    /// Returns the object of `groupctl list -l --json`: also with the author of the last change, which is null for an
    /// external change, and where the journal does not have it.
    package func json(withAuthorOf last: Change?) -> JSONValue {
        .object(
            fields + [
                ("by", last?.author?.json ?? .null), ("coordinated", last.map { .bool($0.isCoordinated) } ?? .null),
            ])
    }

    private var fields: [(String, JSONValue)] {
        var fields: [(String, JSONValue)] = [("path", .string(PipeText.lossyString(path.bytes)))]
        if path.bytes.validText == nil { fields.append(("pathBytes", .string(Base64.encoded(path.bytes)))) }
        fields += [
            ("type", .string(ChangeText.name(type))), ("size", .unsigned(size)),
            ("modified", modified.flatMap { Timestamp.text($0) }.map { .string($0) } ?? .null),
        ]
        return fields
    }
}
