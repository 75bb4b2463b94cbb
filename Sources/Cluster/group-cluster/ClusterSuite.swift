import Cluster
import FoundationEssentials
import GroupBytes
import GroupCluster
import GroupContainer
import GroupSystemCalls

/// A suite of the defaults that is kept together with those of other machines.
///
/// What a process of this machine sets is visible here at once, and is sent. What stands in the suite is what the cluster has, and
/// on top of it, in their order, the changes of this machine that the cluster does not have yet. A record of this program is
/// appended only if nothing else was, since the suite was read; so an addition that a process makes meanwhile is not lost, and
/// an addition that the cluster has already is not made twice.
final class ClusterSuite {
    let name: String
    let defaults: GroupDefaults
    private var follower: Follower<DefaultsChange>
    /// The place behind the last change that is not to be read again: the changes behind it are in the outbox.
    private(set) var sentThrough: Cursor
    /// The number of the suite's last record that was read.
    private var last: SequenceNumber
    /// The time of the last change that was read.
    private(set) var lastTime: Int64 = 0
    /// Whether there was more than is taken at once.
    var hasMore = false
    /// Whether there is something that was not read, or was set by this program.
    var hasUnread: Bool { follower.hasMore }
    /// The keys that the program's last run has set after it had stored its state for the last time, as far as the log
    /// was read; nil when they were taken.
    private var setBefore: Set<[UInt8]>? = []
    /// Set where the place in the log was lost.
    private var lost: Lost?
    /// Values from before the machine joined that the cluster has others for, until they are taken.
    private var replaced: [String: DefaultsValue] = [:]

    private struct Lost {
        /// What was set up to this number was sent.
        var since: SequenceNumber
        /// Whether all that was set since is among the values that are set now.
        var isComplete: Bool
    }

    init(_ container: Container, _ name: String, since origin: ChangeOrigin) throws {
        self.name = name
        defaults = try GroupDefaults(container, suite: name, purpose: "cluster")
        follower = try defaults.follow(since: origin)
        last = follower.cursor.sequence
        if case .cursor(let cursor) = origin { sentThrough = cursor } else { sentThrough = follower.cursor }
    }

    /// What the cluster has for a key.
    struct Value {
        var key: String
        var value: DefaultsValue?
        /// The process or machine that has set the value.
        var author: String
    }

    /// What the cluster has for the keys of a suite, with what this machine sends on top of it.
    struct InCluster {
        var values: [String: ClusterFold.Value] = [:]
        /// Keys that may have an older value of the cluster here.
        var unapplied: Set<String> = []

        mutating func apply(_ changes: [ClusterChange]) {
            for case .value(let change) in changes {
                guard let key = ClusterSuite.names(change.key)?.key else { continue }
                values[key] = change.action.applied(to: values[key])
            }
        }
    }

    /// A change of a process of this machine.
    struct Local {
        var changes: [ClusterChange]
        var time: Int64
        /// The place behind it; nil in the middle of what cannot be read from there on.
        var cursor: Cursor?
    }

    /// Returns the changes that were made here since the last call.
    ///
    /// Where the place in the suite's log was lost, what differs from the cluster was set or removed here, or added: the difference
    /// of two numbers is an addition, so that no machine's additions are lost.
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
        hasMore = false
        while let change = try follower.next(timeout: .zero) {
            defer { count += 1 }
            last = follower.cursor.sequence
            let key = Self.key(suite: name, change.key)
            if change.origin != .here {
                setBefore?.insert(key)
                continue
            }
            var made: [ClusterChange] = []
            switch change.kind {
            case .set, .removed, .present:
                if change.author == nil, let lost {
                    let present = cluster ?? known()
                    made = difference(change, key, present, lost)
                    cluster = present
                    cluster?.apply(made)
                } else if change.kind == .removed {
                    made = [.value(ValueChange(key, .remove))]
                } else if let value = change.newValue {
                    if change.kind == .present {
                        // What was set before the machine joined counts only where the cluster has nothing.
                        let present = cluster ?? known()
                        if present.values[change.key] == nil {
                            made = [Self.set(key, value, base: .zero)]
                        } else if Self.value(present.values[change.key]) != value {
                            replaced[change.key] = value
                        }
                        cluster = present
                    } else {
                        made = [change.addend.map { .value(ValueChange(key, .add($0))) } ?? Self.set(key, value)]
                    }
                }
            case .cleared:
                // A follower of the whole suite gets one change for all keys.
                made = known().values.keys.map { .value(ValueChange(Self.key(suite: name, $0), .remove)) }
            case .rescan:
                let isComplete = try defaults.hasDropped(sentThrough)
                lost = Lost(since: sentThrough.sequence, isComplete: isComplete)
                cluster = known()
                if isComplete, let present = cluster {
                    let here = defaults.dictionaryRepresentation()
                    made = present.values.filter { key, value in
                        here[key] == nil && !present.unapplied.contains(key) && Self.value(value) != nil
                    }.map { .value(ValueChange(Self.key(suite: name, $0.key), .remove)) }
                    cluster?.apply(made)
                }
            case .degraded: continue
            }
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
            // A process may set as quickly as this program reads.
            if count >= Self.mostAtOnce && follower.isBetweenRecords {
                hasMore = follower.hasMore
                break
            }
        }
        if let open { changes.append(open) }
        last = follower.cursor.sequence
        // Places are those in the log, where the times of two processes may be the other way round.
        for place in changes.indices {
            lastTime = max(lastTime, changes[place].time)
            changes[place].time = lastTime
        }
        return changes
    }

    /// Returns what was changed here of a key, where the place in the log was lost.
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

    /// Returns, once, the keys that the program's last run has set since it stored its state; nil before all were read.
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

    /// Notes that everything that was read is sent, or was made by this program. Returns whether that is news.
    func noteAllSent() -> Bool {
        defer { sentThrough = follower.cursor }
        return sentThrough != follower.cursor
    }

    /// Sets what the cluster has. Returns the keys that a process has set since its changes were taken: they are set when those are
    /// taken, too.
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
    /// How many changes are taken at once.
    private static let mostAtOnce = 8_192

    /// Makes sure that a power cut does not take back what is about to be sent.
    func synchronize() throws { try defaults.synchronizeAll() }

    private let isOver = Guarded(false)

    /// Starts a thread that calls `body` after each change, as long as this object lives.
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
