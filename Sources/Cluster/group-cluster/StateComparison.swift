import Cluster
import GroupBytes
import GroupCluster
import GroupContainer
import GroupDigest
import GroupSystemCalls

/// In what this machine differs from a state of the cluster. The disk, the suites and the channels are read anew: what
/// the machine's program believes of them does not count.
struct StateComparison {
    /// Something that is different here and in the cluster.
    struct Difference: Hashable {
        enum Kind: String { case item, key, channel }
        var kind: Kind
        /// The path of an item, the suite and the key of a value, or the name of a channel: as text for people.
        var name: String
        /// What is here and in the cluster, without contents; nil for nothing.
        var here: String?
        var cluster: String?
        /// Why it differs, if the machine knows.
        var reason: String?
    }

    private(set) var index: UInt64
    /// The numbers of items, keys and channels that are the same.
    private(set) var items = 0
    private(set) var keys = 0
    private(set) var channels = 0
    private(set) var differences: [Difference] = []

    /// Compares. `status` has what the machine knows about differences. Linear; reads all files.
    init(_ state: ClusterFold, _ status: ClusterStatus, in container: Container) throws {
        index = state.index
        try compareItems(state.tree, status, container)
        try compareKeys(state, status, container)
        try compareChannels(state, container)
    }

    /// Leaves the differences that another comparison has, too.
    mutating func keepDifferences(of other: StateComparison) {
        let others = Set(other.differences)
        differences.removeAll { !others.contains($0) }
    }

    private mutating func compareItems(
        _ tree: ClusterTree, _ status: ClusterStatus, _ container: Container
    ) throws {
        var disk = try LocalDisk(container)
        try disk.lookAtAll()
        let withheld = (status.withheld ?? 0) > 0 ? "its removal is withheld here" : nil
        var found: Set<LocalItem> = []
        let paths = tree.nodes.keys.map { item in
            (item, path: Array(tree.path(item).joined(separator: [UInt8(ascii: "/")])))
        }
        for (item, path) in paths.sorted(by: { $0.path.lexicographicallyPrecedes($1.path) }) {
            guard let content = tree[item]?.content else { continue }
            // What is mirrored stays so, though a pattern would ignore it as a new item.
            try disk.takeOverIgnored(at: path)
            let local = disk.item(at: path)
            let here = local.flatMap { disk.tree[$0]?.content }
            if let local { found.insert(local) }
            if let here, here.kind == .directory ? content.kind == .directory : here == content {
                items += 1
                continue
            }
            note(
                .item, printable(path), here.map(Self.text), Self.text(content),
                disk.unmirrored[path] ?? (here == nil ? withheld : nil))
        }
        for (local, node) in disk.tree.nodes.sorted(by: { $0.key < $1.key }) where !found.contains(local) {
            note(.item, printable(disk.path(of: local)), Self.text(node.content), nil, nil)
        }
    }

    private static func text(_ content: ItemContent) -> String {
        switch content.kind {
        case .directory: "a directory"
        case .link: "a link to '\(printable(content.digest))'"
        case .file:
            "a file, mode \(String(content.mode, radix: 8)), SHA-256 \(Hexadecimal.encode(content.digest).prefix(16))"
        }
    }

    private mutating func compareKeys(_ state: ClusterFold, _ status: ClusterStatus, _ container: Container) throws {
        var suites: [String: [String: DefaultsValue]] = [:]
        for (key, versioned) in state.values {
            guard let names = ClusterSuite.names(key), let value = ClusterSuite.value(versioned.value) else { continue }
            suites[names.suite, default: [:]][names.key] = value
        }
        for suite in Set(suites.keys).union(container.suiteNames()).sorted() where GroupDefaults.isName(ofSuite: suite)
        {
            let here = try GroupDefaults(container, suite: suite).dictionaryRepresentation()
            let cluster = suites[suite] ?? [:]
            let reason = status.unmirrored.first { $0.path == "defaults/\(suite)" }?.reason
            for key in Set(here.keys).union(cluster.keys).sorted() {
                if here[key] == cluster[key] {
                    keys += 1
                } else {
                    note(.key, "\(suite) \(key)", here[key].map(Self.text), cluster[key].map(Self.text), reason)
                }
            }
        }
    }

    private static func text(_ value: DefaultsValue) -> String {
        if case .integer(let number) = value { return "\(number)" }
        return "a value of \(text(value.recordBytes))"
    }

    private mutating func compareChannels(_ state: ClusterFold, _ container: Container) throws {
        let names = Set(container.channelNames())
        for (name, channel) in state.channels.sorted(by: { $0.key.lexicographicallyPrecedes($1.key) }) {
            guard let text = String(validating: name, as: UTF8.self), !Container.isOwnName(text) else { continue }
            let local = try names.contains(text) ? GroupChannel(container, name: text) : nil
            let here = try local?.relayedNumber() ?? 0
            if here != channel.last {
                note(.channel, text, "\(here) messages", "\(channel.last) messages", nil)
            } else if try local.map({ try areEqual(channel.newest, in: $0, named: text) }) ?? true {
                channels += 1
            }
        }
    }

    /// Compares the newest messages of the cluster with those that are kept here, and notes the first that differs.
    private mutating func areEqual(
        _ newest: [ClusterFold.Message], in channel: GroupChannel, named name: String
    ) throws -> Bool {
        let posts = newest.compactMap { message in Channels.Post(message.body).map { (message.number, $0.content) } }
        let here = try channel.newestMessages(atMost: posts.count)
        for ((number, content), message) in zip(posts.suffix(here.count), here) where content != message.bytes {
            note(.channel, "\(name), message \(number)", Self.text(message.bytes), Self.text(content), nil)
            return false
        }
        return true
    }

    private static func text(_ content: [UInt8]?) -> String {
        guard let content else { return "a signal" }
        return "\(content.count) bytes, SHA-256 \(Hexadecimal.encode(SHA256.digest(of: content) ?? []).prefix(16))"
    }

    private mutating func note(
        _ kind: Difference.Kind, _ name: String, _ here: String?, _ cluster: String?, _ reason: String?
    ) {
        differences.append(Difference(kind: kind, name: name, here: here, cluster: cluster, reason: reason))
    }
}
