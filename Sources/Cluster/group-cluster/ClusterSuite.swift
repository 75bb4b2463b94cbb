import Cluster
import FoundationEssentials
import GroupBytes
import GroupCluster
import GroupContainer
import GroupSystemCalls

/// A suite whose values the machines of the cluster share.
///
/// A value that a process of this machine sets is visible here at once, and is sent later. So the suite has the
/// cluster's values, with the changes on top that the cluster does not have yet.
///
/// This program sets the cluster's values by a record without the keys that a process has set since the suite was read.
/// An addition that a process makes at that moment is therefore not overwritten, and an addition that the cluster has
/// already is not made twice.
final class ClusterSuite {
    let name: String
    let defaults: GroupDefaults
    private var follower: Follower<DefaultsChange>
    /// The position up to which changes were sent, or need not be. Changes behind it are in the outbox, or not read
    /// yet.
    private(set) var sentThrough: Cursor
    /// The sequence number of the suite's last record that was read.
    private var last: SequenceNumber
    /// The time of the last change that was read.
    private(set) var lastTime: Int64 = 0
    /// Whether there are more changes than one round takes.
    var hasMore = false
    /// Whether there are records that were not read yet, of a process or of this program.
    var hasUnread: Bool { follower.hasMore }
    /// The keys that this program has set since it last stored its state, as far as the log was read; nil after they
    /// were taken.
    private var setBefore: Set<[UInt8]>? = []
    /// Set when the position in the log was lost.
    private var lost: Lost?
    /// The values from before the machine joined for which the cluster has others, until they are taken.
    private var replaced: [String: DefaultsValue] = [:]

    private struct Lost {
        /// The sequence number up to which changes were sent.
        var since: SequenceNumber
        /// Whether everything that was set after that number is among the present values.
        var isComplete: Bool
    }

    init(_ container: Container, _ name: String, since origin: ChangeOrigin) throws {
        self.name = name
        defaults = try GroupDefaults(container, suite: name, purpose: "cluster")
        follower = try defaults.follow(since: origin)
        last = follower.cursor.sequence
        if case .cursor(let cursor) = origin { sentThrough = cursor } else { sentThrough = follower.cursor }
    }

    /// The value that the cluster has for a key.
    struct Value {
        var key: String
        var value: DefaultsValue?
        /// The process or machine that has set the value.
        var author: String
    }

    /// The cluster's values of a suite, with the changes on top that this machine sends.
    struct InCluster {
        var values: [String: ClusterFold.Value] = [:]
        /// The keys that may have an older value of the cluster here.
        var unapplied: Set<String> = []

        mutating func apply(_ changes: [ClusterChange]) {
            for case .value(let change) in changes {
                guard let key = ClusterSuite.names(change.key)?.key else { continue }
                values[key] = change.action.applied(to: values[key])
            }
        }
    }

    /// A change that a process of this machine has made.
    struct Local {
        var changes: [ClusterChange]
        var time: Int64
        /// The position behind the change; nil if reading cannot resume there.
        var cursor: Cursor?
    }

    /// Returns the changes that were made here since the last call.
    ///
    /// If the position in the suite's log was lost, the values are compared with the cluster's. A key that differs was
    /// set or removed here, unless it may have an older value of the cluster. The difference of two numbers becomes an
    /// addition: to set the sum would take back the additions of other machines.
    ///
    /// | the log has | the change that is made of it |
    /// |---|---|
    /// | a set, removed or added key | the same change |
    /// | a value from before the machine joined | a set that counts only if the cluster has no value |
    /// | a cleared suite | the removal of each key |
    /// | a lost position | the differences from the cluster's values |
    func takeChanges(_ inCluster: () -> InCluster) throws -> [Local] {
        var changes: [Local] = []
        var open: Local?
        var cluster: InCluster?
        func known() -> InCluster {
            var known = inCluster()
            for local in changes + (open.map { [$0] } ?? []) { known.apply(local.changes) }
            return known
        }
        var count = 0
        let start = monotonicNanoseconds()
        hasMore = false
        while let change = try follower.next(timeout: .zero) {
            defer { count += 1 }
            last = follower.cursor.sequence
            let key = Self.key(suite: name, change.key)
            if change.origin != .here {
                setBefore?.insert(key)
                continue
            }
            // A gap between two parts of a record does not end the record.
            if case .degraded = change.kind { continue }
            var made = try self.changes(of: change, key, &cluster, known)
            if made.isEmpty && open == nil { continue }
            while change.parts == 1 && made.count > ClusterEntry.mostChanges {
                let part = Array(made.suffix(ClusterEntry.mostChanges))
                made.removeLast(part.count)
                changes.append(Local(changes: part, time: change.timeNanoseconds))
            }
            var local = open ?? Local(changes: [], time: change.timeNanoseconds)
            local.changes += made
            local.cursor = follower.isBetweenRecords ? follower.cursor : nil
            if change.part + 1 < change.parts {
                open = local
            } else {
                changes.append(local)
                open = nil
            }
            // A process may set keys as quickly as this program reads. Whatever else waits for this program, such as a
            // strict request, waits for the end of the round: on a busy machine, a round of many changes takes seconds.
            let isLong = count % 64 == 63 && monotonicNanoseconds() > start + Self.longestRound
            if (count >= Self.mostAtOnce || isLong) && follower.isBetweenRecords {
                hasMore = follower.hasMore
                break
            }
        }
        if let open { changes.append(open) }
        last = follower.cursor.sequence
        // The order is that of the log. The times of two processes may be in another order, and are raised where they
        // are.
        for index in changes.indices {
            lastTime = max(lastTime, changes[index].time)
            changes[index].time = lastTime
        }
        return changes
    }

    /// Returns the changes to be sent for one of the suite. `cluster` are the cluster's values, with the changes of this
    /// round on top; nil until they are needed: `known` returns them.
    private func changes(
        of change: DefaultsChange, _ key: [UInt8], _ cluster: inout InCluster?, _ known: () -> InCluster
    ) throws -> [ClusterChange] {
        switch change.kind {
        case .set, .removed, .present:
            if change.author == nil, let lost {
                var present = cluster ?? known()
                let made = difference(change, key, present, lost)
                present.apply(made)
                cluster = present
                return made
            }
            if change.kind == .removed { return [.value(ValueChange(key, .remove))] }
            guard let value = change.newValue else { return [] }
            if change.kind != .present {
                return [change.addend.map { .value(ValueChange(key, .add($0))) } ?? Self.set(key, value)]
            }
            // A value from before the machine joined counts only if the cluster has none.
            let present = cluster ?? known()
            cluster = present
            guard let other = present.values[change.key] else { return [Self.set(key, value, base: .zero)] }
            if Self.value(other) != value { replaced[change.key] = value }
            return []
        // A follower of the whole suite gets one change for all of its keys.
        case .cleared: return known().values.keys.map { .value(ValueChange(Self.key(suite: name, $0), .remove)) }
        case .rescan: return try lose(&cluster, known)
        case .degraded: return []
        }
    }

    /// Notes that the position in the log was lost. Returns the removals of the keys that are gone.
    private func lose(_ cluster: inout InCluster?, _ known: () -> InCluster) throws -> [ClusterChange] {
        let isComplete = try defaults.hasDropped(sentThrough)
        lost = Lost(since: sentThrough.sequence, isComplete: isComplete)
        var present = known()
        defer { cluster = present }
        if !isComplete { return [] }
        let here = defaults.dictionaryRepresentation()
        let made: [ClusterChange] = present.values.filter { key, value in
            here[key] == nil && !present.unapplied.contains(key) && Self.value(value) != nil
        }.map { .value(ValueChange(Self.key(suite: name, $0.key), .remove)) }
        present.apply(made)
        return made
    }

    /// Returns the change of a key for a present value, or a removal, after the position in the log was lost.
    private func difference(_ change: DefaultsChange, _ key: [UInt8], _ cluster: InCluster, _ lost: Lost)
        -> [ClusterChange]
    {
        let present = cluster.values[change.key]
        let isUnapplied = cluster.unapplied.contains(change.key)
        guard let value = change.newValue else {
            return present == nil || isUnapplied ? [] : [.value(ValueChange(key, .remove))]
        }
        if change.generation.rawValue <= lost.since.rawValue || value == Self.value(present) { return [] }
        if lost.isComplete, !isUnapplied, case .integer(let number) = value,
            case .number(let old) = present ?? .number(0)
        {
            let (difference, isOver) = Int64(number).subtractingReportingOverflow(old)
            if !isOver { return [.value(ValueChange(key, .add(difference)))] }
        }
        return [Self.set(key, value)]
    }

    /// Returns, once, the keys that this program has set since it last stored its state. Returns nil until all records
    /// are read.
    func takeSetBefore() -> Set<[UInt8]>? {
        if hasUnread { return nil }
        defer { setBefore = nil }
        return setBefore
    }

    /// Returns, once, the values from before the machine joined for which the cluster has others.
    func takeReplaced() -> [String: DefaultsValue] {
        defer { replaced = [:] }
        return replaced
    }

    func noteSent(through cursor: Cursor) { sentThrough = cursor }

    /// Notes that all changes that were read are sent, or were made by this program. Returns whether the position has
    /// changed.
    func noteAllSent() -> Bool {
        defer { sentThrough = follower.cursor }
        return sentThrough != follower.cursor
    }

    /// Sets values of the cluster. Returns the keys that a process has set since its changes were read: those are set
    /// after these changes were taken.
    func set(_ values: [Value], index: UInt64) throws -> Set<String> {
        let present = defaults.dictionaryRepresentation()
        var different = values.filter { present[$0.key] != $0.value }.sorted { $0.author < $1.author }[...]
        var left: Set<String> = []
        while let author = different.first?.author {
            // A record has one author, and a largest size.
            var size = 0
            let part = different.prefix { value in
                defer { size += value.value?.recordBytes.count ?? 0 }
                return value.author == author && size < Self.largestRecord
            }
            different = different.dropFirst(part.count)
            left.formUnion(
                try defaults.setFromSource(
                    part.map { ($0.key, $0.value) }, purpose: author, number: index, unlessSetSince: last))
        }
        return left
    }

    private static let largestRecord = 1 << 20
    /// The number of changes after which a round ends.
    private static let mostAtOnce = 8_192
    /// The time after which a round ends, in nanoseconds.
    private static let longestRound: Int64 = 20_000_000

    /// Syncs the suite, so that a power cut does not take back what is about to be sent.
    func synchronize() throws { try defaults.synchronizeAll() }

    private let isOver = Guarded(false)

    /// Starts a thread that calls `body` after each change, for as long as this object lives.
    func onChange(_ body: @escaping @Sendable () -> Void) throws {
        try defaults.follow(since: .now).onEach(until: isOver, body)
    }

    deinit {
        isOver.withLock { $0 = true }
        Interruption.raise()
    }

    // MARK: Keys and values in the cluster

    static func key(suite: String, _ key: String) -> [UInt8] { Array(suite.utf8) + [0] + Array(key.utf8) }

    static func names(_ key: [UInt8]) -> (suite: String, key: String)? {
        guard let zero = key.firstIndex(of: 0), let suite = String(validating: key[..<zero], as: UTF8.self),
            let name = String(validating: key[(zero + 1)...], as: UTF8.self), !Container.isOwnName(suite),
            !suite.isEmpty, !suite.contains("/"), suite != ".", suite != ".."
        else { return nil }
        return (suite, name)
    }

    static func set(_ key: [UInt8], _ value: DefaultsValue, base: ClusterName? = nil) -> ClusterChange {
        if case .integer(let number) = value { return .value(ValueChange(key, .setNumber(Int64(number)), base: base)) }
        return .value(ValueChange(key, .set(value.recordBytes), base: base))
    }

    static func value(_ value: ClusterFold.Value?) -> DefaultsValue? {
        switch value {
        case nil: nil
        case .number(let number)?: .integer(Int(number))
        case .bytes(let bytes)?: DefaultsValue(recordBytes: bytes)
        }
    }
}

extension Follower<DefaultsChange> {
    /// Starts a thread that calls `body` after each change, until an interruption finds `isOver` set.
    func onEach(until isOver: Guarded<Bool>, _ body: @escaping @Sendable () -> Void) throws {
        try WorkThread.start {
            var changes = self
            while true {
                let seen = Interruption.latest
                if isOver.withLock({ $0 }) { return }
                do {
                    if try changes.next(timeout: nil, since: seen) != nil { body() }
                } catch {
                    return
                }
            }
        }
    }
}
