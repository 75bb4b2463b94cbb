import GroupSystemCalls

/// The right to listen to a channel under a name. It ends with its process, however that ends.
final class ListeningRight: Sendable {
    private let byte: HeldByte

    /// Error: `conflict` where somebody has it.
    init(to channel: String, as name: String, _ member: Member) throws(CoordinationError) {
        let offset = LockRange.listening(to: channel, as: name, key: member.hashKey)
        guard let byte = try HeldByte(offset, .exclusive, member, operation: "listen") else {
            throw CoordinationError(
                .conflict, item: "\(channel)/\(name)", operation: "listen",
                cause: "somebody listens under that name already",
                advice: "wait for its end, or listen under another name, which gets all messages, too")
        }
        self.byte = byte
    }
}
