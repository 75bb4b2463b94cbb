import Cluster
import FoundationEssentials
import GroupBytes
import GroupCluster
import GroupContainer
import GroupSystemCalls

/// What the program says of its machine: lines for its user, and the status, which is a record that others read.
///
/// A conflict stands in the status until its copy is gone, also after the program is started again. Used by the thread of
/// the machine.
final class Report {
    var status: ClusterStatus
    /// When the number of the cluster's entries was read.
    var readAt: Date?
    private var lines: [String] = []
    private var shown: ClusterStatus?
    /// The time from which on the status is written again.
    private var next: Int64 = 0
    private var hasUnstoredConflicts = false
    private let records: ClusterRecords
    private let store: StateStore
    private let full: FullDisk
    private let note: FullDiskNote

    init(
        _ status: ClusterStatus, _ container: Container, _ records: ClusterRecords, _ store: StateStore,
        _ full: FullDisk
    ) {
        (self.status, self.records, self.store, self.full) = (status, records, store, full)
        note = FullDiskNote(container)
    }

    /// Prepares for a disk without room.
    func prepare() { note.prepare(hasText: full.hasNote) }

    // MARK: Lines

    /// Notes a line for the program's user.
    func log(_ line: String) { lines.append(line) }

    /// Returns the lines that were noted since the last call.
    func takeLines() -> [String] {
        defer { lines = [] }
        return lines
    }

    // MARK: Conflicts

    /// Notes a copy with a conflict name.
    func note(conflict copy: [UInt8]) {
        if status.conflicts.contains(where: { $0.copy == printable(copy) }) { return }
        log("conflict: '\(printable(copy))'")
        status.conflicts.append(.init(copy, foundAt: Date()))
        if status.conflicts.count > 1_000 { status.conflicts.removeFirst() }
        do {
            try store.store(storeConflicts)
        } catch {
            // The next round stores them.
            hasUnstoredConflicts = true
        }
    }

    /// Stores the conflicts with everything else, if that is still to be done. Only within `store`.
    func storeIfNeeded(_ store: StateStore) throws {
        if hasUnstoredConflicts { try storeConflicts(store) }
        hasUnstoredConflicts = false
    }

    var isUnstored: Bool { hasUnstoredConflicts }

    // MARK: Values for which the cluster has others

    /// Notes a file with values of this machine for which the cluster has others.
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

    /// The status with what this machine lacks room for, before any other failure.
    private var stated: ClusterStatus {
        var stated = status
        stated.failure = full.failure ?? status.failure
        return stated
    }

    /// When the status is written; nil where it says what is so.
    var nextTime: Int64? { shown == stated ? nil : next }

    /// Writes the status if it says something else than the record, at most five times a second. `isGone` returns
    /// whether a copy with a conflict name was removed or renamed by a person.
    func show(force: Bool, isGone: ([UInt8]) -> Bool) throws {
        if shown != stated {
            status.conflicts.removeAll { isGone(Array($0.path)) }
            forgetReplaced()
        }
        // The date alone is written rarely, so that a cluster in which nothing happens costs next to nothing.
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
