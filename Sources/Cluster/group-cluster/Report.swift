import Cluster
import FoundationEssentials
import GroupBytes
import GroupCluster
import GroupContainer
import GroupSystemCalls

/// The reports of the program about its machine: lines for its user, and the status, a record that other programs read.
///
/// A conflict stays in the status until its copy is gone, also after a restart of the program. Used by the machine's
/// thread.
final class Report {
    var status: ClusterStatus
    /// What has failed, and is tried again.
    var failures = Failures()
    /// The time at which the number of the cluster's entries was read.
    var readAt: Date?
    private var lines: [String] = []
    private var shown: ClusterStatus?
    /// The time from which on the status may be written again.
    private var next: Int64 = 0
    private var hasUnstoredConflicts = false
    /// The copies for which no line was printed yet. A machine that reads the log from its beginning also finds the
    /// conflicts that were resolved since; `show` forgets those.
    private var unprinted: Set<String> = []
    private let records: ClusterRecords
    private let store: StateStore
    private let full: FullDisk
    private let note: FullDiskNote

    init(
        _ status: ClusterStatus, _ container: Container, _ records: ClusterRecords, _ store: StateStore,
        _ full: FullDisk
    ) {
        self.status = status
        self.records = records
        self.store = store
        self.full = full
        note = FullDiskNote(container)
    }

    /// Prepares the file that shows a failure when the disk is full.
    func prepare() { note.prepare(hasText: full.hasNote) }

    // MARK: Lines

    /// Adds a line for the program's user.
    func log(_ line: String) { lines.append(line) }

    /// Returns the lines that were added since the last call.
    func takeLines() -> [String] {
        defer { lines = [] }
        return lines
    }

    // MARK: Conflicts

    /// Reports a copy with a conflict name, once.
    func note(conflict copy: [UInt8]) {
        if status.conflicts.contains(where: { $0.copy == printable(copy) }) { return }
        unprinted.insert(printable(copy))
        status.conflicts.append(.init(copy, foundAt: Date()))
        if status.conflicts.count > 1_000 { status.conflicts.removeFirst() }
        do {
            try store.store(storeConflicts)
        } catch {
            // The next round stores the conflict.
            hasUnstoredConflicts = true
        }
    }

    /// Returns whether a copy was reported that is still there.
    func hasNoted(conflict copy: [UInt8]) -> Bool { status.conflicts.contains { Array($0.path) == copy } }

    /// Stores the conflicts if `note` could not. To be called within `store` only.
    func storeIfNeeded(_ store: StateStore) throws {
        if hasUnstoredConflicts { try storeConflicts(store) }
        hasUnstoredConflicts = false
    }

    var isUnstored: Bool { hasUnstoredConflicts }

    // MARK: Values for which the cluster has others

    /// Reports a file that has values of this machine for which the cluster has others.
    func note(replaced file: [UInt8]) {
        let path = printable(file)
        if status.replaced?.contains(path) == true { return }
        log("other values in the cluster: this machine's are in '\(path)'")
        status.replaced = (status.replaced ?? []) + [path]
        hasUnstoredConflicts = true
    }

    /// Forgets the files that a person has removed.
    private func forgetReplaced() {
        let left = (status.replaced ?? []).filter { FileManager.default.fileExists(atPath: $0) }
        if left.count == status.replaced?.count ?? 0 { return }
        status.replaced = left.isEmpty ? nil : left
        hasUnstoredConflicts = true
    }

    private func storeConflicts(_ store: StateStore) throws {
        try store.set(StateRow.conflicts, Array(try JSONEncoder().encode(status.conflicts)))
        try store.set(StateRow.replaced, try status.replaced.map { Array(try JSONEncoder().encode($0)) })
    }

    // MARK: The status

    /// The status with the failure that is shown: a full disk comes before any other one.
    private var stated: ClusterStatus {
        var stated = status
        stated.failure = full.failure ?? failures.shown?.text
        if full.failure == nil { stated.remedy = status.remedy ?? failures.shown?.remedy }
        return stated
    }

    /// The time at which the status is written next; nil if the record is up to date.
    var nextTime: Int64? { shown == stated ? nil : next }

    /// Writes the status if it differs from the record, at most five times a second. A new connection, pause or
    /// withholding is written at once. `isGone` returns whether a person has removed or renamed a copy with a conflict
    /// name.
    func show(force: Bool, isGone: ([UInt8]) -> Bool) throws {
        if shown != stated {
            status.conflicts.removeAll { isGone(Array($0.path)) }
            for conflict in status.conflicts where unprinted.contains(conflict.copy) {
                log("conflict: '\(conflict.copy)'")
            }
            unprinted = []
            forgetReplaced()
        }
        // A status in which only the time is new is written once a minute, so that an idle cluster costs next to
        // nothing.
        let isOld = readAt.map { $0.timeIntervalSince(status.readAt ?? .distantPast) > 60 } ?? false
        if isOld || shown != stated { status.readAt = readAt }
        let new = stated
        if shown == new { return }
        let isUrgent =
            shown?.isConnected != new.isConnected || shown?.paused != new.paused || shown?.withheld != new.withheld
        if !force && (!isUrgent && next > monotonicNanoseconds() || !full.mayTry(.status)) { return }
        next = monotonicNanoseconds() + 200_000_000
        do {
            try records.set(new)
        } catch {
            guard FullDisk.isFull(error) else { throw error }
            full.failed(.status, error)
            (next, full.hasNote) = (full.next, true)
            return note.set(full.failure)
        }
        full.ended(.status)
        if full.hasNote {
            note.set(nil)
            full.hasNote = false
        }
        shown = new
    }
}
