import Cluster
import FoundationEssentials
import GroupBytes
import GroupCluster
import GroupContainer
import GroupSystemCalls

/// The identity of this machine in its cluster, made when the machine joins, and made anew when a person accepts
/// another history.
struct MachineIdentity: Codable, Equatable {
    /// The name of the container in the cluster.
    var name: String
    /// The name of the host, for people.
    var host: String
    /// The random name of the machine, as 32 hexadecimal digits.
    var machineText: String
    var endpoints: [String]
    var user: String?
    var passwordFile: String?
    var authorityFile: String?
    var budgetMebibytes: UInt64?

    /// The room for etcd's database, its history included, in bytes. The default is that of etcd.
    var budget: UInt64 { (budgetMebibytes ?? 2_048) << 20 }

    static let budgets: ClosedRange<UInt64> = 1...1 << 20

    var machine: ClusterName { ClusterName(text: machineText) ?? .zero }

    private static let key = "identity"

    /// Returns the stored identity; nil if the machine has not joined. Error: `damaged`
    static func load(_ store: StateStore) throws -> MachineIdentity? {
        guard let bytes = try store.value(key) else { return nil }
        return try LoadedState.checked {
            let identity = try JSONDecoder().decode(MachineIdentity.self, from: Data(bytes))
            guard ClusterKeys.isName(identity.name), identity.machine != .zero,
                identity.budgetMebibytes.map(budgets.contains) ?? true
            else { throw ClusterDamage.malformed("the identity of this machine") }
            return identity
        }
    }

    func save(_ store: StateStore) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let bytes = Array(try encoder.encode(self))
        try store.store(isDurable: true) { try $0.set(Self.key, bytes) }
    }
}

/// The state that the last run has stored.
struct LoadedState {
    var fold = ClusterFold()
    var mirror: ClusterMirror
    var outbox: ClusterOutbox
    /// The items of the disk as rows, and below as a tree.
    var local: [(item: LocalItem, stored: StoredLocal)] = []
    var tree = LocalTree()
    var lastLocal: UInt64 = 0
    var cursor: Cursor?
    var conflicts: [ClusterStatus.Conflict] = []
    /// The posts whose messages are in flight.
    var postsInFlight: [String] = []
    /// The strict requests that were accepted and are being applied, with the items that they have changed.
    var accepted: [ClusterName: Set<ItemName>] = [:]
    /// Keys with a value here that is too large for the cluster.
    var refusedKeys: Set<[UInt8]> = []
    var removals = RemovalGuard()
    /// Keys that may not have the value of the fold.
    var unappliedKeys: Set<[UInt8]> = []
    /// The files with values of this machine that the cluster has replaced.
    var replaced: [String] = []
    var pause: Pause?

    /// Reads a set of keys.
    private static func keys(_ bytes: [UInt8]?) throws -> Set<[UInt8]> {
        var keys: Set<[UInt8]> = []
        var reader = ByteReader(bytes ?? [])
        while reader.remaining > 0 { keys.insert(try reader.counted()) }
        return keys
    }

    /// Returns a set of keys as bytes; nil if it is empty.
    static func bytes(of keys: Set<[UInt8]>) -> [UInt8]? {
        var writer = ByteWriter()
        for key in keys { writer.write(counted: key) }
        return keys.isEmpty ? nil : writer.bytes
    }

    /// Reads the stored state, whose bytes may be damaged or forged. Error: `damaged`
    init(_ store: StateStore, _ machine: ClusterName) throws {
        self = try Self.checked { try LoadedState(unchecked: store, machine) }
    }

    private init(unchecked store: StateStore, _ machine: ClusterName) throws {
        mirror = ClusterMirror()
        outbox = ClusterOutbox(machine: machine)
        let stored = try store.value("place").map { try StoredPosition(bytes: $0) } ?? StoredPosition()
        lastLocal = stored.lastLocal
        var nodes: [ItemName: ClusterTree.Node] = [:]
        try store.forEach(.item) { key, value in
            nodes[try ItemName(bytes: key)] = try ClusterTree.Node(bytes: value)
        }
        var machines: [ClusterName: ClusterFold.Last] = [:]
        try store.forEach(.machine) { key, value in
            machines[try ClusterName(bytes: key)] = try ClusterFold.Last(bytes: value)
        }
        var values: [[UInt8]: ClusterFold.Versioned] = [:]
        try store.forEach(.value) { key, value in values[key] = try ClusterFold.Versioned(bytes: value) }
        var messages: [[UInt8]: [ClusterFold.Message]] = [:]
        try store.forEach(.message) { key, value in
            messages[Array(key.dropLast(8)), default: []].append(try ClusterFold.Message(bytes: value))
        }
        var channels: [[UInt8]: ClusterFold.Channel] = [:]
        try store.forEach(.channel) { key, value in
            channels[key] = try ClusterFold.Channel(bytes: value, messages: messages[key] ?? [])
        }
        fold = try ClusterFold(
            index: stored.index, revision: stored.revision, chain: stored.chain, machines: machines, nodes: nodes,
            values: values, channels: channels)
        postsInFlight =
            try store.value(StateRow.postsInFlight).map { bytes in
                String(decoding: bytes, as: UTF8.self).split(separator: " ").map { String($0) }
            } ?? []
        var locals: [LocalItem: LocalTree.Node] = [:]
        try store.forEach(.local) { key, value in
            let item = try LocalItem(bytes: key)
            let stored = try StoredLocal(bytes: value)
            locals[item] = stored.node
            local.append((item, stored))
            lastLocal = max(lastLocal, item.number)
        }
        tree = try LocalTree(locals)
        var base: [ItemName: ClusterMirror.Base] = [:]
        try store.forEach(.base) { key, value in
            let item = try ClusterMirror.Base(bytes: value)
            if item.local.number > lastLocal { throw ClusterDamage.malformed("an item of the disk without a number") }
            base[try ItemName(bytes: key)] = item
        }
        mirror = ClusterMirror(base: base)
        let inFlight = try store.value("in flight").map { try ClusterOutbox.InFlight(bytes: $0) }
        if let inFlight, inFlight.number != stored.number + 1 {
            throw ClusterDamage.malformed("the number of the entry in flight")
        }
        outbox = ClusterOutbox(machine: machine, number: stored.number, inFlight: inFlight)
        accepted = try Self.accepted(store.value("accepted") ?? [])
        refusedKeys = try Self.keys(store.value(StateRow.refusedKeys))
        unappliedKeys = try Self.keys(store.value(StateRow.unappliedKeys))
        removals = try RemovalGuard(stored: store)
        cursor = try store.value("cursor").flatMap { Cursor(String(decoding: $0, as: UTF8.self)) }
        if let bytes = try store.value(StateRow.conflicts) {
            conflicts = try JSONDecoder().decode([ClusterStatus.Conflict].self, from: Data(bytes))
        }
        pause = try store.value(StateRow.pause).flatMap { Pause(rawValue: String(decoding: $0, as: UTF8.self)) }
        if let bytes = try store.value(StateRow.replaced) {
            replaced = try JSONDecoder().decode([String].self, from: Data(bytes))
        }
    }

    /// Runs `body`, which reads stored bytes. Error: `damaged` if they cannot be read
    static func checked<Result>(_ body: () throws -> Result) throws -> Result {
        do {
            return try body()
        } catch let error as CoordinationError {
            throw error
        } catch let error as ClusterDamage {
            throw damaged(error.reason, cause: error)
        } catch is ByteReader.TooShort {
            throw damaged("too short")
        } catch let error as DecodingError {
            throw damaged("JSON that is not the program's", cause: error)
        } catch {
            throw damaged("\(error)", cause: error)
        }
    }

    static func bytes(ofAccepted accepted: [ClusterName: Set<ItemName>]) -> [UInt8] {
        var writer = ByteWriter()
        for (operation, items) in accepted {
            writer.write(counted: operation.bytes)
            writer.write(UInt64(items.count))
            for item in items { writer.write(counted: item.bytes) }
        }
        return writer.bytes
    }

    private static func accepted(_ bytes: [UInt8]) throws -> [ClusterName: Set<ItemName>] {
        var reader = ByteReader(bytes)
        var accepted: [ClusterName: Set<ItemName>] = [:]
        while reader.remaining > 0 {
            let operation = try ClusterName(bytes: try reader.counted())
            var items: Set<ItemName> = []
            for _ in 0..<(try reader.number(UInt64.self)) { items.insert(try ItemName(bytes: try reader.counted())) }
            accepted[operation] = items
        }
        return accepted
    }

    static func damaged(_ reason: String, cause: (any Error)? = nil) -> CoordinationError {
        CoordinationError(
            .damaged, operation: "read", item: ".group/cluster/state", reason: "the state is damaged: \(reason)",
            remedy: StateStore.ifDamaged, cause: cause)
    }

    static var rowIsWrong: CoordinationError { damaged("a row of another type or size") }
}
