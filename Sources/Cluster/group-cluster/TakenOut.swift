import Cluster
import FoundationEssentials
import GroupBytes
import GroupCluster
import GroupContainer
import GroupSystemCalls

extension StoredTaken {
    func expects(_ found: ContentFiles.Found) -> Bool {
        found.kind != .other
            && expected.contains { $0.digest == found.digest && ($0.kind == .link) == (found.kind == .link) }
    }
}

extension StateStore {
    /// Returns the files that came out, or are about to, and their notes. Error: `damaged`
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

    /// Returns the files that came out, perhaps, and whose note a power cut has taken: the notes are not written to the
    /// disk for each item.
    func lostTaken(in contents: ContentFiles) throws -> Set<[UInt8]> {
        if try value("boot") == bootIdentifier() { return [] }
        return Set(try contents.outNames()).subtracting(try taken().map(\.file))
    }

    /// Removes of the contents what nothing needs: temporary files, contents that can be loaded again, and files that
    /// came out, have what was expected, and are not being written. Returns whether there was such a file. The machine
    /// must not run.
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

extension ContentFiles {
    /// Removes a file that came out if it has what was expected, and no process has it open for writing. Returns false
    /// if it is still there.
    fileprivate func removeIfOver(_ file: [UInt8], _ note: StoredTaken) throws(Errno) -> Bool {
        // Looked at first: once there is no writer, the content stays as it is.
        if try writers(of: file) != .none { return false }
        guard let found = try content(of: file) else { return true }
        if !note.expects(found) { return false }
        remove(file)
        return true
    }
}

/// Files that came out of the container by a step, and what becomes of them: what was expected is removed when no
/// process writes it any more, and anything else is put back beside the item. Used by the thread of the machine.
///
///     noted ── the step ──▶ out ── has what was expected, and no process has it open ──▶ removed
///                            └── has anything else ──▶ put back, with a conflict name if its place is taken
final class TakenOut {
    /// A file that came out, and when to look at it again.
    private struct Waiting {
        var file: [UInt8]
        var note: StoredTaken
        var due: Int64
    }

    private let store: StateStore
    private let contents: ContentFiles
    private let full: FullDisk
    private let report: Report
    /// In the order in which they are looked at.
    private var waiting: [Waiting] = []
    /// Files that came out, perhaps, and whose note a power cut has taken.
    private var lost: Set<[UInt8]> = []
    /// Files that are gone, and whose notes are still stored.
    private var ended: Set<[UInt8]> = []

    init(_ store: StateStore, _ contents: ContentFiles, _ full: FullDisk, _ report: Report) {
        (self.store, self.contents, self.full, self.report) = (store, contents, full, report)
    }

    /// How long what came out is kept. A process that was about to open it for writing, by the path that it had, has
    /// done so then, and writes where no path leads.
    static let grace: Int64 = 1_000_000_000

    /// Notes a file that is about to come out.
    func begin(_ note: StoredTaken, _ file: [UInt8]) throws {
        try store.store { try $0.set(.taken, file, note.bytes) }
    }

    /// Lets the next transaction remove a note. A note of a file that is gone has no effect.
    func end(_ file: [UInt8]) {
        ended.insert(file)
        full.ended(.takenOut(file))
    }

    /// Puts what came out back beside the item if it was not expected. Otherwise it is removed when it is due, and no
    /// process has it open for writing: what a process writes yet may not be lost.
    func finish(_ note: StoredTaken, _ file: [UInt8], on disk: inout LocalDisk) throws {
        try finish(note, file, isDue: false, on: &disk)
    }

    private func finish(_ note: StoredTaken, _ file: [UInt8], isDue: Bool, on disk: inout LocalDisk) throws {
        // Asked first: once there is no writer, the content stays as it is.
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
                // In use, no room: it is not forgotten.
                if FullDisk.isFull(error) {
                    full.failed(.takenOut(file), error)
                    return keep(note, file, for: max(Self.grace, full.next - monotonicNanoseconds()))
                }
                report.status.failure = "\(error)"
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

    /// When the next file is looked at; nil where none waits.
    var next: Int64? { waiting.first?.due }

    /// Whether a file waits, or its note was lost.
    func waits(_ file: [UInt8]) -> Bool { lost.contains(file) || waiting.contains { $0.file == file } }

    /// Looks again at what came out a while ago.
    func finish(dueAt now: Int64, on disk: inout LocalDisk) throws {
        let due = waiting.prefix { $0.due <= now }
        waiting.removeFirst(due.count)
        for each in due { try finish(each.note, each.file, isDue: true, on: &disk) }
    }

    /// Goes on with what a killed program has taken out.
    func finishAll(on disk: inout LocalDisk) throws {
        for (file, note) in try store.taken() { try finish(note, file, on: &disk) }
    }

    /// Before the machine leaves its cluster: what came out and is written yet is put back, so that nothing of it is lost.
    func finishAll(waiting nanoseconds: Int64, on disk: inout LocalDisk) throws {
        let limit = monotonicNanoseconds() + nanoseconds
        while let next, case let now = monotonicNanoseconds(), now < limit {
            if next > now { pause(nanoseconds: min(next, limit) - now) }
            try finish(dueAt: monotonicNanoseconds(), on: &disk)
        }
        for each in waiting {
            let mayBeWritten = try contents.writers(of: each.file) != .none
            if let found = try contents.content(of: each.file), mayBeWritten || !each.note.expects(found) {
                try putBack(each.file, found, each.note, on: &disk)
            }
            end(each.file)
        }
        waiting = []
    }

    /// The files that are to be gone on with.
    func names() throws -> Set<[UInt8]> {
        var names = lost
        try store.forEach(.taken) { key, _ in names.insert(key) }
        return names
    }

    // MARK: After a power cut

    /// Notes what has come out and is not known, after a boot.
    func noteLost() throws {
        lost = try store.lostTaken(in: contents)
        if lost.isEmpty { try noteBoot() }
    }

    private func noteBoot() throws {
        let boot = try bootIdentifier()
        if try store.value("boot") != boot { try store.store { try $0.set("boot", boot) } }
    }

    /// Whether a file whose note was lost lacks room, and is to be tried again now.
    var mayTryLost: Bool {
        full.next <= monotonicNanoseconds() && lost.contains { full.lacking.contains(.takenOut($0)) }
    }

    /// Puts back what has come out without a note, once what the cluster has is known: what would have been expected is
    /// a base then, or in the cluster.
    func recoverLost(_ fold: ClusterFold, _ mirror: ClusterMirror, on disk: inout LocalDisk) {
        if lost.isEmpty { return }
        var digests = Set(fold.tree.nodes.values.map(\.content.digest))
        for base in mirror.base.values { digests.insert(base.node.content.digest) }
        for name in lost {
            do {
                if let found = try contents.content(of: name), found.kind == .other || !digests.contains(found.digest) {
                    let copy = FileNames.conflict(Array("recovered".utf8), .fresh()) { _ in false }
                    try putBack(name, found, StoredTaken(path: copy, aside: copy, expected: []), on: &disk)
                }
                if lost.count == 1 { try noteBoot() }
                lost.remove(name)
                full.ended(.takenOut(name))
            } catch {
                // The file stays, and is tried again with the next connection, or when there is room.
                if FullDisk.isFull(error) {
                    full.failed(.takenOut(name), error)
                } else {
                    report.status.failure = "\(error)"
                }
            }
        }
    }

    // MARK: Putting back

    private func putBack(
        _ file: [UInt8], _ found: ContentFiles.Found, _ note: StoredTaken, on disk: inout LocalDisk
    ) throws {
        let start = note.aside.lastIndex(of: UInt8(ascii: "/")).map { $0 + 1 } ?? 0
        let name = Array(note.aside[start...])
        func otherName() -> FileName { FileNames.conflict(name, .fresh()) { _ in false } }
        // What came out has the inode of the item that it was. The copy is an item of its own, and not that one, moved.
        if let local = disk.item(at: note.path) { disk.forgetMark(of: local) }
        for attempt in 0..<100 {
            var path = note.aside[..<start] + (attempt == 0 ? name : otherName())
            do {
                try put(file, found, at: Array(path), on: disk)
            } catch let error as CoordinationError where error.code == .conflict {
                continue
            } catch let error as CoordinationError where error.code == .notFound || error.code == .wrongType {
                // The directory is gone: in the root, then.
                path = otherName()[...]
                try put(file, found, at: Array(path), on: disk)
            }
            report.note(conflict: Array(path))
            return try disk.look(at: Array(path))
        }
        throw CoordinationError(Errno.exists, operation: "move", item: printable(note.aside))
    }

    private func put(_ file: [UInt8], _ found: ContentFiles.Found, at path: [UInt8], on disk: LocalDisk) throws {
        if found.kind == .other {
            // A directory may have come there a moment before the exchange.
            try disk.move(file, of: contents, to: path)
        } else {
            _ = try contents.place.exchange(
                file, at: ItemPath(bytes: path), replacing: false, mode: nil, purpose: "conflict", durability: .durable,
                timeout: .seconds(5))
        }
    }

    // MARK: Storing

    var isUnstored: Bool { !ended.isEmpty }

    /// Removes the notes of files that are gone. Only within `store`.
    func store(in store: StateStore) throws {
        for file in ended { try store.set(.taken, file, nil) }
        ended = []
    }
}
