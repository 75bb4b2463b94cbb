import Cluster
import GroupBytes
import GroupCluster
import GroupContainer
import GroupSystemCalls

/// The suites of the container. Changes that processes make here go to the cluster, and the cluster's values are set
/// here. Used by the machine's thread.
///
/// A key should have the cluster's value here, with the changes of this machine on top that are not in the fold yet. A
/// key is *dirty* while its suite may have something else. A key is *refused* if a change of it is too large for the
/// cluster: the value stays here until the key is set again, on this machine or on another one.
final class Suites {
    private let container: Container
    private let store: StateStore
    private let full: FullDisk
    private let report: Report
    private let replacedValues: ReplacedValues
    private var suites: [String: ClusterSuite] = [:]
    /// Keys that may not have the value that they should have.
    private var dirty: Set<[UInt8]> = []
    /// Keys that may not have the value of the stored fold. They are stored, too.
    private var unapplied: Set<[UInt8]>
    /// Keys with a change that is too large for the cluster.
    private var refused: Set<[UInt8]>
    /// The authors of the values that are to be set here, for the records of the suites.
    private var authors: [[UInt8]: [UInt8]] = [:]
    /// The state of both sets that is stored.
    private var stored: (unapplied: Set<[UInt8]>, refused: Set<[UInt8]>)
    private var unstoredCursors: [String: Cursor] = [:]

    init(
        _ container: Container, _ store: StateStore, _ full: FullDisk, _ report: Report, _ loaded: LoadedState
    ) {
        self.container = container
        self.store = store
        self.full = full
        self.report = report
        replacedValues = ReplacedValues(container, report)
        unapplied = loaded.unappliedKeys
        refused = loaded.refusedKeys
        stored = (loaded.unappliedKeys, loaded.refusedKeys)
        dirty = unapplied.union(loaded.fold.values.keys)
    }

    // MARK: What is set here

    /// Whether a suite has more changes than one round takes.
    var haveMore: Bool { suites.values.contains(where: \.hasMore) }

    /// Whether a suite has changes that were not read yet.
    var haveUnread: Bool { suites.values.contains(where: \.hasUnread) }

    /// The time up to which the changes of all suites were read.
    var readUntil: Int64 { suites.values.filter(\.hasMore).map(\.lastTime).min() ?? .max }

    /// The facts about the cluster and this machine that a round needs.
    struct Known {
        var fold: ClusterFold
        /// Returns the changes of this machine that are not in the fold yet, in their order.
        var unfolded: () -> [ClusterChange]
        /// The suites that some of these changes belong to.
        var pendingSuites: Set<String>
        /// Whether the machine has just joined: all values that are here were set before that.
        var isNew: Bool
        /// Whether everything that the cluster had was folded once.
        var isCurrent: Bool
        /// Whether so many entries wait that changes stay in the logs of their suites.
        var isFull: Bool
    }

    /// Opens new suites, and takes the changes of all suites.
    ///
    /// If a suite has more changes than one round takes, `limit` becomes the time of the last one that was taken.
    func takeChanges(_ limit: inout Int64, _ known: Known) throws -> [DraftedChange<Cursor>] {
        for name in container.suiteNames() where suites[name] == nil { try open(name, known) }
        if known.isFull {
            for suite in suites.values { suite.hasMore = false }
            return []
        }
        var drafts: [DraftedChange<Cursor>] = []
        for (name, suite) in suites {
            let changes = try suite.takeChanges { inCluster(name, known) }
            try replacedValues.note(suite.takeReplaced(), of: name)
            if suite.hasMore { limit = min(limit, suite.lastTime) }
            for change in changes {
                let entry = ClusterEntry(.fresh(), change.changes)
                if entry.bytes.count > Self.largestTransaction || !entry.isReadable {
                    // A value from before the machine joined may be replaced by the cluster's, though it was never
                    // sent.
                    try notTaken(entry, known.fold)
                    refuse(change.changes, of: name)
                    continue
                }
                for case .value(let change) in change.changes {
                    refused.remove(change.key)
                    // A removed key has no generation, by which `ClusterSuite.set` would see that a process has changed
                    // it, so this program may have set it again. The key is compared anew.
                    if change.action == .remove { dirty.insert(change.key) }
                }
                let what = DraftedChange<Cursor>.What.values(change.changes, suite: name, position: change.cursor)
                drafts.append(DraftedChange(what, time: change.time))
            }
            if changes.isEmpty && !known.pendingSuites.contains(name) && suite.noteAllSent() {
                unstoredCursors[name] = suite.sentThrough
            }
        }
        if known.isCurrent { markSetBefore() }
        return drafts
    }

    private func open(_ name: String, _ known: Known) throws {
        let text = try store.value(StateRow.suite(name)).map { String(decoding: $0, as: UTF8.self) }
        // A suite from before the machine joined gets the cluster's values; its own values count only where the cluster
        // has none. A suite that was made after that has nothing but its own history.
        let isOld = known.isNew || text == StateRow.joinedSuite
        if isOld { try store.store { try $0.set(StateRow.suite(name), Array(StateRow.joinedSuite.utf8)) } }
        let suite: ClusterSuite
        if let cursor = text.flatMap({ Cursor($0) }) {
            suite = try ClusterSuite(container, name, since: .cursor(cursor))
        } else if isOld {
            suite = try ClusterSuite(container, name, since: .snapshot)
        } else {
            suite = try makeSuite(name)
        }
        try add(suite)
        dirty.formUnion(known.fold.values.keys.filter { ClusterSuite.names($0)?.suite == name })
    }

    private func add(_ suite: ClusterSuite) throws {
        suites[suite.name] = suite
        try suite.onChange { Interruption.raise() }
    }

    /// Opens a suite that was made after the machine had joined, at its beginning.
    private func makeSuite(_ name: String) throws -> ClusterSuite {
        let first = try GroupDefaults(container, suite: name, purpose: "cluster").firstPosition
        let suite = try ClusterSuite(container, name, since: first.map { .cursor($0) } ?? .start)
        // The stored position shows later whether the log has dropped changes that were not sent.
        try store.store { try $0.set(StateRow.suite(name), Array(suite.sentThrough.description.utf8)) }
        return suite
    }

    /// Marks the keys that the last run of the program had set but not stored as dirty. The cluster may have removed
    /// such a key since, which a snapshot does not show.
    func markSetBefore() { for suite in suites.values { dirty.formUnion(suite.takeSetBefore() ?? []) } }

    /// Returns the cluster's values of a suite, with the changes on top that are not in the fold yet.
    private func inCluster(_ suite: String, _ known: Known) -> ClusterSuite.InCluster {
        var cluster = ClusterSuite.InCluster()
        for (key, value) in known.fold.values {
            if let names = ClusterSuite.names(key), names.suite == suite { cluster.values[names.key] = value.value }
        }
        cluster.apply(
            known.unfolded().filter {
                if case .value(let change) = $0 { ClusterSuite.names(change.key)?.suite == suite } else { false }
            })
        for case let names? in unapplied.map(ClusterSuite.names) where names.suite == suite {
            cluster.unapplied.insert(names.key)
        }
        return cluster
    }

    /// The largest change of a suite, as bytes of an entry; an author takes less than the rest.
    private static let largestTransaction = ClusterEntry.mostBytes - 1_024

    /// Notes the keys of a change that is too large for the cluster.
    private func refuse(_ changes: [ClusterChange], of suite: String) {
        report.log("not sent: a change of the suite '\(suite)': \(Self.tooLarge)")
        for case .value(let change) in changes { refused.insert(change.key) }
    }

    /// The suites with refused keys, and the reason, for the status.
    var refusedSuites: [[UInt8]: String] {
        let names = Set(refused.compactMap { ClusterSuite.names($0)?.suite })
        return Dictionary(names.map { (Array("defaults/\($0)".utf8), Self.tooLarge) }) { first, _ in first }
    }

    private static let tooLarge = "a value or a transaction is larger than 1 MiB, or changes more than 1,024 keys"

    // MARK: What is sent

    /// Syncs some suites, so that a power cut does not take back what is about to be sent.
    func synchronize(_ names: Set<String>) throws { for name in names { try suites[name]?.synchronize() } }

    /// Notes the positions behind the changes that were sent.
    func noteSent(through positions: [String: Cursor]) {
        for (name, position) in positions {
            suites[name]?.noteSent(through: position)
            unstoredCursors[name] = position
        }
    }

    /// Notes changes that are not sent. Their keys get the cluster's values again.
    func noteUnsent(_ changes: [ClusterChange]) {
        for case .value(let change) in changes { dirty.insert(change.key) }
    }

    /// Writes the values of an entry that the cluster did not take to a file. Only values from before the machine
    /// joined have a base, and are refused if the cluster has others. If the program is killed before it has stored
    /// that the entry is folded, its next run writes the values once more, to a file of that run.
    func notTaken(_ entry: ClusterEntry, _ fold: ClusterFold) throws {
        var values: [String: [String: DefaultsValue]] = [:]
        for case .value(let change) in entry.changes where change.base == .zero {
            guard let names = ClusterSuite.names(change.key), let value = change.action.applied(to: nil) else {
                continue
            }
            let sent = ClusterSuite.value(value)
            if let sent, sent != ClusterSuite.value(fold.values[change.key]?.value) {
                values[names.suite, default: [:]][names.key] = sent
            }
        }
        for (suite, values) in values { try replacedValues.note(values, of: suite) }
    }

    // MARK: What the cluster has

    /// Whether a key may not have the value that it should have.
    var areDirty: Bool { !dirty.isEmpty }

    /// Notes the keys that an entry has changed.
    func folded(_ keys: Set<[UInt8]>, by author: [UInt8], isOwn: Bool) {
        dirty.formUnion(keys)
        unapplied.formUnion(keys)
        for key in keys { authors[key] = author }
        // A value of another machine ends a refusal. A value of this machine was set before the refused change, and
        // does not.
        if !isOwn { refused.subtract(keys) }
    }

    /// Notes that a snapshot has replaced the fold: the values of both folds may differ.
    func replaced(_ old: ClusterFold, by new: ClusterFold) {
        refused = refused.filter { old.values[$0] == new.values[$0] }
        dirty.formUnion(old.values.keys)
        dirty.formUnion(new.values.keys)
        unapplied.formUnion(dirty)
    }

    /// Sets the values that the dirty keys should have. A key that a process has set meanwhile stays dirty.
    func apply(_ fold: ClusterFold, unfolded: () -> [ClusterChange]) throws {
        if dirty.isEmpty { return }
        var bySuite: [String: [ClusterSuite.Value]] = [:]
        var left: Set<[UInt8]> = []
        var actions: [[UInt8]: [ValueChange.Action]] = [:]
        for case .value(let change) in unfolded() where dirty.contains(change.key) {
            actions[change.key, default: []].append(change.action)
        }
        for key in dirty.subtracting(refused) {
            guard let names = ClusterSuite.names(key) else { continue }
            var value = fold.values[key]?.value
            for action in actions[key] ?? [] { value = action.applied(to: value) }
            let author = ClusterEntry.purpose(of: authors[key])
            bySuite[names.suite, default: []].append(
                .init(key: names.key, value: ClusterSuite.value(value), author: author))
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
                    // A process may have made the suite a moment ago, and set something in it.
                    try add(makeSuite(name))
                }
                // A process has set these keys meanwhile. Its change wakes this program, and is read first.
                for key in try suites[name]?.set(values, index: fold.index) ?? [] {
                    left.insert(ClusterSuite.key(suite: name, key))
                }
                full.ended(.values(name))
                report.failures.ended(.values(name))
            } catch let error as CoordinationError where error.code == .invalidArgument && suites[name] == nil {
                // No machine of this version makes such a name.
            } catch let error as CoordinationError where error.code == .limitReached {
                // The suite may have less room here than the changes of all machines need.
                report.failures.failed(.values(name), "\(error)")
                left.formUnion(keys)
            } catch  where FullDisk.isFull(error) {
                full.failed(.values(name), error)
                left.formUnion(keys)
            }
        }
        (dirty, unapplied) = (left, left)
        if left.isEmpty { authors = [:] }
    }

    /// Ends the threads that wait for changes.
    func end() { suites = [:] }

    // MARK: Storing

    var areUnstored: Bool { !unstoredCursors.isEmpty || stored != (unapplied, refused) }

    /// Stores the positions of what was sent, and the sets of keys. To be called within `store` only.
    func store(in store: StateStore) throws {
        if stored.refused != refused { try store.set(StateRow.refusedKeys, LoadedState.bytes(of: refused)) }
        if stored.unapplied != unapplied { try store.set(StateRow.unappliedKeys, LoadedState.bytes(of: unapplied)) }
        for (suite, cursor) in unstoredCursors {
            try store.set(StateRow.suite(suite), Array(cursor.description.utf8))
        }
        (stored, unstoredCursors) = ((unapplied, refused), [:])
    }
}
