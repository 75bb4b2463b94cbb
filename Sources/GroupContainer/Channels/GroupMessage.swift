import FoundationEssentials

/// One message of a channel.
public struct GroupMessage: Hashable, Sendable {
    /// Its number in the channel: the first one is 1, each has the next.
    public var number: UInt64
    /// What it says; nil for a signal.
    public var bytes: [UInt8]?
    /// When it was posted, in nanoseconds since 1970, by its poster's clock.
    public var time: Int64
    /// Who posted it.
    public var by: Change.Author

    /// The value that it says, if it was posted as one. Error: `invalidContent`
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
    /// On one line, with sorted names.
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
