// Imports GroupBytes only: no file, clock or process.

import GroupBytes

// The bytes of the values that a machine stores: a row for each item and base, and the entry in flight.

extension ClusterTree.Node {
    package var bytes: [UInt8] {
        var writer = ByteWriter()
        writer.write(self)
        return writer.bytes
    }

    package init(bytes: [UInt8]) throws(ClusterDamage) {
        var reader = ByteReader(bytes)
        self = try reader.cluster("item") { reader throws(ClusterDamage) in try reader.node() }
    }
}

extension ClusterMirror.Base {
    package var bytes: [UInt8] {
        var writer = ByteWriter()
        writer.write(local.number)
        writer.write(node)
        return writer.bytes
    }

    package init(bytes: [UInt8]) throws(ClusterDamage) {
        var reader = ByteReader(bytes)
        self = try reader.cluster("base") { reader throws(ClusterDamage) in
            let local = try reader.localItem()
            return ClusterMirror.Base(node: try reader.node(), local: local)
        }
    }
}

extension LocalTree.Node {
    package var bytes: [UInt8] {
        var writer = ByteWriter()
        writer.write(parent.number)
        writer.write(counted: name)
        writer.write(content)
        return writer.bytes
    }

    package init(bytes: [UInt8]) throws(ClusterDamage) {
        var reader = ByteReader(bytes)
        self = try reader.cluster("local item") { reader throws(ClusterDamage) in
            let parent = LocalItem(try reader.count())
            return LocalTree.Node(parent, try reader.localName(), try reader.content())
        }
    }
}

extension ItemName {
    package var bytes: [UInt8] {
        var writer = ByteWriter()
        writer.write(self)
        return writer.bytes
    }

    package init(bytes: [UInt8]) throws(ClusterDamage) {
        var reader = ByteReader(bytes)
        self = try reader.cluster("name") { reader throws(ClusterDamage) in try reader.itemName() }
    }
}

extension ClusterName {
    package var bytes: [UInt8] {
        var writer = ByteWriter()
        writer.write(self)
        return writer.bytes
    }

    package init(bytes: [UInt8]) throws(ClusterDamage) {
        var reader = ByteReader(bytes)
        self = try reader.cluster("name") { reader throws(ClusterDamage) in try reader.clusterName() }
    }

    /// Reads a name from 32 hexadecimal digits.
    package init?(text: String) {
        guard text.utf8.count == 32, let bytes = Hexadecimal.decode(text), bytes.count == 16 else { return nil }
        var reader = ByteReader(bytes)
        guard let high = try? reader.number(UInt64.self), let low = try? reader.number(UInt64.self) else { return nil }
        self.init(high: high.byteSwapped, low: low.byteSwapped)
    }
}

extension ClusterFold.Last {
    package var bytes: [UInt8] {
        var writer = ByteWriter()
        writer.write(number)
        writer.write(operation)
        writer.write(outcome.rawValue)
        return writer.bytes
    }

    package init(bytes: [UInt8]) throws(ClusterDamage) {
        var reader = ByteReader(bytes)
        self = try reader.cluster("machine") { reader throws(ClusterDamage) in
            let number = try reader.count()
            let operation = try reader.clusterName()
            guard let outcome = ClusterFold.Outcome(rawValue: try reader.wholeNumber()) else {
                throw .malformed("outcome")
            }
            return ClusterFold.Last(number: number, operation: operation, outcome: outcome)
        }
    }
}

extension ClusterOutbox.InFlight {
    package var bytes: [UInt8] {
        var writer = ByteWriter()
        writer.write(number)
        writer.write(long: entry.bytes)
        writer.write(counted: token?.lock ?? [])
        writer.write(token?.grant ?? .zero)
        writer.write(empty?.operation ?? .zero)
        writer.write(UInt32(truncatingIfNeeded: sent.count))
        for item in sent {
            writer.write(item.item)
            writer.write(item.local.number)
            switch item.change {
            case .created(let parent, let name, let content):
                writer.write(UInt8(0))
                writer.write(parent)
                writer.write(counted: name)
                writer.write(content)
            case .moved(let parent, let name):
                writer.write(UInt8(1))
                writer.write(parent)
                writer.write(counted: name)
            case .written(let content):
                writer.write(UInt8(2))
                writer.write(content)
            case .removed: writer.write(UInt8(3))
            }
        }
        return writer.bytes
    }

    package init(bytes: [UInt8]) throws(ClusterDamage) {
        var reader = ByteReader(bytes)
        self = try reader.cluster("entry in flight") { reader throws(ClusterDamage) in
            let number = try reader.count()
            if number == 0 { throw .malformed("an entry without a number") }
            let entry = try ClusterEntry(bytes: try reader.longBytes())
            let lock = try reader.countedBytes()
            let grant = try reader.clusterName()
            let empty = try reader.clusterName()
            var sent: [SentItem] = []
            for _ in 0..<(try reader.wholeNumber() as UInt32) { sent.append(try reader.sentItem()) }
            return ClusterOutbox.InFlight(
                number: number, entry: entry, token: grant == .zero ? nil : LockToken(lock: lock, grant: grant),
                empty: empty == .zero ? nil : ClusterEntry(empty), sent: sent)
        }
    }
}

extension ClusterFold.Versioned {
    package var bytes: [UInt8] {
        var writer = ByteWriter()
        writer.write(self)
        return writer.bytes
    }

    package init(bytes: [UInt8]) throws(ClusterDamage) {
        var reader = ByteReader(bytes)
        self = try reader.cluster("value") { reader throws(ClusterDamage) in try reader.versioned() }
    }
}

extension ClusterFold.Message {
    package var bytes: [UInt8] {
        var writer = ByteWriter()
        writer.write(number)
        writer.write(operation)
        writer.write(long: body)
        return writer.bytes
    }

    package init(bytes: [UInt8]) throws(ClusterDamage) {
        var reader = ByteReader(bytes)
        self = try reader.cluster("message") { reader throws(ClusterDamage) in
            let number = try reader.count()
            let operation = try reader.clusterName()
            return ClusterFold.Message(number: number, operation: operation, body: try reader.longBytes())
        }
    }
}

extension ClusterFold.Channel {
    /// The number of the last message as bytes. The messages are stored in rows of their own.
    package var bytes: [UInt8] {
        var writer = ByteWriter()
        writer.write(last)
        return writer.bytes
    }

    /// Makes a channel from stored parts. Error: `malformed` if the messages are not the last ones
    package init(bytes: [UInt8], messages: [ClusterFold.Message]) throws(ClusterDamage) {
        var reader = ByteReader(bytes)
        let last = try reader.cluster("channel") { reader throws(ClusterDamage) in try reader.count() }
        try self.init(last: last, messages: messages)
    }

    package init(last: UInt64, messages: [ClusterFold.Message]) throws(ClusterDamage) {
        self.init(last: last, newest: messages.sorted { $0.number < $1.number })
        if newest.count > Self.mostKept || UInt64(newest.count) > last { throw .malformed("messages") }
        for (rest, message) in newest.reversed().enumerated() where message.number != last - UInt64(rest) {
            throw .malformed("messages")
        }
    }
}

extension ByteWriter {
    mutating func write(_ value: ClusterFold.Versioned) {
        write(value.version)
        switch value.value {
        case .bytes(let bytes):
            write(UInt8(0))
            write(long: bytes)
        case .number(let number):
            write(UInt8(1))
            write(number)
        }
    }
}

extension ByteReader {
    mutating func versioned() throws(ClusterDamage) -> ClusterFold.Versioned {
        let version = try clusterName()
        let isNumber = try flag()
        let value: ClusterFold.Value = isNumber ? .number(try wholeNumber()) : .bytes(try longBytes())
        return ClusterFold.Versioned(value: value, version: version)
    }
}

extension ByteWriter {
    mutating func write(_ node: ClusterTree.Node) {
        write(node.parent)
        write(counted: node.name)
        write(node.placed)
        write(node.content)
        write(node.version)
    }
}

extension ByteReader {
    /// Reads the number of an item of the disk other than the root.
    mutating func localItem() throws(ClusterDamage) -> LocalItem {
        let local = LocalItem(try count())
        if local == .root { throw .malformed("the root in place of an item") }
        return local
    }

    mutating func node() throws(ClusterDamage) -> ClusterTree.Node {
        let parent = try itemName()
        let name = try fileName()
        let placed = try clusterName()
        let content = try content()
        return ClusterTree.Node(parent, name, placed: placed, content, version: try clusterName())
    }

    fileprivate mutating func sentItem() throws(ClusterDamage) -> SentItem {
        let item = try itemName()
        let local = try localItem()
        let form: UInt8 = try wholeNumber()
        let change: SentItem.Change
        switch form {
        case 0:
            let parent = try itemName()
            let name = try fileName()
            change = .created(parent, name, try content())
        case 1:
            let parent = try itemName()
            change = .moved(parent, try fileName())
        case 2: change = .written(try content())
        case 3: change = .removed
        default: throw .malformed("change \(form)")
        }
        return SentItem(item: item, local: local, change: change)
    }
}

/// The progress of a machine, as it is stored.
package struct StoredPosition: Equatable, Sendable {
    /// The index, the revision and the history hash of the fold.
    package var index: UInt64
    package var revision: UInt64
    package var chain: UInt64
    /// The number of this machine's last entry that is folded.
    package var number: UInt64
    /// The last number that an item of the disk has got.
    package var lastLocal: UInt64

    package init(index: UInt64 = 0, revision: UInt64 = 0, chain: UInt64 = 0, number: UInt64 = 0, lastLocal: UInt64 = 0)
    {
        self.index = index
        self.revision = revision
        self.chain = chain
        self.number = number
        self.lastLocal = lastLocal
    }

    package var bytes: [UInt8] {
        var writer = ByteWriter()
        for number in [index, revision, chain, number, lastLocal] { writer.write(number) }
        return writer.bytes
    }

    package init(bytes: [UInt8]) throws(ClusterDamage) {
        var reader = ByteReader(bytes)
        self = try reader.cluster("place") { reader throws(ClusterDamage) in
            let index = try reader.count()
            let revision = try reader.count()
            return StoredPosition(
                index: index, revision: revision, chain: try reader.wholeNumber(), number: try reader.count(),
                lastLocal: try reader.count())
        }
    }
}

/// An item of the disk, as it is stored: its node, and the attributes that show whether its file is still the one that
/// was read.
package struct StoredLocal: Equatable, Sendable {
    package var inode: UInt64
    package var size: UInt64
    package var modified: Int64
    package var changed: Int64
    package var node: LocalTree.Node

    package init(inode: UInt64, size: UInt64, modified: Int64, changed: Int64, _ node: LocalTree.Node) {
        self.inode = inode
        self.size = size
        self.modified = modified
        self.changed = changed
        self.node = node
    }

    package var bytes: [UInt8] {
        var writer = ByteWriter()
        for number in [inode, size] { writer.write(number) }
        for number in [modified, changed] { writer.write(number) }
        writer.write(raw: node.bytes)
        return writer.bytes
    }

    package init(bytes: [UInt8]) throws(ClusterDamage) {
        var reader = ByteReader(bytes)
        let (inode, size): (UInt64, UInt64) = (try reader.wholeNumber(), try reader.wholeNumber())
        let (modified, changed): (Int64, Int64) = (try reader.wholeNumber(), try reader.wholeNumber())
        let node = try LocalTree.Node(bytes: try reader.bytes(reader.remaining))
        self.init(inode: inode, size: size, modified: modified, changed: changed, node)
    }
}

extension LocalItem {
    /// The key of the item's row.
    package var bytes: [UInt8] {
        var writer = ByteWriter()
        writer.write(number)
        return writer.bytes
    }

    package init(bytes: [UInt8]) throws(ClusterDamage) {
        var reader = ByteReader(bytes)
        self = try reader.cluster("number") { reader throws(ClusterDamage) in try reader.localItem() }
    }
}

/// The note of a file that is about to come out of the container, as it is stored. A program that was killed resumes by
/// it.
package struct StoredTaken: Equatable, Sendable {
    /// The path of the item, relative to the container.
    package var path: [UInt8]
    /// The path under which unexpected content is kept.
    package var aside: [UInt8]
    /// The contents that need not be kept.
    package var expected: [Expected]

    package struct Expected: Equatable, Sendable {
        package var kind: ItemContent.Kind
        package var digest: [UInt8]

        package init(_ content: ItemContent) {
            kind = content.kind
            digest = content.digest
        }

        fileprivate init(_ kind: ItemContent.Kind, _ digest: [UInt8]) {
            self.kind = kind
            self.digest = digest
        }

        package func isSame(as content: ItemContent) -> Bool { kind == content.kind && digest == content.digest }
    }

    package init(path: [UInt8], aside: [UInt8], expected: [ItemContent]) {
        self.path = path
        self.aside = aside
        self.expected = expected.map { Expected($0) }
    }

    package var bytes: [UInt8] {
        var writer = ByteWriter()
        writer.write(counted: path)
        writer.write(counted: aside)
        for content in expected {
            writer.write(content.kind.rawValue)
            writer.write(counted: content.digest)
        }
        return writer.bytes
    }

    /// Reads a note from bytes that may be damaged or forged. Error: `malformed`, also for a path that leads out of the
    /// container or to the library's own files
    package init(bytes: [UInt8]) throws(ClusterDamage) {
        var reader = ByteReader(bytes)
        path = try reader.path()
        aside = try reader.path()
        expected = []
        while reader.remaining > 0 {
            guard let kind = ItemContent.Kind(rawValue: try reader.wholeNumber()) else {
                throw .malformed("kind of item")
            }
            expected.append(Expected(kind, try reader.countedBytes()))
        }
    }
}

extension ByteReader {
    /// Reads a path, each name of which must be valid for an item.
    fileprivate mutating func path() throws(ClusterDamage) -> [UInt8] {
        let path = try countedBytes()
        for name in path.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        where !FileNames.isValid(Array(name)) {
            throw .malformed("path \(printable(path))")
        }
        return path
    }
}
