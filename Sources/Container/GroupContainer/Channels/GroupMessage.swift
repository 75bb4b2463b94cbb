public import FoundationEssentials

/// A message of a channel.
public struct GroupMessage: Hashable, Sendable {
    /// The number of the message in the channel: the first one has 1, each later one the next number. (It is no
    /// `SequenceNumber`: that is a position in the container's journal, in which messages are not.)
    public var number: UInt64
    /// The content of the message; nil for a signal.
    public var bytes: [UInt8]?
    /// The time of the post by its poster's clock.
    public var time: Date { Date(nanoseconds: timeNanoseconds) }
    /// That time in nanoseconds since 1970, which a `Date` has only to about 120 ns.
    package var timeNanoseconds: Int64
    /// The process that posted the message.
    public var author: Change.Author

    /// Decodes the content, where a value was posted as JSON. Error: `invalidContent`
    public func decode<Value: Decodable>(as type: Value.Type = Value.self) throws(CoordinationError) -> Value {
        do {
            return try JSONDecoder().decode(type, from: Data(bytes ?? []))
        } catch {
            throw CoordinationError(
                .invalidContent, operation: "decode", item: "message \(number)",
                reason: ItemCoding.fault(error, in: bytes ?? []),
                remedy: .init(.acknowledge, "acknowledge the message to go on behind it"), cause: error)
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
            throw CoordinationError(
                .invalidContent, operation: "encode", item: channel, reason: "\(error)", cause: error)
        }
    }
}
