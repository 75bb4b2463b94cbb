package import FoundationEssentials
import GroupSystemCalls

/// A message that a process of this machine has posted to a channel of a container that is in a cluster. It becomes a
/// message of the channel, on every machine, when the cluster has given it its place.
package struct ClusterPost: Codable, Equatable, Sendable {
    /// The largest content, in bytes.
    package static let largest = 128 << 10

    package let identifier: String
    package var channel: String
    /// Nil for a signal.
    package var content: Data?
    package var purpose: String
    /// Nanoseconds since 1970.
    package var time: Int64
}

extension GroupChannel {
    func postToCluster(_ content: [UInt8]?, _ durability: Durability) throws(CoordinationError) {
        if let content, content.count > ClusterPost.largest {
            throw CoordinationError(
                .limitReached, operation: "post", item: name,
                reason: "a message of a container in a cluster has at most \(ClusterPost.largest) bytes",
                remedy: .init(.reduceSize, "write the content to an item, and post its path"))
        }
        let post = ClusterPost(
            identifier: ClusterRecords.newName(), channel: name, content: content.map { Data($0) },
            purpose: purpose, time: wallNanoseconds())
        try ClusterRecords(container).add(post, durability)
    }

    /// The number in the cluster of the last message that came from there; nil where the channel is in no cluster.
    package func clusterNumber() throws(CoordinationError) -> UInt64? {
        try container.opened.locating { () throws(CoordinationError) -> UInt64? in
            guard let store = try store(creating: false) else { return nil }
            return try store.checkedRead { $0.cluster }
        }
    }

    /// Lets the messages of this channel come from the cluster, after the one with that number; nil ends that.
    package func setCluster(after number: UInt64?) throws(CoordinationError) {
        try container.opened.locating { () throws(CoordinationError) in
            let store = try writableStore("join")
            let place = try store.append(record(.clustered(number))) { $0.cluster != number }
            if let place { try store.synchronize(through: place) }
        }
    }

    /// Appends the next message of the cluster's channel. Returns false if the channel has it.
    package func appendFromCluster(number: UInt64, _ content: [UInt8]?, purpose: String) throws(CoordinationError)
        -> Bool
    {
        try container.opened.locating { () throws(CoordinationError) -> Bool in
            let store = try writableStore("post")
            let record = ChannelRecord(
                processIdentifier: processIdentifier(), time: wallNanoseconds(), purpose: purpose,
                step: .clusterPost(number: number, content))
            return try store.append(record) { ($0.cluster ?? 0) < number } != nil
        }
    }
}
