// Imports GroupBytes only: no file, clock or process.

import GroupBytes

/// The fold as bytes: a version, then all parts in a fixed order, so that equal folds have equal bytes.
extension ClusterFold {
    package static let version: UInt8 = 1
    /// The version of a snapshot with the name of a `.groupignore`, which older programs cannot read.
    package static let versionWithIgnoreFile: UInt8 = 2

    private var neededVersion: UInt8 {
        let hasIgnoreFile = tree.nodes.values.contains { $0.name.starts(with: FileNames.ignoreFile) }
        return hasIgnoreFile ? Self.versionWithIgnoreFile : Self.version
    }

    package var snapshot: [UInt8] {
        var writer = ByteWriter()
        writer.write(neededVersion)
        for number in [index, revision, chain] { writer.write(number) }
        writer.write(UInt32(truncatingIfNeeded: machines.count))
        for (name, last) in machines.sorted(by: { $0.key < $1.key }) {
            writer.write(name)
            writer.write(last.number)
            writer.write(last.operation)
            writer.write(last.outcome.rawValue)
        }
        writer.write(UInt32(truncatingIfNeeded: tree.nodes.count))
        for (item, node) in tree.nodes.sorted(by: { $0.key < $1.key }) {
            writer.write(item)
            writer.write(node)
        }
        writer.write(UInt32(truncatingIfNeeded: values.count))
        for (key, value) in values.sorted(by: { $0.key.lexicographicallyPrecedes($1.key) }) {
            writer.write(counted: key)
            writer.write(value)
        }
        writer.write(UInt32(truncatingIfNeeded: channels.count))
        for (name, channel) in channels.sorted(by: { $0.key.lexicographicallyPrecedes($1.key) }) {
            writer.write(counted: name)
            writer.write(channel.last)
            writer.write(UInt16(truncatingIfNeeded: channel.newest.count))
            for message in channel.newest {
                writer.write(message.operation)
                writer.write(long: message.body)
            }
        }
        return writer.bytes
    }

    /// Reads a snapshot from bytes that may be damaged or forged. Throws `.malformed` for a tree with a circle, two
    /// items at one path, or an item in a file.
    package init(snapshot bytes: [UInt8]) throws(ClusterDamage) {
        var reader = ByteReader(bytes)
        self = try reader.cluster("snapshot") { reader throws(ClusterDamage) in
            let version: UInt8 = try reader.wholeNumber()
            if !(Self.version...Self.versionWithIgnoreFile).contains(version) { throw .newerVersion(version) }
            var fold = ClusterFold()
            fold.index = try reader.count()
            fold.revision = try reader.count()
            fold.chain = try reader.wholeNumber()
            try fold.readMachines(&reader)
            try fold.readTree(&reader)
            try fold.readValues(&reader)
            try fold.readChannels(&reader)
            if fold.neededVersion > version { throw .malformed("a name that this version of a snapshot does not have") }
            return fold
        }
    }

    private mutating func readMachines(_ reader: inout ByteReader) throws(ClusterDamage) {
        for _ in 0..<(try reader.wholeNumber() as UInt32) {
            let name = try reader.clusterName()
            let number = try reader.count()
            let operation = try reader.clusterName()
            guard let outcome = Outcome(rawValue: try reader.wholeNumber()), machines[name] == nil else {
                throw .malformed("machine")
            }
            machines[name] = Last(number: number, operation: operation, outcome: outcome)
        }
    }

    private mutating func readTree(_ reader: inout ByteReader) throws(ClusterDamage) {
        var nodes: [ItemName: ClusterTree.Node] = [:]
        for _ in 0..<(try reader.wholeNumber() as UInt32) {
            let item = try reader.itemName()
            if nodes[item] != nil { throw .malformed("an item that is there twice") }
            nodes[item] = try reader.node()
        }
        tree = try ClusterTree(nodes)
    }

    private mutating func readValues(_ reader: inout ByteReader) throws(ClusterDamage) {
        for _ in 0..<(try reader.wholeNumber() as UInt32) {
            let key = try reader.countedBytes()
            values[key] = try reader.versioned()
        }
    }

    private mutating func readChannels(_ reader: inout ByteReader) throws(ClusterDamage) {
        for _ in 0..<(try reader.wholeNumber() as UInt32) {
            let name = try reader.countedBytes()
            var channel = Channel(last: try reader.count())
            let count: UInt16 = try reader.wholeNumber()
            if count > Channel.mostKept || UInt64(count) > channel.last { throw .malformed("messages") }
            for index in 1...UInt64(count) + 1 where index <= count {
                let operation = try reader.clusterName()
                let number = channel.last - UInt64(count) + index
                channel.newest.append(Message(number: number, operation: operation, body: try reader.longBytes()))
            }
            channels[name] = channel
        }
    }
}
