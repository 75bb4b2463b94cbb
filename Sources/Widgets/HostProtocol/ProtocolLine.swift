import FoundationEssentials

/// Messages as lines. Dates are seconds since 1970.
package enum ProtocolLine {
    /// Of one line, in bytes; a widget that says more at once is at fault.
    package static let largest = 4 << 20

    /// Without the newline. Nil: it holds a number that JSON cannot hold.
    package static func encoded(_ message: some Encodable) -> [UInt8]? {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        encoder.dateEncodingStrategy = .secondsSince1970
        return (try? encoder.encode(message)).map { Array($0) }
    }

    /// Nil: it is no such message.
    package static func decoded<Message: Decodable>(_ type: Message.Type, from line: [UInt8]) -> Message? {
        if line.count > largest { return nil }
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .secondsSince1970
        return try? decoder.decode(type, from: Data(line))
    }
}
