import Cluster
import FoundationEssentials
import GroupBytes
import GroupCluster
import GroupContainer
import GroupSystemCalls

extension StoredTaken {
    /// Returns whether a file that came out has a content that need not be kept. The mode of the file does not count.
    func expects(_ found: ContentFiles.Found) -> Bool { expected.contains(where: found.isSame) }

    /// The content that came out and the one that took its place, if a file was exchanged; nil if it was removed, or
    /// if the exchange was not made.
    func exchange(_ found: ContentFiles.Found) -> (expected: Expected, new: Expected)? {
        if expected.count != 2 || found.isSame(as: expected[1]) { return nil }
        return (expected[0], expected[1])
    }
}

extension StateStore {
    /// Returns the files that came out or are about to, with their notes. Error: `damaged`
    func taken() throws -> [(file: [UInt8], note: StoredTaken)] {
        var taken: [(file: [UInt8], note: StoredTaken)] = []
        try LoadedState.checked {
            try forEach(.taken) { key, value in
                if !ContentFiles.isOutName(key) { throw ClusterDamage.malformed("the name of a file that came out") }
                taken.append((key, try StoredTaken(bytes: value)))
            }
        }
        return taken
    }

    /// Returns the files that may have come out and have lost their notes in a power cut. The transaction of a note is
    /// not synced.
    func lostTaken(in contents: ContentFiles) throws -> Set<[UInt8]> {
        if try value("boot") == bootIdentifier() { return [] }
        return Set(try contents.outNames()).subtracting(try taken().map(\.file))
    }

    /// Removes the files that nothing needs, to make room: temporary files, contents that can be loaded again, and
    /// files that came out with an expected content and have no writer. Returns whether any was removed. The machine
    /// must not run meanwhile.
    func free(_ contents: ContentFiles) throws -> Bool {
        let inFlight = try LoadedState.checked {
            try value("in flight").map { try ClusterOutbox.InFlight(bytes: $0) }
        }
        var kept = try lostTaken(in: contents)
        let names = try contents.names()
        for (file, note) in try taken() where try !contents.removeIfOver(file, note) { kept.insert(file) }
        contents.removeAll(except: Set(inFlight?.digests ?? []), kept)
        return try contents.names() != names
    }
}

extension ContentFiles.Found {
    fileprivate func isSame(as content: StoredTaken.Expected) -> Bool {
        kind != .other && digest == content.digest && (kind == .link) == (content.kind == .link)
    }
}

extension ContentFiles {
    /// Removes a file that came out if its content is expected and no process has it open for writing. Returns false if
    /// the file is still there.
    fileprivate func removeIfOver(_ file: [UInt8], _ note: StoredTaken) throws(Errno) -> Bool {
        // Writers are looked for before the content is read. No path leads to the file, so a file without a writer
        // never gets one, and its content is final.
        if try writers(of: file) != .none { return false }
        guard let found = try content(of: file) else { return true }
        if !note.expects(found) { return false }
        remove(file)
        return true
    }
}

/// The files that came out of the container by a step, and what becomes of each. Used by the machine's thread.
///
///     noted ── the step ──▶ out ── the content is expected, and nothing has it open for writing ──▶ removed
///                            └── any other content ──▶ put back, with a conflict name if its path is taken
///
/// A file that came out is never removed with content that was not expected. A process may have had the file open
/// before the step, and write to it afterwards. Such a writer is harmless: the file is kept until no process has it
/// open for writing, and is put back if its content has changed by then.
final class DisplacedFiles {
    /// A file that came out, and the time at which it is looked at again.
    private struct Waiting {
        var file: [UInt8]
        var note: StoredTaken
        var due: Int64
    }

    private let store: StateStore
    private let contents: ContentFiles
    private let full: FullDisk
    private let report: Report
    /// The files that wait, by the times at which they are looked at.
    private var waiting: [Waiting] = []
    /// Files that may have come out and have lost their notes in a power cut.
    private var lost: Set<[UInt8]> = []
    /// Files that are gone while their notes are still stored.
    private var ended: Set<[UInt8]> = []

    init(_ store: StateStore, _ contents: ContentFiles, _ full: FullDisk, _ report: Report) {
        self.store = store
        self.contents = contents
        self.full = full
        self.report = report
    }

    /// How long a file that came out is kept at least. An open(2) for writing that had found the path just before the
    /// step is over by then, so that `writers` finds its process.
    static let grace: Int64 = 1_000_000_000

    /// Stores the note of a file that is about to come out.
    func begin(_ note: StoredTaken, _ file: [UInt8]) throws {
        try store.store { try $0.set(.taken, file, note.bytes) }
    }

    /// Lets the next transaction remove the note of a file that was removed or put back. Until then the note has no
    /// effect, since it names a file that does not exist.
    func end(_ file: [UInt8]) {
        ended.insert(file)
        full.ended(.takenOut(file))
    }

    /// Decides what becomes of a file after its step. Unexpected content is put back beside the item now. Expected
    /// content is removed after the grace period, once no process has it open for writing.
    func finish(_ note: StoredTaken, _ file: [UInt8], on disk: inout LocalDisk) throws {
        try finish(note, file, isDue: false, on: &disk)
    }

    private func finish(_ note: StoredTaken, _ file: [UInt8], isDue: Bool, on disk: inout LocalDisk) throws {
        // Writers are looked for before the content is read: a file without a writer never gets one, so its content is
        // final.
        let writers = try isDue ? contents.writers(of: file) : .some
        guard let found = try contents.content(of: file) else { return end(file) }
        if note.expects(found) {
            if writers == .perhaps { return keep(note, file, for: 60 * Self.grace) }
            if writers == .some { return keep(note, file) }
            contents.remove(file)
        } else {
            do {
                try putBack(file, found, note, on: &disk)
            } catch let error as CoordinationError {
                // The path is in use, or there is no room: the file waits and is tried again.
                if FullDisk.isFull(error) {
                    full.failed(.takenOut(file), error)
                    return keep(note, file, for: max(Self.grace, full.next - monotonicNanoseconds()))
                }
                report.failures.failed(.takenOut(file), "\(error)")
                return keep(note, file)
            }
        }
        end(file)
    }

    private func keep(_ note: StoredTaken, _ file: [UInt8], for time: Int64 = grace) {
        waiting.append(Waiting(file: file, note: note, due: monotonicNanoseconds() + time))
        waiting.sort { $0.due < $1.due }
    }

    // MARK: Later

    /// The time at which the next file is looked at; nil if none waits.
    var next: Int64? { waiting.first?.due }

    /// Returns whether a file waits, or has lost its note.
    func waits(_ file: [UInt8]) -> Bool { lost.contains(file) || waiting.contains { $0.file == file } }

    /// Looks again at the files whose time has come.
    func finish(dueAt now: Int64, on disk: inout LocalDisk) throws {
        let due = waiting.prefix { $0.due <= now }
        waiting.removeFirst(due.count)
        for each in due { try finish(each.note, each.file, isDue: true, on: &disk) }
    }

    /// Resumes the work on files that an earlier run of the program has taken out. An exchange may have been made and
    /// not stored, so `mirror` takes it over.
    func finishAll(on disk: inout LocalDisk, _ mirror: inout ClusterMirror, _ tree: ClusterTree) throws {
        for (file, note) in try store.taken() {
            if let found = try contents.content(of: file), let (expected, new) = note.exchange(found),
                let local = disk.item(at: note.path)
            {
                mirror.madeEarlier(exchangeOf: local, expected: expected, new: new, in: tree)
            }
            try finish(note, file, on: &disk)
        }
    }

    /// Finishes all files before the machine leaves its cluster, within `nanoseconds`. A file that may still be written
    /// after that is put back, so that no write to it is lost.
    func finishAll(waiting nanoseconds: Int64, on disk: inout LocalDisk) throws {
        let limit = monotonicNanoseconds() + nanoseconds
        while let next, case let now = monotonicNanoseconds(), now < limit {
            if next > now { pause(nanoseconds: min(next, limit) - now) }
            try finish(dueAt: monotonicNanoseconds(), on: &disk)
        }
        for each in waiting {
            let mayBeWritten = try contents.writers(of: each.file) != .none
            if let found = try contents.content(of: each.file), mayBeWritten || !each.note.expects(found) {
                try putBack(each.file, found, each.note, on: &disk, timeout: .seconds(5))
            }
            end(each.file)
        }
        waiting = []
    }

    /// Returns the names of the files that must stay: those with a note, and those that have lost theirs.
    func names() throws -> Set<[UInt8]> {
        var names = lost
        try store.forEach(.taken) { key, _ in names.insert(key) }
        return names
    }

    // MARK: After a power cut

    /// Finds, after a boot, the files that have lost their notes.
    func noteLost() throws {
        lost = try store.lostTaken(in: contents)
        if lost.isEmpty { try noteBoot() }
    }

    private func noteBoot() throws {
        let boot = try bootIdentifier()
        if try store.value("boot") != boot { try store.store { try $0.set("boot", boot) } }
    }

    /// Whether a file that has lost its note lacked room and may be tried again now.
    var mayTryLost: Bool {
        full.next <= monotonicNanoseconds() && lost.contains { full.lacking.contains(.takenOut($0)) }
    }

    /// Puts back the files that have lost their notes. To be called when the cluster's log was read. A content that a
    /// note would have expected is then that of a base, or of an item of the cluster, unless it was replaced twice
    /// while the machine was off; that one is put back without need.
    func recoverLost(_ fold: ClusterFold, _ mirror: ClusterMirror, on disk: inout LocalDisk) {
        if lost.isEmpty { return }
        var digests = Set(fold.tree.nodes.values.map(\.content.digest))
        for base in mirror.base.values { digests.insert(base.node.content.digest) }
        for name in lost {
            do {
                if let found = try contents.content(of: name), found.kind == .other || !digests.contains(found.digest) {
                    let copy = FileNames.conflict(FileNames.recovered, .fresh()) { _ in false }
                    try putBack(name, found, StoredTaken(path: copy, aside: copy, expected: []), on: &disk)
                }
                if lost.count == 1 { try noteBoot() }
                lost.remove(name)
                full.ended(.takenOut(name))
            } catch {
                // The file stays, and is tried again at the next connection, or when there is room.
                if FullDisk.isFull(error) {
                    full.failed(.takenOut(name), error)
                } else {
                    report.failures.failed(.takenOut(name), "\(error)")
                }
            }
        }
    }

    // MARK: Putting back

    private func putBack(
        _ file: [UInt8], _ found: ContentFiles.Found, _ note: StoredTaken, on disk: inout LocalDisk,
        timeout: Duration = Machine.patience
    ) throws {
        let start = note.aside.lastIndex(of: UInt8(ascii: "/")).map { $0 + 1 } ?? 0
        let name = Array(note.aside[start...])
        func otherName() -> FileName { FileNames.conflict(name, .fresh()) { _ in false } }
        // The file has the inode by which the disk knows the item at `note.path`. The copy is a new item, and must not
        // be taken for that item, moved.
        if let local = disk.item(at: note.path) { disk.forgetMark(of: local) }
        for attempt in 0..<100 {
            var path = note.aside[..<start] + (attempt == 0 ? name : otherName())
            do {
                try put(file, found, at: Array(path), on: disk, timeout)
            } catch let error as CoordinationError where error.code == .conflict {
                continue
            } catch let error as CoordinationError where error.code == .notFound || error.code == .wrongType {
                // The directory is gone: the copy goes into the root directory.
                path = otherName()[...]
                try put(file, found, at: Array(path), on: disk, timeout)
            }
            report.note(conflict: Array(path))
            return try disk.look(at: Array(path))
        }
        throw CoordinationError(Errno.exists, operation: "move", item: printable(note.aside))
    }

    private func put(
        _ file: [UInt8], _ found: ContentFiles.Found, at path: [UInt8], on disk: LocalDisk, _ timeout: Duration
    ) throws {
        if found.kind == .other {
            // `exchange` does not take it: a directory that came to the path just before the step, or a file that may
            // not be read.
            try disk.move(file, of: contents, to: path)
        } else {
            _ = try contents.files.exchange(
                file, at: ItemPath(bytes: path), replacing: false, mode: nil, purpose: "conflict", durability: .durable,
                timeout: timeout)
        }
    }

    // MARK: Storing

    var isUnstored: Bool { !ended.isEmpty }

    /// Removes the notes of files that are gone. To be called within `store` only.
    func store(in store: StateStore) throws {
        for file in ended { try store.set(.taken, file, nil) }
        ended = []
    }
}
