import GroupLocking
import GroupBytes
import GroupLog
import GroupSystemCalls

/// Makes anew those of the container's own files without which no process can open it. Works only where no process has
/// it open, by the kernel's locks.
extension ContainerCheck {
    func restoreParts(_ findings: [Finding]) throws(CoordinationError) {
        let parts = Set(findings.filter { $0.code == .partDamaged && $0.repaired != nil }.map(\.item))
        if parts.isEmpty { return }
        try makeStaging()
        let directory = try ContainerDirectories(path: path, unixGroup: nil, creating: false)
        if parts.contains(".group/lock") { try makeLock(in: directory) }
        // This process is alone from here on: no other can join.
        let lock = try directory.lockFile(creating: false, isOnlyForReading: false)
        let opening = try locking("open") { () throws(LockFileFailure) in try lock.borrow() }
        defer { lock.giveBack(opening) }
        let isFree = try translating("lock", item: ".group/lock") { () throws(Errno) in
            try opening.descriptor.tryLock(.exclusive, .all)
        }
        let isInUse = CheckedContainer.isLocked("members", directory)
        if !isFree || isInUse {
            throw CoordinationError(
                .lockTimedOut, operation: "repair", item: ".group/lock",
                reason: "another process has the container open",
                remedy: .init(.endMembers, "end its members, and try again"))
        }
        if parts.contains(".group/members") { try remove("members", in: directory) }
        try putAsideMisplaced(in: directory)
        // The process that opens the container next, which is alone, forgets the presenters that were in it.
        if parts.contains(PresenterTable.label) { try remove("presenters", in: directory) }
        if parts.contains(".group/format") { try makeFormat(in: directory, lock) }
    }

    private func remove(_ name: String, in directory: ContainerDirectories) throws(CoordinationError) {
        try translating("repair", item: ".group/\(name)") { () throws(Errno) in
            let name = Array(name.utf8)
            if try directory.group.statusIfPresent(of: name) != nil { try directory.group.removeTree(name) }
        }
    }

    /// Renames the misplaced entries. A process that needs one of them makes it anew.
    private func putAsideMisplaced(in directory: ContainerDirectories) throws(CoordinationError) {
        for part in directory.misplacedParts() {
            guard let parent = try directory.existingDirectory(part.directory) else { continue }
            try translating("put aside", item: part.label) { () throws(Errno) in try parent.putAside(part.name) }
        }
    }

    private func makeStaging() throws(CoordinationError) {
        try translating("repair", item: ".group/staging") { () throws(Errno) in
            let root = try FileDescriptor.open(path: path, [.reading, .directory])
            let group = try FileDescriptor.open(Array(".group".utf8), in: root, [.reading, .directory])
            let name = Array("staging".utf8)
            if let status = try group.statusIfPresent(of: name) {
                if status.isDirectory { return }
                try group.putAside(name)
            }
            try group.createDirectory(name, mode: 0o700)
            let mode: UInt32 = try group.status().permissions & 0o020 != 0 ? 0o2770 : 0o700
            try FileDescriptor.open(name, in: group, [.reading, .directory]).setMode(mode)
        }
    }

    private func makeLock(in directory: ContainerDirectories) throws(CoordinationError) {
        try translating("repair", item: ".group/lock") { () throws(Errno) in
            if try directory.group.statusIfPresent(of: LockFile.name) != nil {
                try directory.group.removeTree(LockFile.name)
            }
            let file = try FileDescriptor.open(
                LockFile.name, in: directory.group, .newFile, mode: 0o600)
            try file.setMode(directory.fileMode)
        }
    }

    /// Writes a new format file, with a new identity. The files of the journal name the container that they belong to;
    /// the key of the hashes is lost.
    private func makeFormat(in directory: ContainerDirectories, _ lock: LockFile) throws(CoordinationError) {
        var format = ContainerFormat(identifier: name.identifier, lockInode: lock.inode)
        if let origin = try Self.origin(in: directory) { format.origin = Hexadecimal.encode(origin) }
        try translating("repair", item: ".group/format") { () throws(Errno) in
            if try directory.group.statusIfPresent(of: ContainerFormat.name) == nil { return }
            try directory.group.putAside(ContainerFormat.name)
        }
        try format.write(in: directory.group, mode: directory.fileMode)
    }

    /// Returns the container's bytes in the first file of the journal whose first page is whole.
    private static func origin(in directory: ContainerDirectories) throws(CoordinationError) -> [UInt8]? {
        guard let journal = try? directory.journalDirectory() else { return nil }
        for name in ((try? journal.entryNames()) ?? []).sorted(by: { $0.lexicographicallyPrecedes($1) })
        where name.suffix(4).elementsEqual(".log".utf8) {
            let page = try? FileDescriptor.content(of: name, in: journal, limit: SegmentHeader.size)
            if let header = page.flatMap({ try? SegmentHeader(decoding: $0) }) { return header.identity }
        }
        return nil
    }
}
