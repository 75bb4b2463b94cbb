import Cluster
import FoundationEssentials
import GroupBytes
import GroupCluster
import GroupContainer
import GroupSystemCalls

/// The channels of the container. Used by the machine's thread.
///
/// A post of this machine waits in its record until the log gives its message a number. The message is then appended to
/// the channel here, as on every machine. The log of a channel stores the number of the cluster's last message together
/// with that message, so no message is appended twice.
///
///     recorded ── takePosts ──▶ drafted ── sent ──▶ in flight ── folded ──▶ record removed, message appended
final class Channels {
    private let container: Container
    private let records: ClusterRecords
    private let book: RecordBook
    private let host: [UInt8]
    private let full: FullDisk
    private let report: Report
    /// The names of the channels that are here.
    private var names: Set<String> = []
    /// The channels that may lack messages of the cluster.
    private var dirty: Set<[UInt8]>
    /// The number of messages in the fold that the channels here may lack, at most.
    private var unapplied = 0
    /// The number of the last message of each channel that is stored.
    private var stored: [[UInt8]: UInt64]
    /// The posts that wait to be sent or are in flight, by the names of their records.
    private var drafted: Set<String> = []
    private var inFlight: [String]
    private var unstored: Set<[UInt8]> = []

    init(
        _ container: Container, _ records: ClusterRecords, _ book: RecordBook, _ identity: MachineIdentity,
        _ full: FullDisk, _ report: Report, _ loaded: LoadedState
    ) {
        self.container = container
        self.records = records
        self.book = book
        self.full = full
        self.report = report
        host = Array(identity.host.utf8.prefix(200))
        stored = loaded.fold.channels.mapValues(\.last)
        inFlight = loaded.postsInFlight
        dirty = Set(loaded.fold.channels.keys)
    }

    // MARK: What is posted here

    /// Lets the cluster decide the order of the messages of every channel that is here.
    func takeChannels() throws {
        for name in container.channelNames() where !names.contains(name) {
            names.insert(name)
            let channel = try GroupChannel(container, name: name, purpose: "cluster")
            // Messages from before the container joined stay in their channel. A channel that was made since then
            // begins before the cluster's first message, since some of the messages may not be applied yet.
            if try channel.relayedNumber() == nil { try channel.setRelay(after: 0) }
            dirty.insert(Array(name.utf8))
        }
    }

    /// Takes the posts that were not taken yet.
    func takePosts() throws -> [DraftedChange<Cursor>] {
        let sent = Set(inFlight)
        let new = book.posts.values.filter { !drafted.contains($0.identifier) && !sent.contains($0.identifier) }
        return try new.sorted { ($0.time, $0.identifier) < ($1.time, $1.identifier) }.compactMap { post in
            var body = ByteWriter()
            body.write(UInt8(post.content == nil ? 0 : 1))
            body.write(counted: Array(post.purpose.utf8.prefix(200)))
            body.write(counted: host)
            body.write(raw: post.content.map { Array($0) } ?? [])
            let message = ClusterChange.message(channel: Array(post.channel.utf8), body: body.bytes)
            // Any member may have written the record. An entry with its message would not be sent, nor what else the
            // entry has.
            if !ClusterEntry(.fresh(), [message], author: host).isReadable {
                report.log(
                    "not sent: a message that no machine could read, to the channel '\(post.channel.prefix(100))'")
                try records.remove(post: post.identifier)
                return nil
            }
            drafted.insert(post.identifier)
            return DraftedChange(.post(message, identifier: post.identifier), time: post.time)
        }
    }

    /// Notes the posts whose messages are in flight.
    func sent(_ posts: [String]) { inFlight = posts }

    /// Removes the posts whose messages were in flight and are folded.
    func forgetPosts() throws {
        if inFlight.isEmpty { return }
        // The removals must be on the disk before the state that no longer has these posts in flight. Otherwise a post
        // could come back, and be sent again.
        for post in inFlight { try records.remove(post: post) }
        try records.synchronize()
        drafted.subtract(inFlight)
        inFlight = []
    }

    // MARK: What the cluster has

    /// Whether a channel may lack messages of the cluster.
    var areDirty: Bool { !dirty.isEmpty }

    func isDirty(_ name: [UInt8]) -> Bool { dirty.contains(name) }

    /// Appends messages here before an entry pushes them out of the fold, which keeps the newest 1,024 of a channel.
    /// Only in this case does a message become visible before the items and values that were sent before it.
    func makeRoom(in fold: ClusterFold, for entry: OrderedEntry) throws {
        guard let entry = try? ClusterEntry(bytes: entry.bytes) else { return }
        let count = entry.changes.count { if case .message = $0 { true } else { false } }
        if count == 0 { return }
        if unapplied + count > ClusterFold.Channel.mostKept { try apply(fold) }
        unapplied += count
    }

    /// Notes the channels to which an entry has added messages.
    func folded(_ names: Set<[UInt8]>) {
        dirty.formUnion(names)
        unstored.formUnion(names)
    }

    /// Notes that a snapshot has replaced the fold.
    func replaced(by new: ClusterFold) throws {
        try countUnapplied(new)
        dirty = Set(new.channels.keys)
    }

    /// Counts the messages of the fold that the channels here lack.
    func countUnapplied(_ fold: ClusterFold) throws {
        let names = Set(container.channelNames())
        unapplied = 0
        for (name, messages) in fold.channels {
            let text = String(decoding: name, as: UTF8.self)
            let here =
                try names.contains(text)
                ? GroupChannel(container, name: text, purpose: "cluster").relayedNumber() ?? 0 : 0
            unapplied += messages.newest.count { $0.number > here }
        }
    }

    /// Appends the messages that the channels here lack. If a channel has no room, this throws; with
    /// `asFarAsThereIsRoom`, its messages wait instead.
    func apply(_ fold: ClusterFold, asFarAsThereIsRoom isPartial: Bool = false) throws {
        var left: Set<[UInt8]> = []
        var isTried = false
        for name in dirty {
            if isPartial && !full.mayTry(.messages(name)) {
                left.insert(name)
                continue
            }
            isTried = true
            do {
                try apply(fold, to: name)
                full.ended(.messages(name))
            } catch  where isPartial && FullDisk.isFull(error) {
                full.failed(.messages(name), error)
                left.insert(name)
            }
        }
        dirty = left
        if left.isEmpty {
            unapplied = 0
        } else if isTried {
            try countUnapplied(fold)
        }
    }

    private func apply(_ fold: ClusterFold, to name: [UInt8]) throws {
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
            guard let post = Post(message.body) else { continue }
            let author = post.host == host ? post.purpose : post.purpose + [UInt8(ascii: "@")] + post.host
            _ = try channel.appendRelayed(
                number: message.number, post.content,
                purpose: printable(Array(author.prefix(ClusterEntry.longestAuthor))))
        }
        names.insert(text)
    }

    /// A message, as an entry has it.
    struct Post {
        var purpose: [UInt8]
        var host: [UInt8]
        /// Nil for a signal.
        var content: [UInt8]?

        /// Reads a message; nil for bytes that no machine has written.
        init?(_ body: [UInt8]) {
            var reader = ByteReader(body)
            guard let form = try? reader.number(UInt8.self), let purpose = try? reader.counted(),
                let host = try? reader.counted(), let content = try? reader.raw(reader.remaining)
            else { return nil }
            self.purpose = purpose
            self.host = host
            self.content = form == 0 ? nil : content
        }
    }

    // MARK: Storing

    var areUnstored: Bool { !unstored.isEmpty }

    /// Stores the names of the posts that are in flight. To be called within `store` only.
    func storePosts(in store: StateStore) throws {
        try store.set(StateRow.postsInFlight, Array(inFlight.joined(separator: " ").utf8))
    }

    /// Stores the new messages of the fold, and removes the stored ones that it no longer has. With `isAllNew`, no
    /// message is stored yet. To be called within `store` only.
    func store(_ fold: ClusterFold, isAllNew: Bool, in store: StateStore) throws {
        for name in isAllNew ? Set(fold.channels.keys) : unstored {
            guard let channel = fold.channels[name] else { continue }
            func key(_ number: UInt64) -> [UInt8] {
                var writer = ByteWriter()
                writer.write(number.bigEndian)
                return name + writer.bytes
            }
            let before = isAllNew ? 0 : stored[name] ?? 0
            let most = UInt64(ClusterFold.Channel.mostKept)
            let first = before > most ? before - most + 1 : 1
            let oldest = channel.newest.first?.number ?? channel.last + 1
            for number in first..<max(first, min(oldest, before + 1)) { try store.set(.message, key(number), nil) }
            for message in channel.newest where message.number > before {
                try store.set(.message, key(message.number), message.bytes)
            }
            stored[name] = channel.last
            try store.set(.channel, name, channel.bytes)
        }
        unstored = []
    }
}
