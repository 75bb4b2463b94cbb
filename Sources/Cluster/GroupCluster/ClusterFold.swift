// Imports GroupBytes only: no file, clock or process.

import GroupBytes

/// An entry as it is in etcd: its position in the log, the machine that sent it, and its bytes.
package struct OrderedEntry: Equatable, Sendable {
    /// The version of the key `t`, which counts the entries from 1 on.
    package var index: UInt64
    package var revision: UInt64
    package var machine: ClusterName
    package var number: UInt64
    package var bytes: [UInt8]

    package init(index: UInt64, revision: UInt64, machine: ClusterName, number: UInt64, bytes: [UInt8]) {
        self.index = index
        self.revision = revision
        self.machine = machine
        self.number = number
        self.bytes = bytes
    }
}

/// The state that results from replaying the cluster's log. All machines apply the same entries in the same order, by
/// rules without a clock or a random number, so all have the same fold.
package struct ClusterFold: Equatable, Sendable {
    package enum Outcome: UInt8, Sendable {
        case accepted
        /// A strict entry changed nothing, or a local-first entry has a change that could not be made as it was meant.
        case conflict
        /// The bytes are not an entry. They count as an empty one.
        case damaged
    }

    /// The last entry of a machine.
    package struct Last: Equatable, Sendable {
        package var number: UInt64
        package var operation: ClusterName
        package var outcome: Outcome

        package init(number: UInt64, operation: ClusterName, outcome: Outcome) {
            self.number = number
            self.operation = operation
            self.outcome = outcome
        }
    }

    package enum Value: Equatable, Sendable {
        case bytes([UInt8])
        case number(Int64)
    }

    package struct Versioned: Equatable, Sendable {
        package var value: Value
        package var version: ClusterName
    }

    package struct Message: Equatable, Sendable {
        package var number: UInt64
        package var operation: ClusterName
        package var body: [UInt8]
    }

    /// A channel: the number of its last message, and the newest messages, for machines that were away.
    package struct Channel: Equatable, Sendable {
        package var last: UInt64 = 0
        package var newest: [Message] = []
        package static let mostKept = 1024
    }

    /// The result of applying an entry.
    package struct Verdict: Equatable, Sendable {
        package var machine: ClusterName
        package var operation: ClusterName
        package var outcome: Outcome
        package var author: [UInt8] = []
        package var items: Set<ItemName> = []
        /// The keys of values that the entry names; below, the channels.
        package var keys: Set<[UInt8]> = []
        package var channels: Set<[UInt8]> = []
    }

    package internal(set) var index: UInt64 = 0
    package internal(set) var revision: UInt64 = 0
    /// The history hash: a hash over all entries with their positions, by which two histories are compared. The hash
    /// finds mistakes and not forgeries, since every machine can compute it.
    package internal(set) var chain: UInt64 = 0
    package internal(set) var machines: [ClusterName: Last] = [:]
    package internal(set) var tree = ClusterTree()
    package internal(set) var values: [[UInt8]: Versioned] = [:]
    package internal(set) var channels: [[UInt8]: Channel] = [:]

    package init() {}

    /// Makes a fold from stored parts. Throws `.malformed` if the nodes are not a tree.
    package init(
        index: UInt64, revision: UInt64, chain: UInt64, machines: [ClusterName: Last],
        nodes: [ItemName: ClusterTree.Node], values: [[UInt8]: Versioned] = [:], channels: [[UInt8]: Channel] = [:]
    ) throws(ClusterDamage) {
        self.index = index
        self.revision = revision
        self.chain = chain
        self.machines = machines
        self.values = values
        self.channels = channels
        tree = try ClusterTree(nodes)
    }

    /// Applies the next entry of the log. Throws `.newerVersion` for an entry that needs a newer program, and
    /// `.malformed` for an entry that cannot be the next one. The fold is unchanged then.
    package mutating func apply(_ ordered: OrderedEntry) throws(ClusterDamage) -> Verdict {
        let last = machines[ordered.machine]?.number ?? 0
        if ordered.index != index + 1 || ordered.revision <= revision || ordered.number != last + 1 {
            throw .malformed("entry \(ordered.index) at \(ordered.revision) does not follow \(index) at \(revision)")
        }
        var verdict = Verdict(machine: ordered.machine, operation: .zero, outcome: .damaged)
        do {
            let entry = try ClusterEntry(bytes: ordered.bytes)
            (verdict.operation, verdict.author) = (entry.operation, entry.author)
            (verdict.outcome, verdict.items) = judge(entry)
            for change in entry.changes {
                switch change {
                case .item: continue
                case .value(let change): verdict.keys.insert(change.key)
                case .message(let channel, _): verdict.channels.insert(channel)
                }
            }
        } catch .newerVersion(let version) {
            throw .newerVersion(version)
        } catch .malformed {}
        chain = Self.chained(chain, ordered)
        (index, revision) = (ordered.index, ordered.revision)
        machines[ordered.machine] = Last(
            number: ordered.number, operation: verdict.operation, outcome: verdict.outcome)
        return verdict
    }

    /// Returns the history hash after an entry.
    package static func chained(_ chain: UInt64, _ ordered: OrderedEntry) -> UInt64 {
        var writer = ByteWriter()
        writer.write(chain)
        writer.write(ordered.revision)
        writer.write(ordered.machine)
        writer.write(ordered.number)
        writer.write(raw: ordered.bytes)
        return SipHash(key: (0x6772_6f75, 0x7063_6c75)).hash(writer.bytes)
    }

    private mutating func judge(_ entry: ClusterEntry) -> (Outcome, Set<ItemName>) {
        // Only a strict entry needs a copy to return to. With a copy, each change would copy all values.
        let before = entry.isStrict ? (values, channels) : ([:], [:])
        var fits = true
        for (part, change) in entry.changes.enumerated() {
            let isRight =
                switch change {
                case .item(let change):
                    tree.change(change, entry.operation, part: UInt16(part), isStrict: entry.isStrict)
                case .value(let change): self.change(change, entry.operation)
                case .message(let channel, let body): append(body, to: channel, entry.operation)
                }
            if isRight { continue }
            fits = false
            if entry.isStrict { break }
        }
        if entry.isStrict && !fits {
            tree.rollBack()
            (values, channels) = before
        }
        return (fits ? .accepted : .conflict, tree.takeChanges())
    }

    private mutating func append(_ body: [UInt8], to name: [UInt8], _ operation: ClusterName) -> Bool {
        var channel = channels[name] ?? Channel()
        channel.last += 1
        channel.newest.append(Message(number: channel.last, operation: operation, body: body))
        if channel.newest.count > Channel.mostKept { channel.newest.removeFirst() }
        channels[name] = channel
        return true
    }

    /// Changes a value. Returns false if the base is another version, or if the sum cannot be computed.
    private mutating func change(_ change: ValueChange, _ operation: ClusterName) -> Bool {
        let old = values[change.key]
        if let base = change.base, base != old?.version ?? ClusterName.zero { return false }
        switch change.action {
        case .remove: values[change.key] = nil
        case .set(let bytes): values[change.key] = Versioned(value: .bytes(bytes), version: operation)
        case .setNumber(let number): values[change.key] = Versioned(value: .number(number), version: operation)
        case .add(let number):
            guard case .number(let now) = old?.value ?? .number(0) else { return false }
            let (sum, isTooLarge) = now.addingReportingOverflow(number)
            if isTooLarge { return false }
            values[change.key] = Versioned(value: .number(sum), version: operation)
        }
        return true
    }
}
