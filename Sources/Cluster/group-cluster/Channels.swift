import Cluster
import FoundationEssentials
import GroupBytes
import GroupCluster
import GroupContainer
import GroupSystemCalls

/// Messages: a post of this machine waits in the records until the cluster has given it its place; then it is appended to the
/// channel here, as on every machine. Each channel's log has the number of the last message that came from the cluster in the
/// same record as the message, so that none is appended twice.
extension Machine {
    /// Lets the messages of all channels that are here come from the cluster.
    func takeChannels() throws {
        for name in container.channelNames() where !channels.contains(name) {
            channels.insert(name)
            let channel = try GroupChannel(container, name: name, purpose: "cluster")
            // What was posted before the container was in the cluster stays where it is. A channel that was made here since has
            // all messages of the cluster before it, as some may not be applied yet.
            if try channel.relayedNumber() == nil { try channel.setRelay(after: 0) }
            dirtyChannels.insert(Array(name.utf8))
        }
    }

    /// Returns the posts that are not sent yet.
    func takePosts() -> [Drafted] {
        if outbox.waitingCount > Self.mostWaiting { return [] }
        let sent = Set(postsInFlight)
        return records.posts { !draftedPosts.contains($0) && !sent.contains($0) }.map { post in
            draftedPosts.insert(post.identifier)
            var body = ByteWriter()
            body.write(UInt8(post.content == nil ? 0 : 1))
            body.write(counted: Array(post.purpose.utf8.prefix(200)))
            body.write(counted: Array(identity.host.utf8.prefix(200)))
            body.write(raw: post.content.map { Array($0) } ?? [])
            return Drafted(
                changes: [.message(channel: Array(post.channel.utf8), body: body.bytes)], time: post.time,
                posts: [post.identifier])
        }
    }

    /// Removes the posts whose messages the cluster has.
    func forgetPosts() throws {
        if postsInFlight.isEmpty { return }
        // On the disk before the state that no longer has them: a post that came back would be sent again.
        for post in postsInFlight { try records.remove(post: post) }
        try records.synchronize()
        draftedPosts.subtract(postsInFlight)
        postsInFlight = []
    }

    /// Counts the messages of the fold that are not in the channels here.
    func countUnappliedMessages() throws {
        let names = Set(container.channelNames())
        unappliedMessages = 0
        for (name, messages) in fold.channels {
            let text = String(decoding: name, as: UTF8.self)
            let here =
                try names.contains(text)
                ? GroupChannel(container, name: text, purpose: "cluster").relayedNumber() ?? 0 : 0
            unappliedMessages += messages.newest.count { $0.number > here }
        }
    }

    /// Appends the messages that the cluster has to the channels here. With `asFarAsThereIsRoom`, a channel without
    /// room keeps its messages for later; otherwise that is an error.
    func applyMessages(asFarAsThereIsRoom isPartial: Bool = false) throws {
        var left: Set<[UInt8]> = []
        var isTried = false
        for name in dirtyChannels {
            if isPartial && !full.mayTry(.messages(name)) {
                left.insert(name)
                continue
            }
            isTried = true
            do {
                try applyMessages(of: name)
                full.ended(.messages(name))
            } catch  where isPartial && FullDisk.isFull(error) {
                full.failed(.messages(name), error)
                left.insert(name)
            }
        }
        dirtyChannels = left
        if left.isEmpty {
            unappliedMessages = 0
        } else if isTried {
            try countUnappliedMessages()
        }
    }

    private func applyMessages(of name: [UInt8]) throws {
        guard let messages = fold.channels[name], let text = String(validating: name, as: UTF8.self),
            !Container.isOwnName(text)
        else { return }
        let channel: GroupChannel
        do throws(CoordinationError) {
            channel = try GroupChannel(container, name: text, purpose: "cluster")
        } catch {
            // No machine of this version makes such a name.
            if error.code == .invalidArgument { return }
            throw error
        }
        let here = try channel.relayedNumber() ?? 0
        for message in messages.newest where message.number > here {
            var reader = ByteReader(message.body)
            guard let form = try? reader.number(UInt8.self), let purpose = try? reader.counted(),
                let host = try? reader.counted(), let content = try? reader.raw(reader.remaining)
            else { continue }
            let isOwn = host == Array(identity.host.utf8.prefix(200))
            let author = isOwn ? purpose : purpose + [UInt8(ascii: "@")] + host
            _ = try channel.appendRelayed(
                number: message.number, form == 0 ? nil : content,
                purpose: printable(Array(author.prefix(ClusterEntry.longestAuthor))))
        }
        channels.insert(text)
    }
}
