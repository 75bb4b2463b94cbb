// Imports GroupBytes only: no file, clock or process.

import GroupBytes

// What a machine stores, as bytes. The owner of a mirror and an outbox keeps a row for each item, and the entry in flight.

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
            let local = LocalItem(try reader.wholeNumber())
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
            let parent = LocalItem(try reader.wholeNumber())
            return LocalTree.Node(parent, try reader.fileName(), try reader.content())
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
            let number: UInt64 = try reader.wholeNumber()
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
            let number: UInt64 = try reader.wholeNumber()
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
            let number: UInt64 = try reader.wholeNumber()
            let operation = try reader.clusterName()
            return ClusterFold.Message(number: number, operation: operation, body: try reader.longBytes())
        }
    }
}

extension ClusterFold.Channel {
    package init(last: UInt64, messages: [ClusterFold.Message]) throws(ClusterDamage) {
        self.init(last: last, newest: messages.sorted { $0.number < $1.number })
        if newest.count > Self.mostKept || newest.last.map({ $0.number != last }) == true {
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
    mutating func node() throws(ClusterDamage) -> ClusterTree.Node {
        let parent = try itemName()
        let name = try fileName()
        let placed = try clusterName()
        let content = try content()
        return ClusterTree.Node(parent, name, placed: placed, content, version: try clusterName())
    }

    fileprivate mutating func sentItem() throws(ClusterDamage) -> SentItem {
        let item = try itemName()
        let local = LocalItem(try wholeNumber())
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
