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
    /// The number up to which the values were known, where the place in the log was lost.
    private var lostSince: SequenceNumber?

    init(_ container: Container, _ name: String, since origin: ChangeOrigin) throws {
        self.name = name
        defaults = try GroupDefaults(container, suite: name, purpose: "cluster")
        follower = try defaults.follow(since: origin)
        (sentThrough, last) = (follower.cursor, follower.cursor.sequence)
    }

    /// A change of a process of this machine.
    struct Local {
        var changes: [ClusterChange]
        var time: Int64
        /// The place behind it.
        var cursor: Cursor
    }

    /// Returns the changes that were made here since the last call. `values` are those of the suite in the cluster: where the
    /// place in the suite's log was lost, what differs from them counts as set here. `known` are the keys of the suite that have
    /// a value in the cluster, or get one by what is sent.
    func takeChanges(
        _ values: (String) -> DefaultsValue?, known: () -> Set<[UInt8]>
    ) throws -> [Local] {
        var changes: [Local] = []
        var open: Local?
        var before = follower.cursor
        while let change = try follower.next(timeout: .zero) {
            defer { before = follower.cursor }
            last = follower.cursor.sequence
            if change.isFromCluster { continue }
            let key = Self.key(suite: name, change.key)
            var made: [ClusterChange] = []
            switch change.kind {
            case .set:
                if let addend = change.addend {
                    made = [.value(ValueChange(key, .add(addend)))]
                } else if let value = change.newValue {
                    made = [Self.set(key, value)]
                }
            case .removed: made = [.value(ValueChange(key, .remove))]
            case .present:
                guard let value = change.newValue else { continue }
                if let lostSince, change.generation.rawValue > lostSince.rawValue {
                    if value != values(change.key) { made = [Self.set(key, value)] }
                } else if lostSince == nil && values(change.key) == nil {
                    // What was set before the machine joined counts only where the cluster has nothing.
                    made = [Self.set(key, value, base: .zero)]
                }
            case .cleared:
                // A follower of the whole suite gets one change for all keys.
                var keys = known()
                for local in changes + (open.map { [$0] } ?? []) {
                    for case .value(let change) in local.changes { keys.insert(change.key) }
                }
                made = keys.map { .value(ValueChange($0, .remove)) }
                while change.parts == 1 && made.count > ClusterEntry.mostChanges {
                    // A program that is killed between these clears the suite once more.
                    let part = Array(made.suffix(ClusterEntry.mostChanges))
                    made.removeLast(part.count)
                    changes.append(Local(changes: part, time: change.timeNanoseconds, cursor: before))
                }
            case .rescan: lostSince = sentThrough.sequence
            case .degraded: continue
            }
            if made.isEmpty && open == nil { continue }
            var local = open ?? Local(changes: [], time: change.timeNanoseconds, cursor: follower.cursor)
            local.changes += made
            local.cursor = follower.cursor
            if change.part + 1 < change.parts {
                open = local
            } else {
                changes.append(local)
                open = nil
            }
        }
        if let open { changes.append(open) }
        last = follower.cursor.sequence
        return changes
    }

    func noteSent(through cursor: Cursor) { sentThrough = cursor }

    /// Notes that everything that was read is sent, or was made by this program. Returns whether that is news.
    func noteAllSent() -> Bool {
        defer { sentThrough = follower.cursor }
        return sentThrough != follower.cursor
    }

    /// Sets what the cluster has. Returns false where a process has changed the suite since its changes were taken.
    func set(_ values: [(key: String, value: DefaultsValue?)], index: UInt64) throws -> Bool {
        let present = defaults.dictionaryRepresentation()
        var different = values.filter { present[$0.key] != $0.value }[...]
        while !different.isEmpty {
            // A record has a largest size.
            var size = 0
            let part = different.prefix { _, value in
                defer { size += value?.clusterBytes.count ?? 0 }
                return size < Self.largestRecord
            }
            different = different.dropFirst(part.count)
            guard let place = try defaults.setFromCluster(Array(part), index: index, ifLastIs: last) else {
                return false
            }
            last = place
        }
        return true
    }

    private static let largestRecord = 1 << 20

    /// Makes sure that a power cut does not take back what is about to be sent.
    func synchronize() throws { try defaults.synchronizeAll() }

    /// Starts a thread that calls `body` after each change.
    func onChange(_ body: @escaping @Sendable () -> Void) throws {
        let changes = try defaults.follow(since: .now)
        try WorkThread.start {
            var changes = changes
            while (try? changes.next()) != nil { body() }
        }
    }

    // MARK: Keys and values in the cluster

    static func key(suite: String, _ key: String) -> [UInt8] { Array(suite.utf8) + [0] + Array(key.utf8) }

    static func names(_ key: [UInt8]) -> (suite: String, key: String)? {
        guard let zero = key.firstIndex(of: 0), let suite = String(validating: key[..<zero], as: UTF8.self),
            let name = String(validating: key[(zero + 1)...], as: UTF8.self), !suite.hasPrefix("group-container."),
            !suite.isEmpty, !suite.contains("/"), suite != ".", suite != ".."
        else { return nil }
        return (suite, name)
    }

    static func set(_ key: [UInt8], _ value: DefaultsValue, base: ClusterName? = nil) -> ClusterChange {
        if case .integer(let number) = value { return .value(ValueChange(key, .setNumber(Int64(number)), base: base)) }
        return .value(ValueChange(key, .set(value.clusterBytes), base: base))
    }

    static func value(_ value: ClusterFold.Value?) -> DefaultsValue? {
        switch value {
        case nil: nil
        case .number(let number)?: .integer(Int(number))
        case .bytes(let bytes)?: DefaultsValue(clusterBytes: bytes)
        }
    }
}

extension Machine {
    /// Opens the suites that are new, and takes what was changed in all of them.
    func takeSuites() throws -> [Drafted] {
        for name in container.suiteNames() where suites[name] == nil {
            let text = try store.value("suite/\(name)").map { String(decoding: $0, as: UTF8.self) }
            // A suite that was there before the machine joined has the cluster's values, and others are added to them. A suite
            // that was made since has its own history only.
            let isOld = stateIsNew || text == Self.joinedSuite
            if isOld { try store.store { try $0.set("suite/\(name)", Array(Self.joinedSuite.utf8)) } }
            let cursor = text.flatMap { Cursor($0) }
            let suite = try ClusterSuite(
                container, name, since: cursor.map { .cursor($0) } ?? (isOld ? .snapshot : .start))
            suites[name] = suite
            try suite.onChange { Interruption.raise() }
            let known = fold.values.keys.filter { ClusterSuite.names($0)?.suite == name }
            dirtyKeys.formUnion(known)
        }
        var drafts: [Drafted] = []
        for (name, suite) in suites {
            let changes = try suite.takeChanges { key in
                ClusterSuite.value(fold.values[ClusterSuite.key(suite: name, key)]?.value)
            } known: {
                knownKeys(of: name)
            }
            for change in changes {
                if ClusterEntry(freshName(), change.changes).bytes.count > Self.largestTransaction
                    || change.changes.count > ClusterEntry.mostChanges
                {
                    refuse(change.changes, of: name)
                    continue
                }
                if !refusedKeys.isEmpty {
                    for case .value(let change) in change.changes { refusedKeys.remove(change.key) }
                }
                drafts.append(Drafted(changes: change.changes, time: change.time, suite: name, cursor: change.cursor))
            }
            if changes.isEmpty && !pendingSuites.contains(name) && suite.noteAllSent() {
                toStore.suiteCursors[name] = suite.sentThrough
            }
        }
        return drafts
    }

    /// Returns the keys of a suite that have a value in the cluster, or get one by what is sent.
    private func knownKeys(of suite: String) -> Set<[UInt8]> {
        var keys = Set(fold.values.keys)
        func add(_ changes: [ClusterChange]) {
            for case .value(let change) in changes { keys.insert(change.key) }
        }
        if let entry = outbox.inFlight?.entry { add(entry.changes) }
        for case .entry(let entry, _) in outbox.waiting { add(entry.changes) }
        for draft in held { add(draft.changes) }
        return keys.filter { ClusterSuite.names($0)?.suite == suite }
    }

    /// The largest change of a suite at once, as bytes of an entry, with room for its author.
    private static let largestTransaction = ClusterEntry.mostBytes - 1_024

    /// Notes the keys of a change that is too large for the cluster. They keep their values here until they are set again.
    private func refuse(_ changes: [ClusterChange], of suite: String) {
        log("not sent: a change of the suite '\(suite)': \(Self.tooLarge)")
        for case .value(let change) in changes { refusedKeys.insert(change.key) }
    }

    /// What is to be said of the suites with keys that were refused.
    var refusedSuites: [[UInt8]: String] {
        let names = Set(refusedKeys.compactMap { ClusterSuite.names($0)?.suite })
        return Dictionary(names.map { (Array("defaults/\($0)".utf8), Self.tooLarge) }) { first, _ in first }
    }

    private static let tooLarge = "a value or a transaction is larger than 1 MiB, or changes more than 1,024 keys"

    /// Stands for the place in the log of a suite that was there before the machine joined.
    static let joinedSuite = "-"

    /// The row of the keys whose changes were refused.
    static let refusedKey = "refused keys"

    static func size(of change: ClusterChange) -> Int {
        switch change {
        case .item: 0
        case .value(let change): if case .set(let bytes) = change.action { bytes.count } else { 16 }
        case .message(_, let body): body.count
        }
    }

    /// The names of suites with changes that are not folded yet.
    private var pendingSuites: Set<String> {
        Set(drafted.values.flatMap(\.cursors.keys)).union(held.compactMap(\.suite))
    }

    /// Puts into the suites what the cluster has, with what is not folded yet on top of it. Returns whether processes were in
    /// between, whose changes are to be taken first.
    func applyValues() throws -> Bool {
        if dirtyKeys.isEmpty { return false }
        var bySuite: [String: [(key: String, value: DefaultsValue?)]] = [:]
        var left: Set<[UInt8]> = []
        let pending = pendingActions(dirtyKeys)
        for key in dirtyKeys.subtracting(refusedKeys) {
            guard let names = ClusterSuite.names(key) else { continue }
            var value = fold.values[key]?.value
            for action in pending[key] ?? [] { value = action.applied(to: value) }
            bySuite[names.suite, default: []].append((names.key, ClusterSuite.value(value)))
        }
        for (name, values) in bySuite {
            if suites[name] == nil {
                if values.allSatisfy({ $0.value == nil }) { continue }
                let suite: ClusterSuite
                do {
                    suite = try ClusterSuite(container, name, since: .now)
                } catch let error as CoordinationError where error.code == .invalidArgument {
                    // No machine of this version makes such a name.
                    continue
                }
                suites[name] = suite
                try suite.onChange { Interruption.raise() }
            }
            guard let suite = suites[name] else { continue }
            do {
                if try !suite.set(values, index: fold.index) { return true }
            } catch let error as CoordinationError where error.code == .limitReached {
                // A suite here may have less room than all others' changes of it need.
                status.failure = "\(error)"
                left.formUnion(values.map { ClusterSuite.key(suite: name, $0.key) })
            }
        }
        dirtyKeys = left
        return false
    }

    /// Returns the actions on some keys that are in flight or wait, in their order.
    private func pendingActions(_ keys: Set<[UInt8]>) -> [[UInt8]: [ValueChange.Action]] {
        var actions: [[UInt8]: [ValueChange.Action]] = [:]
        func add(_ entry: ClusterEntry) {
            for case .value(let change) in entry.changes where keys.contains(change.key) {
                actions[change.key, default: []].append(change.action)
            }
        }
        if let entry = outbox.inFlight?.entry, !entry.isStrict { add(entry) }
        if drafted.isEmpty { return actions }
        for case .entry(let entry, _) in outbox.waiting where !entry.isStrict { add(entry) }
        return actions
    }
}

extension ValueChange.Action {
    /// Returns the value after the action, as the fold makes it.
    func applied(to value: ClusterFold.Value?) -> ClusterFold.Value? {
        switch self {
        case .set(let bytes): return .bytes(bytes)
        case .setNumber(let number): return .number(number)
        case .remove: return nil
        case .add(let number):
            guard case .number(let present) = value ?? .number(0) else { return value }
            let (sum, isOver) = present.addingReportingOverflow(number)
            return isOver ? value : .number(sum)
        }
    }
}
