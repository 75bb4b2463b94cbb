import GroupBytes
package import GroupCommandLine
package import GroupContainer

extension GroupMessage {
    /// Returns the object that `groupctl channels follow --json` prints. For bytes that are not UTF-8, the object also
    /// holds them in base64.
    package func json(of channel: String) -> JSONValue {
        var fields: [(String, JSONValue)] = [
            ("channel", .string(channel)), ("number", .unsigned(number)),
            ("text", bytes.map { .string(PipeText.lossyString($0)) } ?? .null),
        ]
        if let bytes, bytes.validText == nil {
            fields.append(("bytes", .string(Base64.encoded(bytes))))
        }
        fields += [
            (
                "by",
                .object([
                    ("pid", .integer(Int64(author.processIdentifier))),
                    ("purpose", .string(author.purpose)),
                ])
            ),
            ("time", .string(Timestamp.text(timeNanoseconds))),
        ]
        return .object(fields)
    }
}
