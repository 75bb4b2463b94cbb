import FoundationEssentials
import GroupBytes

/// Messages as lines of JSON. Dates are seconds since 1970.
package enum ProtocolLine {
    /// The largest size of a line, in bytes; a program that writes a longer line is at fault.
    package static let largest = 4 << 20

    /// The most values of a message. A decoder takes microseconds for each, so a line of more would take longer than
    /// its sender may have.
    package static let mostValues = 65_536

    /// Returns whether a text of JSON has more values than a message may have: counts what begins or separates them,
    /// outside of texts.
    package static func hasTooManyValues(_ line: [UInt8]) -> Bool {
        var (count, isInText, isEscaped) = (0, false, false)
        for byte in line {
            if isInText {
                (isInText, isEscaped) = (
                    isEscaped || byte != UInt8(ascii: "\""), !isEscaped && byte == UInt8(ascii: "\\")
                )
                continue
            }
            switch byte {
            case UInt8(ascii: "\""): isInText = true
            case UInt8(ascii: ","), UInt8(ascii: "["), UInt8(ascii: "{"):
                count += 1
                if count > mostValues { return true }
            default: break
            }
        }
        return false
    }

    /// Encodes a message, without the newline; nil if it contains a number that JSON cannot hold.
    package static func encoded(_ message: some Encodable) -> [UInt8]? {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        encoder.dateEncodingStrategy = .secondsSince1970
        return (try? encoder.encode(message)).map { Array($0) }
    }

    /// Returns why a line is no such message, for its author; empty if it is one.
    package static func fault<Message: Decodable>(_ type: Message.Type, in line: [UInt8]) -> String {
        if line.count > largest { return "a line of more than \(largest) bytes" }
        if hasTooManyValues(line) { return "more than \(mostValues) values" }
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .secondsSince1970
        do {
            _ = try decoder.decode(type, from: Data(line))
            return ""
        } catch let error as DecodingError {
            return error.fault { (try? decoder.decode(AnyJSON.self, from: Data(line))) != nil }
        } catch {
            return "it is not JSON"
        }
    }

    /// Decodes a message; nil if the line is no such message.
    package static func decoded<Message: Decodable>(
        _ type: Message.Type, from line: [UInt8], largest: Int = largest
    ) -> Message? {
        if line.count > largest || hasTooManyValues(line) { return nil }
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .secondsSince1970
        return try? decoder.decode(type, from: Data(line))
    }
}
