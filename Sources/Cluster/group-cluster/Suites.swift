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
    fileprivate(set) var hasMore = false
    /// Whether there is something that was not read, or was set by this program.
    var hasUnread: Bool { follower.hasMore }
    /// The keys that the program's last run has set after it had stored its state for the last time, as far as the log
    /// was read; nil when they were taken.
    private var setBefore: Set<[UInt8]>? = []
    /// Set where the place in the log was lost.
    private var lost: Lost?

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
                        if present.values[change.key] == nil { made = [Self.set(key, value, base: .zero)] }
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

extension Machine {
    /// Opens the suites that are new, and takes what was changed in all of them.
    /// `limit` becomes the time of the last change that was taken of a suite which has more.
    func takeSuites(_ limit: inout Int64) throws -> [Drafted] {
        for name in container.suiteNames() where suites[name] == nil {
            let text = try store.value("suite/\(name)").map { String(decoding: $0, as: UTF8.self) }
            // A suite that was there before the machine joined has the cluster's values, and others are added to them. A suite
            // that was made since has its own history only.
            let isOld = stateIsNew || text == Self.joinedSuite
            if isOld { try store.store { try $0.set("suite/\(name)", Array(Self.joinedSuite.utf8)) } }
            let suite: ClusterSuite
            if let cursor = text.flatMap({ Cursor($0) }) {
                suite = try ClusterSuite(container, name, since: .cursor(cursor))
            } else if isOld {
                suite = try ClusterSuite(container, name, since: .snapshot)
            } else {
                suite = try newSuite(name)
            }
            suites[name] = suite
            try suite.onChange { Interruption.raise() }
            let known = fold.values.keys.filter { ClusterSuite.names($0)?.suite == name }
            dirtyKeys.formUnion(known)
        }
        // What is not sent stays in the suites' logs.
        if outbox.waitingCount > Self.mostWaiting {
            for suite in suites.values { suite.hasMore = false }
            return []
        }
        var drafts: [Drafted] = []
        let pending = pendingSuites
        for (name, suite) in suites {
            let changes = try suite.takeChanges { inCluster(name) }
            if suite.hasMore { limit = min(limit, suite.lastTime) }
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
                // A removal leaves no trace that keeps the program from setting the key behind it.
                for case .value(let change) in change.changes where change.action == .remove {
                    dirtyKeys.insert(change.key)
                }
                drafts.append(Drafted(changes: change.changes, time: change.time, suite: name, cursor: change.cursor))
            }
            if changes.isEmpty && !pending.contains(name) && suite.noteAllSent() {
                toStore.suiteCursors[name] = suite.sentThrough
            }
        }
        if hasRead { markSetBefore() }
        return drafts
    }

    /// Marks the keys that the last run has set, and had not stored: the cluster may have removed one since, which a
    /// snapshot does not show.
    func markSetBefore() { for suite in suites.values { dirtyKeys.formUnion(suite.takeSetBefore() ?? []) } }

    /// Opens a suite that was made since the machine has joined, from its beginning, and notes that.
    private func newSuite(_ name: String) throws -> ClusterSuite {
        let first = try GroupDefaults(container, suite: name, purpose: "cluster").firstPlace
        let suite = try ClusterSuite(container, name, since: first.map { .cursor($0) } ?? .start)
        // What its log drops before it is sent is found by this.
        try store.store { try $0.set("suite/\(name)", Array(suite.sentThrough.description.utf8)) }
        return suite
    }

    /// Returns what the cluster has for a suite, with what is in flight or waits on top of it.
    private func inCluster(_ suite: String) -> ClusterSuite.InCluster {
        var cluster = ClusterSuite.InCluster()
        for (key, value) in fold.values {
            if let names = ClusterSuite.names(key), names.suite == suite { cluster.values[names.key] = value.value }
        }
        func add(_ changes: [ClusterChange]) {
            cluster.apply(
                changes.filter {
                    if case .value(let change) = $0 { ClusterSuite.names(change.key)?.suite == suite } else { false }
                })
        }
        if let entry = outbox.inFlight?.entry, !entry.isStrict { add(entry.changes) }
        for case .entry(let entry, _) in outbox.waiting { add(entry.changes) }
        for draft in held { add(draft.changes) }
        for case let names? in unappliedKeys.map(ClusterSuite.names) where names.suite == suite {
            cluster.unapplied.insert(names.key)
        }
        return cluster
    }

    /// How many entries wait before values and messages stay where they are until some were sent.
    static let mostWaiting = 4_096

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

    /// The row of the keys that may not have what the fold has.
    static let unappliedKey = "unapplied keys"

    /// The row of the items that coordinated changes have removed.
    static let removalsKey = "removals"

    static func size(of change: ClusterChange) -> Int {
        switch change {
        case .item: 0
        case .value(let change): if case .set(let bytes) = change.action { bytes.count } else { 16 }
        case .message(_, let body): body.count
        }
    }

    /// The names of suites with changes that are not folded yet.
    private var pendingSuites: Set<String> {
        Set(drafted.values.flatMap(\.suites)).union(held.compactMap(\.suite))
    }

    /// Puts into the suites what the cluster has, with what is not folded yet on top of it. A key that a process has just set waits
    /// for the next round.
    func applyValues() throws {
        if dirtyKeys.isEmpty { return }
        var bySuite: [String: [ClusterSuite.Value]] = [:]
        var left: Set<[UInt8]> = []
        let pending = pendingActions(dirtyKeys)
        for key in dirtyKeys.subtracting(refusedKeys) {
            guard let names = ClusterSuite.names(key) else { continue }
            var value = fold.values[key]?.value
            for action in pending[key] ?? [] { value = action.applied(to: value) }
            bySuite[names.suite, default: []].append(
                .init(key: names.key, value: ClusterSuite.value(value), author: purpose(keyAuthors[key])))
        }
        for (name, values) in bySuite {
            let keys = values.map { ClusterSuite.key(suite: name, $0.key) }
            if !full.mayTry(.values(name)) {
                left.formUnion(keys)
                continue
            }
            do {
                if suites[name] == nil {
                    if values.allSatisfy({ $0.value == nil }) { continue }
                    // A process may have made it, and set something, a moment ago.
                    let suite = try newSuite(name)
                    suites[name] = suite
                    try suite.onChange { Interruption.raise() }
                }
                // A process has set these since; that change wakes this program, and is read first.
                for key in try suites[name]?.set(values, index: fold.index) ?? [] {
                    left.insert(ClusterSuite.key(suite: name, key))
                }
                full.ended(.values(name))
            } catch let error as CoordinationError where error.code == .invalidArgument && suites[name] == nil {
                // No machine of this version makes such a name.
            } catch let error as CoordinationError where error.code == .limitReached {
                // A suite here may have less room than all others' changes of it need.
                status.failure = "\(error)"
                left.formUnion(keys)
            } catch  where FullDisk.isFull(error) {
                full.failed(.values(name), error)
                left.formUnion(keys)
            }
        }
        (dirtyKeys, unappliedKeys) = (left, left)
        if left.isEmpty { keyAuthors = [:] }
    }

    /// Returns the actions on some keys that are in flight, wait or are held, in their order.
    private func pendingActions(_ keys: Set<[UInt8]>) -> [[UInt8]: [ValueChange.Action]] {
        var actions: [[UInt8]: [ValueChange.Action]] = [:]
        func add(_ changes: [ClusterChange]) {
            for case .value(let change) in changes where keys.contains(change.key) {
                actions[change.key, default: []].append(change.action)
            }
        }
        if let entry = outbox.inFlight?.entry, !entry.isStrict { add(entry.changes) }
        if !drafted.isEmpty {
            for case .entry(let entry, _) in outbox.waiting where !entry.isStrict { add(entry.changes) }
        }
        for draft in held { add(draft.changes) }
        return actions
    }
}
