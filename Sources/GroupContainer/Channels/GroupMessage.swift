import FoundationEssentials

/// A message of a channel.
public struct GroupMessage: Hashable, Sendable {
    /// The number of the message in the channel: the first one has 1, each later one the next number.
    public var number: UInt64
    /// The content of the message; nil for a signal.
    public var bytes: [UInt8]?
    /// The time of the post by its poster's clock, in nanoseconds since 1970.
    public var time: Int64
    /// The process that posted the message.
    public var by: Change.Author

    /// Decodes the content, where a value was posted as JSON. Error: `invalidContent`
    public func decode<Value: Decodable>(as type: Value.Type = Value.self) throws(CoordinationError) -> Value {
        do {
            return try JSONDecoder().decode(type, from: Data(bytes ?? []))
        } catch {
            throw CoordinationError(
                .invalidContent, item: "message \(number)", operation: "decode", cause: "\(error)",
                advice: "acknowledge it, and it does not come again")
        }
    }
}

extension GroupChannel {
    /// Encodes a value as JSON on one line, with sorted names.
    static func encode(_ value: some Encodable, for channel: String) throws(CoordinationError) -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        do {
            return Array(try encoder.encode(value))
        } catch {
            throw CoordinationError(.invalidContent, item: channel, operation: "encode", cause: "\(error)")
        }
    }
}
