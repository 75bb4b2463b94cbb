import GroupBytes
import GroupSystemCalls

/// The open directories of a container. Everything below the root is reached through them, one checked component or one
/// `openat2(RESOLVE_BENEATH)` at a time.
final class ContainerDirectories: Sendable {
    /// The path as the user named it, for messages.
    let path: [UInt8]
    /// The path that the kernel reported when the container was opened.
    let openedAt: [UInt8]?
    /// The path as the user named it if that is absolute, or else the one that the kernel reported.
    var absolutePath: AbsolutePath {
        // Without an answer of the kernel, the path is right as long as the working directory stays.
        AbsolutePath(bytes: path) ?? openedAt.flatMap { AbsolutePath(bytes: $0) }
            ?? AbsolutePath(path, in: Array("/proc/self/cwd".utf8))
    }
    /// The path as the user named it, with one slash at its end.
    var pathPrefix: [UInt8] {
        let slash = UInt8(ascii: "/")
        return Array(path[..<(path.lastIndex { $0 != slash }.map { $0 + 1 } ?? 0)]) + [slash]
    }
    /// The absolute path at which the container is now, without symbolic links. System calls: readlinkat(2)
    var resolvedPath: [UInt8] { (try? root.absolutePath()) ?? absolutePath.bytes }
    let rootDirectory: OpenDirectory
    let group: FileDescriptor
    let stagingDirectory: OpenDirectory
    /// The file of `group`, which no other file becomes while it is open.
    private let identity: (device: UInt64, inode: UInt64)
    /// The mode of the files below `.group`: 0600, or 0660 where a Unix group shares the container; users who may read
    /// the directory may read them, too. Set by `fchmod`, whatever the umask.
    let fileMode: UInt32
    let directoryMode: UInt32
    /// Whether a Unix group shares the container: what is created in it is then for that group, whatever the umask.
    let isShared: Bool

    /// Network and user-space file systems whose byte locks or maps do not reach every process.
    private static let refused: [Int: String] = [
        0x6969: "NFS", 0x6573_5546: "FUSE", 0x517b: "SMB", 0xfe53_4d42: "SMB", 0xff53_4d42: "CIFS", 0x0102_1997: "9P",
        0x00c3_6400: "Ceph", 0x5346_414f: "AFS",
    ]

    /// Returns the name of a refused kind of file system, by its magic number; nil for any other.
    static func refusal(ofType type: Int) -> String? { refused[type] }

    var root: FileDescriptor { _read { yield rootDirectory.descriptor } }
    var staging: FileDescriptor { _read { yield stagingDirectory.descriptor } }

    init(path: [UInt8], unixGroup: UInt32?, creating: Bool, adopting: Bool = false) throws(CoordinationError) {
        let label = printable(path)
        let operation = creating ? "create" : "open"
        if creating { try Self.checkIsOutsideOfGroup(path) }
        let root: OpenDirectory
        let isThere: Bool
        do throws(Errno) {
            if creating { try Self.makeDirectories(path) }
            root = OpenDirectory(try FileDescriptor.open(path: path, [.reading, .directory]))
            isThere = try root.descriptor.statusIfPresent(of: ContainerMark.present) != nil
        } catch {
            throw OpeningErrors.error(error, at: path, creating: creating)
        }
        if creating && !isThere {
            try Self.checkIsNoRest(root.descriptor, label)
            try Self.checkMayBecomeContainer(root.descriptor, label)
            if !adopting { try Self.checkIsEmpty(root.descriptor, label) }
            try Self.makePrivate(root.descriptor, unixGroup: unixGroup, label)
        }
        rootDirectory = root
        do throws(Errno) {
            if creating {
                try Self.makeGroup(in: root.descriptor)
            } else if !isThere {
                throw Errno.noSuchEntry
            }
            group = try FileDescriptor.open(
                ContainerMark.present, in: rootDirectory.descriptor, [.reading, .directory])
            let status = try group.status()
            identity = (status.device, status.inode)
            isShared = status.permissions & 0o020 != 0
            fileMode = 0o600 | status.permissions & (isShared ? 0o064 : 0o044)
            directoryMode = isShared ? 0o2770 : 0o700
            if creating { try Self.createDirectory("staging", in: group, mode: directoryMode) }
            stagingDirectory = OpenDirectory(try Self.openStaging(in: group))
        } catch {
            if error == .noSuchEntry && Self.hasRest(root.descriptor) { throw Self.isHalfDeleted(label) }
            if !creating, isThere, let damage = Self.damageOfStaging(error, root.descriptor) { throw damage }
            throw OpeningErrors.error(error, at: path, creating: creating)
        }
        self.path = path
        openedAt = try? rootDirectory.descriptor.absolutePath()
        if isThere, creating, let unixGroup { try checkIsShared(with: unixGroup, label) }
        let type = try translating(operation, item: label) { () throws(Errno) in
            try rootDirectory.descriptor.fileSystemType()
        }
        if let name = Self.refusal(ofType: type) {
            throw CoordinationError(
                .unsupportedFileSystem, operation: operation, item: label,
                reason: "the directory is on \(name), where byte locks and shared maps do not reach every process",
                remedy: .useLocalFileSystem)
        }
    }

    private static func isHalfDeleted(_ label: String) -> CoordinationError {
        CoordinationError(
            .notFound, operation: "open", item: label, reason: "there is no container: its deletion was interrupted",
            remedy: .init(.finishDeletion, "delete the container again, which finishes the deletion"))
    }

    private static func makeDirectories(_ named: [UInt8]) throws(Errno) {
        // Slashes at the end are dropped: the last directory is private, and those on the way to it have the usual
        // mode.
        let path = Array(named[..<(named.lastIndex { $0 != UInt8(ascii: "/") }.map { $0 + 1 } ?? named.count)])
        for end in path.indices.dropFirst() where path[end] == UInt8(ascii: "/") && path[end - 1] != UInt8(ascii: "/") {
            try createDirectory(path: Array(path[..<end]), mode: 0o755)
        }
        try createDirectory(path: path, mode: 0o700)
    }

    private static func createDirectory(path: [UInt8], mode: UInt32) throws(Errno) {
        do throws(Errno) {
            try FileDescriptor.createDirectory(path: path, mode: mode)
        } catch {
            // On a read-only file system mkdir fails for that reason before it finds that the directory exists.
            if error != .exists, (try? FileDescriptor.open(path: path, [.pathOnly, .directory])) == nil {
                throw error
            }
            return
        }
        // The umask may keep even its owner out of the new directory.
        guard let mode = try? FileDescriptor.open(path: path, [.pathOnly, .directory]).status().permissions else {
            return
        }
        if mode & 0o700 != 0o700 { try FileDescriptor.setMode(path: path, mode | 0o700) }
    }

    private static func makeGroup(in root: borrowing FileDescriptor) throws(Errno) {
        let isShared = try root.status().permissions & 0o2020 == 0o2020
        try createDirectory(".group", in: root, mode: isShared ? 0o2770 : 0o700)
    }

    /// Creates a directory unless it exists. The mode is set only if the directory is created now.
    private static func createDirectory(_ name: String, in directory: borrowing FileDescriptor, mode: UInt32)
        throws(Errno)
    {
        let bytes = Array(name.utf8)
        do throws(Errno) {
            try directory.createDirectory(bytes, mode: 0o700)
        } catch {
            if error == .exists { return }
            throw error
        }
        do throws(Errno) {
            try FileDescriptor.open(bytes, in: directory, [.reading, .directory]).setMode(mode)
        } catch {
            // The umask keeps even the owner out of the new directory.
            if error != .accessDenied { throw error }
            try directory.setMode(of: bytes, mode)
        }
    }

    /// Opens the staging directory. A process that may only read the container needs nothing in it, so no permission to
    /// list it is required.
    private static func openStaging(in group: borrowing FileDescriptor) throws(Errno) -> FileDescriptor {
        let name = Array("staging".utf8)
        do throws(Errno) {
            return try FileDescriptor.open(name, in: group, [.reading, .directory])
        } catch {
            if error != .accessDenied { throw error }
            return try FileDescriptor.open(name, in: group, [.pathOnly, .directory])
        }
    }

    /// Returns the damage error where `.group/staging` is missing or is no directory. Returns nil where the container
    /// cannot be opened for another reason: a container whose creation was never finished has no format file either.
    private static func damageOfStaging(
        _ errno: Errno, _ root: borrowing FileDescriptor
    ) -> CoordinationError? {
        guard let group = try? FileDescriptor.open(ContainerMark.present, in: root, [.pathOnly, .directory]),
            (try? group.status(of: ContainerFormat.name)) != nil
        else { return nil }
        let item = ".group/staging"
        if errno == .noSuchEntry { return .damaged(operation: "open", item: item, reason: "the directory is missing") }
        return [.notADirectory, .tooManyLinks].contains(errno)
            ? CoordinationError(errno, operation: "open", item: item) : nil
    }

    /// Opens the directory of the journal, which exists in every complete container.
    func journalDirectory() throws(CoordinationError) -> FileDescriptor {
        do throws(Errno) {
            return try FileDescriptor.open(Array("journal".utf8), in: group, [.reading, .directory])
        } catch {
            if error == .noSuchEntry {
                throw .damaged(operation: "open", item: ".group/journal", reason: "the directory is missing")
            }
            throw CoordinationError(error, operation: "open", item: ".group/journal")
        }
    }

    /// Opens a directory below `.group`. Returns nil where it is missing.
    func existingDirectory(_ name: String) throws(CoordinationError) -> FileDescriptor? {
        do throws(Errno) {
            return try FileDescriptor.open(Array(name.utf8), in: group, [.reading, .directory])
        } catch {
            if error == .noSuchEntry { return nil }
            throw CoordinationError(error, operation: "open", item: ".group/\(name)")
        }
    }

    /// Opens a directory below `.group`, and creates it if it is missing.
    func ownDirectory(_ name: String) throws(CoordinationError) -> FileDescriptor {
        try translating("open", item: ".group/\(name)") { () throws(Errno) in
            var end = name.startIndex
            while let slash = name[end...].firstIndex(of: "/") {
                try Self.createDirectory(String(name[..<slash]), in: group, mode: directoryMode)
                end = name.index(after: slash)
            }
            try Self.createDirectory(name, in: group, mode: directoryMode)
            return try FileDescriptor.open(Array(name.utf8), in: group, [.reading, .directory])
        }
    }

    /// Whether there is a journal, which is made after the format file: without that, the format file was removed.
    var hasJournal: Bool { ((try? group.statusIfPresent(of: Array("journal".utf8))) ?? nil) != nil }

    /// Whether the root directory's path leads to another directory, or to none: the file system that it is on was
    /// unmounted, and stays only for the processes that have it open. System calls: readlink(2), openat2(2), statx(2)
    var isUnmounted: Bool {
        guard let now = try? root.absolutePath() else { return false }
        return leadsHere(now) != true
    }

    /// The container's present path if the container, or a directory around it, was moved since it was opened; else
    /// nil. System calls: readlink(2)
    var movedTo: [UInt8]? {
        guard let openedAt, let now = try? root.absolutePath(), now != openedAt else { return nil }
        return now
    }

    /// Returns whether a path leads into the staging directory of any container, where members prepare and delete
    /// items.
    static func isStaging(_ path: [UInt8]) -> Bool {
        let names = path.split(separator: UInt8(ascii: "/"))
        return zip(names, names.dropFirst()).contains { directory, name in
            directory.elementsEqual(ContainerMark.present) && name.elementsEqual("staging".utf8)
        }
    }

    /// Checks that the directory is still the one that its name led to: neither deleted since it was opened, nor put
    /// aside, nor moved. (A directory around it may be moved as an item of another container.) While no process can
    /// open the container, the result is reliable: a process that moves the container has seen that no process has it
    /// open.
    func checkStands() throws(CoordinationError) {
        let label = printable(path)
        guard try translating("open", item: label, { () throws(Errno) in try stands() }) else {
            throw CoordinationError(.notFound, operation: "open", item: label, reason: "the container was removed")
        }
        guard let path = movedTo else { return }
        let isRemoved = Self.isStaging(path)
        throw CoordinationError(
            .notFound, operation: "open", item: label,
            reason: isRemoved ? "the container was removed" : "the container was moved to '\(printable(path))'",
            remedy: isRemoved ? nil : .init(.openElsewhere, "open the container there"))
    }

    private func stands() throws(Errno) -> Bool {
        try root.statusIfPresent(of: ContainerMark.present)?.inode == group.status().inode
    }

    /// Whether the path at which the container was opened leads to it; false also where this process may not look.
    /// System calls: statx(2)
    var isAtItsPath: Bool {
        guard let openedAt, let there = try? FileDescriptor.status(path: openedAt + Self.markOnPath) else {
            return false
        }
        return there.device == identity.device && there.inode == identity.inode
    }

    /// Whether the path at which the container was opened leads to another directory, though the container was not
    /// moved: another file system is mounted there, or above. System calls: openat2(2), statx(2) twice
    var isHidden: Bool {
        openedAt.map { leadsHere($0) == false } ?? false
    }

    /// Whether a path leads to the root directory; nil where it leads to no directory, or this process may not look.
    private func leadsHere(_ path: [UInt8]) -> Bool? {
        guard let own = try? root.status(),
            let there = try? FileDescriptor.open(path: path, [.pathOnly, .directory]).status()
        else { return nil }
        return there.inode == own.inode && there.device == own.device
    }

    private static let markOnPath = [UInt8(ascii: "/")] + ContainerMark.present

    /// Whether the container is gone. Either the kernel has it as removed, and no process will write here again; or it
    /// was put aside, for deletion or by hand, and the next process creates another container.
    var isGone: Bool {
        (try? root.status().links) == 0 || (try? group.status().links) == 0 || (try? stands()) == false
    }
}

/// The checks before a container is created.
extension ContainerDirectories {
    /// Checks that no container is created in a container's own directory, on whatever path. Errors:
    /// `outsideContainer`. System calls: openat2, readlink
    static func checkIsOutsideOfGroup(_ path: [UInt8]) throws(CoordinationError) {
        if !isReserved(path) && !isReserved(realPath(of: path)) { return }
        throw CoordinationError(
            .outsideContainer, operation: "create", item: printable(path),
            reason: "'.group' is a container's own directory", remedy: .init(.choosePath, "choose a path outside of it")
        )
    }

    private static func isReserved(_ path: [UInt8]) -> Bool {
        path.split(separator: UInt8(ascii: "/")).contains { ContainerMark.isOne($0) }
    }

    /// Returns the real path of the deepest existing directory on the way; empty where there is none.
    private static func realPath(of path: [UInt8]) -> [UInt8] {
        let slash = UInt8(ascii: "/")
        var existing = path[...]
        while true {
            let ancestor = existing.isEmpty ? [path.first == slash ? slash : UInt8(ascii: ".")] : Array(existing)
            if let open = try? FileDescriptor.open(path: ancestor, [.pathOnly, .directory]) {
                return (try? open.absolutePath()) ?? []
            }
            if existing.isEmpty { return [] }
            existing = existing[..<(existing.lastIndex(of: slash) ?? existing.startIndex)]
        }
    }

    /// Checks that the directory is not a container whose deletion was interrupted. Errors: `conflict`. System calls:
    /// statx
    static func checkIsNoRest(_ root: borrowing FileDescriptor, _ label: String) throws(CoordinationError) {
        guard hasRest(root) else { return }
        throw CoordinationError(
            .conflict, operation: "create", item: label, reason: "its deletion was interrupted",
            remedy: .init(.finishDeletion, "delete the container again, which finishes the deletion"))
    }

    /// Checks that a directory is not one that others, or other programs, use as it is: the root directory, the user's
    /// home, a directory of another user, or one with the sticky bit, such as /tmp. A container would take it over: its
    /// mode changes, and everything in it becomes an item. Errors: `notPermitted`. System calls: statx
    static func checkMayBecomeContainer(_ root: borrowing FileDescriptor, _ label: String) throws(CoordinationError) {
        let status = try translating("create", item: label) { () throws(Errno) in try root.status() }
        func isDirectory(_ path: [UInt8]) -> Bool {
            guard let other = try? FileDescriptor.open(path: path, [.pathOnly, .directory]).status() else {
                return false
            }
            return other.inode == status.inode && other.device == status.device
        }
        let home = environmentValue("HOME").map { Array($0.utf8) } ?? []
        let reason: String
        if isDirectory([UInt8(ascii: "/")]) {
            reason = "it is the root directory"
        } else if !home.isEmpty, isDirectory(home) {
            reason = "it is the user's home directory"
        } else if status.permissions & 0o1000 != 0 {
            reason = "it has the sticky bit, as a directory that many users write to, such as /tmp"
        } else if status.owner != effectiveUser() {
            reason = "it belongs to user \(status.owner), and this process runs as user \(effectiveUser())"
        } else {
            return
        }
        throw CoordinationError(
            .notPermitted, operation: "create", item: label, reason: reason,
            remedy: .init(.choosePath, "name a directory in it, which is made then"))
    }

    /// Checks that a directory has no entries, besides what mkfs makes. Errors: `notEmpty`. System calls: getdents(2)
    static func checkIsEmpty(_ root: borrowing FileDescriptor, _ label: String) throws(CoordinationError) {
        let names = try translating("create", item: label) { () throws(Errno) in try root.entryNames() }
        let kept = names.filter { $0 != Array("lost+found".utf8) }.sorted { $0.lexicographicallyPrecedes($1) }
        // Another process may have made the container since.
        if kept.isEmpty || kept.contains(where: { ContainerMark.isOne($0) }) { return }
        throw CoordinationError(
            .notEmpty, operation: "create", item: label,
            reason:
                "the directory has contents (\(printable(kept[0]))\(kept.count > 1 ? " and \(kept.count - 1) more" : ""))",
            remedy: .init(.adoptContents, "pass `adopting: true` to make them items of the container"))
    }

    /// Returns whether the directory was a container whose deletion has not been finished.
    static func hasRest(_ root: borrowing FileDescriptor) -> Bool {
        do throws(Errno) {
            if try root.statusIfPresent(of: ContainerMark.present) != nil { return false }
            return try root.statusIfPresent(of: ContainerMark.deleted) != nil
        } catch {
            return false
        }
    }

    /// Checks an existing container. Errors: `conflict` where it is not shared with that Unix group.
    func checkIsShared(with group: UInt32, _ label: String) throws(CoordinationError) {
        let status = try translating("create", item: label) { () throws(Errno) in try self.group.status() }
        if isShared && status.group == group { return }
        let present = groupName(ofNumber: status.group) ?? "\(status.group)"
        throw CoordinationError(
            .conflict, operation: "create", item: label,
            reason: "the container exists already, "
                + (isShared ? "shared with the Unix group \(present)" : "for its user alone"),
            remedy: .init(
                .choosePath, "open the container without a Unix group, or create another one and move the items into it"
            ))
    }

    /// Restricts the directory to its user, or to a Unix group: the one that is named, or the one with which an
    /// existing directory is shared by its mode. Errors: `notPermitted` for a directory that others can enter and that
    /// this user may not restrict.
    static func makePrivate(
        _ root: borrowing FileDescriptor, unixGroup: UInt32?, _ label: String
    ) throws(CoordinationError) {
        do throws(Errno) {
            if let unixGroup {
                try root.setOwner(.max, group: unixGroup)
                return try root.setMode(0o2770)
            }
            let mode = try root.status().permissions
            if mode & 0o2020 != 0o2020 && mode & 0o077 != 0 { try root.setMode(0o700) }
        } catch {
            if error != .notPermitted { throw CoordinationError(error, operation: "create", item: label) }
            throw CoordinationError(
                .notPermitted, operation: "create", item: label,
                reason: unixGroup == nil
                    ? "the directory belongs to another user, and others may enter it"
                    : "the directory belongs to another user, or this user is not in the Unix group",
                remedy: .init(.choosePath, "create the container in a directory of your own"))
        }
    }
}
