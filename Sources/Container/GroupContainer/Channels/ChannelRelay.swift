package import FoundationEssentials
import GroupSystemCalls

/// A message that waits for its position: the order of the channel's messages is decided elsewhere. A service takes it
/// from the suite that its record names, and has it appended to the channel when its position is known.
package struct RelayedPost: Codable, Equatable, Sendable {
    /// The largest content, in bytes.
    package static let largest = 128 << 10
    /// The beginning of the keys of these messages in the service's suite.
    package static let prefix = "post."
    /// The size of the suite from which on no message is taken, in bytes: the service has to have room in it.
    static let mostWaiting = 256 << 20

    package let identifier: String
    package var channel: String
    /// Nil for a signal.
    package var content: Data?
    package var purpose: String
    /// Nanoseconds since 1970.
    package var time: Int64
}

extension GroupChannel {
    /// Leaves a message to the service that decides about its position. Errors: `unavailable`, `limitReached`, and
    /// those of `GroupDefaults.set`
    func relay(_ content: [UInt8]?, _ durability: Durability) throws(CoordinationError) {
        if let content, content.count > RelayedPost.largest {
            throw CoordinationError(
                .limitReached, operation: "post", item: name,
                reason: "a message whose position is decided elsewhere has at most \(RelayedPost.largest) bytes",
                remedy: .init(.reduceSize, "write the content to an item, and post its path"))
        }
        guard let name = ServiceRecord.relay(of: container) else {
            throw CoordinationError(
                .unavailable, operation: "post", item: name,
                reason:
                    "the positions of the channel's messages are decided elsewhere, and no program takes them there",
                remedy: .init(.startProgram, "nothing was posted; start that program, in its present version"))
        }
        let suite = try GroupDefaults(container, suite: name)
        if suite.size > RelayedPost.mostWaiting {
            throw CoordinationError(
                .limitReached, operation: "post", item: self.name,
                reason: "\(RelayedPost.mostWaiting >> 20) MiB of messages wait for their positions",
                remedy: .init(.tryAgain, "try again when some have them"))
        }
        let post = RelayedPost(
            identifier: Proposal.newName(), channel: self.name, content: content.map { Data($0) }, purpose: purpose,
            time: wallNanoseconds())
        let value = DefaultsValue.json(try ServiceRecord.json(post))
        try suite.set(value, forKey: RelayedPost.prefix + post.identifier, durability: durability)
    }

    /// The number of the last message whose position was decided elsewhere; nil where this channel decides itself.
    package func relayedNumber() throws(CoordinationError) -> UInt64? {
        try container.opened.locating { () throws(CoordinationError) -> UInt64? in
            guard let store = try store(creating: false) else { return nil }
            return try store.checkedRead { $0.relayed }
        }
    }

    /// Has the positions of this channel's messages be decided elsewhere, after the one with that number; nil ends
    /// that.
    package func setRelay(after number: UInt64?) throws(CoordinationError) {
        try container.opened.locating { () throws(CoordinationError) in
            let store = try writableStore("join")
            let end = try store.append(record(.relayed(after: number))) { $0.relayed != number }
            if let end { try store.synchronize(through: end) }
        }
    }

    /// Appends the next message whose position was decided elsewhere. Returns false if the channel has it.
    package func appendRelayed(number: UInt64, _ content: [UInt8]?, purpose: String) throws(CoordinationError)
        -> Bool
    {
        try container.opened.locating { () throws(CoordinationError) -> Bool in
            let store = try writableStore("post")
            let record = ChannelRecord(
                processIdentifier: processIdentifier(), time: wallNanoseconds(), purpose: purpose,
                step: .relayedPost(number: number, content))
            return try store.append(record) { ($0.relayed ?? 0) < number } != nil
        }
    }

    /// Returns the newest messages that are kept, at most `count`. Error: `damaged`
    package func newestMessages(atMost count: Int) throws(CoordinationError) -> [GroupMessage] {
        try container.opened.locating { () throws(CoordinationError) -> [GroupMessage] in
            guard count > 0, let store = try store(creating: false) else { return [] }
            let last = try store.checkedRead { $0.messages.suffix(count).first.map { $0.number - 1 } ?? $0.last }
            var feed = try MessageFeed(store, behind: last)
            var messages: [GroupMessage] = []
            while let message = try feed.next() { messages.append(message) }
            return Array(messages.suffix(count))
        }
    }
}
