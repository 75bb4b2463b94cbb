import Cluster
import FoundationEssentials
import GroupBytes
import GroupCluster
import GroupContainer
import GroupSystemCalls

/// Files that came out of the container by a step, and what becomes of them: what was expected is removed when no
/// process writes it any more, and anything else is put back beside the item.

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

extension Machine {
    func begin(_ taken: StoredTaken, _ file: [UInt8]) throws {
        try store.store { try $0.set(.taken, file, taken.bytes) }
    }

    /// Lets the next transaction remove a note. A note of a file that is gone has no effect.
    func end(taken file: [UInt8]) {
        toStore.endedTaken.insert(file)
        full.ended(.takenOut(file))
    }

    /// A file that came out, and when to look at it again.
    struct TakenOut {
        var file: [UInt8]
        var taken: StoredTaken
        var due: Int64
    }

    /// How long what came out is kept. A process that was about to open it for writing, by the path that it had, has
    /// done so then, and writes where no path leads.
    static let grace: Int64 = 1_000_000_000

    /// Puts what came out back beside the item if it was not expected. Otherwise it is removed when it is `due`, and no
    /// process has it open for writing: what a process writes yet may not be lost.
    func finish(_ taken: StoredTaken, _ file: [UInt8], isDue: Bool = false) throws {
        // Asked first: once there is no writer, the content stays as it is.
        let writers = try isDue ? contents.writers(of: file) : .some
        guard let found = try contents.content(of: file) else { return end(taken: file) }
        if taken.expects(found) {
            if writers == .perhaps { return keep(taken, file, for: 60 * Self.grace) }
            if writers == .some { return keep(taken, file) }
            contents.remove(file)
        } else {
            do {
                try putBack(file, found, taken)
            } catch let error as CoordinationError {
                // In use, no room: it is not forgotten.
                if FullDisk.isFull(error) {
                    full.failed(.takenOut(file), error)
                    return keep(taken, file, for: max(Self.grace, full.next - monotonicNanoseconds()))
                }
                status.failure = "\(error)"
                return keep(taken, file)
            }
        }
        end(taken: file)
    }

    private func keep(_ taken: StoredTaken, _ file: [UInt8], for time: Int64 = grace) {
        takenOut.append(TakenOut(file: file, taken: taken, due: monotonicNanoseconds() + time))
        takenOut.sort { $0.due < $1.due }
    }

    /// Notes what has come out and is not known, after a boot.
    func noteLostTaken() throws {
        lostTaken = try store.lostTaken(in: contents)
        if lostTaken.isEmpty { try noteBoot() }
    }

    private func noteBoot() throws {
        let boot = try bootIdentifier()
        if try store.value("boot") != boot { try store.store { try $0.set("boot", boot) } }
    }

    /// Puts back what has come out without a note, once what the cluster has is known: what would have been expected is
    /// a base then, or in the cluster.
    func recoverTaken() {
        if lostTaken.isEmpty { return }
        var digests = Set(fold.tree.nodes.values.map(\.content.digest))
        for base in mirror.base.values { digests.insert(base.node.content.digest) }
        for name in lostTaken {
            do {
                if let found = try contents.content(of: name), found.kind == .other || !digests.contains(found.digest) {
                    let copy = FileNames.conflict(Array("recovered".utf8), freshName()) { _ in false }
                    try putBack(name, found, StoredTaken(path: copy, aside: copy, expected: []))
                }
                if lostTaken.count == 1 { try noteBoot() }
                lostTaken.remove(name)
                full.ended(.takenOut(name))
            } catch {
                // The file stays, and is tried again with the next connection, or when there is room.
                if FullDisk.isFull(error) {
                    full.failed(.takenOut(name), error)
                } else {
                    status.failure = "\(error)"
                }
            }
        }
    }

    private func putBack(_ file: [UInt8], _ found: ContentFiles.Found, _ taken: StoredTaken) throws {
        let start = taken.aside.lastIndex(of: UInt8(ascii: "/")).map { $0 + 1 } ?? 0
        let name = Array(taken.aside[start...])
        func otherName() -> FileName { FileNames.conflict(name, freshName()) { _ in false } }
        // What came out has the inode of the item that it was. The copy is an item of its own, and not that one, moved.
        if let local = disk.item(at: taken.path) { disk.forgetMark(of: local) }
        for attempt in 0..<100 {
            var path = taken.aside[..<start] + (attempt == 0 ? name : otherName())
            do {
                try put(file, found, at: Array(path))
            } catch let error as CoordinationError where error.code == .conflict {
                continue
            } catch let error as CoordinationError where error.code == .notFound || error.code == .wrongType {
                // The directory is gone: in the root, then.
                path = otherName()[...]
                try put(file, found, at: Array(path))
            }
            note(conflict: Array(path))
            return try disk.look(at: Array(path))
        }
        throw CoordinationError(Errno.exists, operation: "move", item: printable(taken.aside))
    }

    private func put(_ file: [UInt8], _ found: ContentFiles.Found, at path: [UInt8]) throws {
        if found.kind == .other {
            // A directory may have come there a moment before the exchange.
            try disk.move(file, of: contents, to: path)
        } else {
            _ = try contents.place.exchange(
                file, at: ItemPath(bytes: path), replacing: false, mode: nil, purpose: "conflict", durability: .durable,
                timeout: .seconds(5))
        }
    }

    /// Looks again at what came out a while ago.
    func finishTakenOut(_ now: Int64) throws {
        let due = takenOut.prefix { $0.due <= now }
        takenOut.removeFirst(due.count)
        for each in due { try finish(each.taken, each.file, isDue: true) }
        // What lacks room is tried again, also without another connection.
        if isConnected, lostTaken.contains(where: { full.lacking.contains(.takenOut($0)) }), full.next <= now {
            recoverTaken()
        }
    }

    /// Goes on with what a killed program has taken out.
    func finishTaken() throws { for (file, note) in try store.taken() { try finish(note, file) } }

    /// Before the machine leaves its cluster: what came out and is written yet gets a conflict name, so that nothing of
    /// it is lost.
    func finishAllTaken(waiting nanoseconds: Int64) throws {
        let limit = monotonicNanoseconds() + nanoseconds
        try finishTaken()
        try noteLostTaken()
        recoverTaken()
        while let next = takenOut.first, case let now = monotonicNanoseconds(), now < limit {
            if next.due > now { pause(nanoseconds: min(next.due, limit) - now) }
            try finishTakenOut(monotonicNanoseconds())
        }
        for each in takenOut {
            let mayBeWritten = try contents.writers(of: each.file) != .none
            if let found = try contents.content(of: each.file), mayBeWritten || !each.taken.expects(found) {
                try putBack(each.file, found, each.taken)
            }
            end(taken: each.file)
        }
        takenOut = []
    }

    /// The files that are to be gone on with.
    func takenNames() throws -> Set<[UInt8]> {
        var names = lostTaken
        try store.forEach(.taken) { key, _ in names.insert(key) }
        return names
    }
}
