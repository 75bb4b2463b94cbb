import GroupBytes
import GroupLog
import GroupSystemCalls

/// A copy of a directory with everything in it: first listed, then made. Files and directories keep their attributes,
/// as far as the system permits this user; symbolic links are copied as such; several hard links of one file become
/// several files. The number of descriptors is constant, however many directories there are.
struct TreeCopy {
    struct Entry {
        let name: [UInt8]
        /// The original's status, when it was listed.
        let status: FileStatus
        /// The copy's state, once it is made.
        var state: ItemState?
    }

    struct Directory {
        /// The path relative to the top, which is `.`.
        let path: [UInt8]
        var entries: [Entry]

        func path(of entry: Entry) -> [UInt8] { path + [UInt8(ascii: "/")] + entry.name }
    }

    struct Fault: Error {
        var reason: Errno
        /// The path relative to the top.
        var path: [UInt8]
    }

    /// The directories, parents before children.
    private(set) var directories: [Directory] = []
    /// The first directory that is another container, relative to the top.
    private(set) var nested: [UInt8]?

    /// Lists everything. A directory that lies deeper than a path can name is an error. System calls: openat2,
    /// getdents, statx
    init(of source: borrowing FileDescriptor) throws(Fault) {
        var paths: [[UInt8]] = [[UInt8(ascii: ".")]]
        var next = 0
        while next < paths.count {
            var directory = Directory(path: paths[next], entries: [])
            var fault: Fault?
            next += 1
            do throws(Errno) {
                let opened = try FileDescriptor.open(directory.path, in: source, [.reading, .directory])
                if ContainerMark.isIn(opened) { nested = nested ?? directory.path }
                for name in try opened.entryNames() where !ContainerMark.isOne(name) {
                    do throws(Errno) {
                        guard let status = try opened.statusIfPresent(of: name) else { continue }
                        directory.entries.append(Entry(name: name, status: status))
                    } catch {
                        fault = Fault(reason: error, path: directory.path + [UInt8(ascii: "/")] + name)
                        break
                    }
                }
            } catch {
                throw Fault(reason: error, path: directory.path)
            }
            if let fault { throw fault }
            paths += directory.entries.filter(\.status.isDirectory).map(directory.path(of:))
            directories.append(directory)
        }
    }

    /// Creates the copy as `name` and returns its status; on failure, the part that was created remains. System calls:
    /// openat2, mkdirat, symlinkat, mknodat, those of `FileCopy`, fsync
    mutating func make(
        _ name: [UInt8], in directory: borrowing FileDescriptor, of source: borrowing FileDescriptor, isDurable: Bool,
        hashKey: SipHash? = nil
    ) throws(Fault) -> FileStatus {
        do throws(Errno) {
            try directory.createDirectory(name, mode: 0o700)
        } catch {
            throw Fault(reason: error, path: [UInt8(ascii: ".")])
        }
        for index in directories.indices {
            try Self.each(&directories[index]) { (path, entries) throws(Errno) in
                let top = try FileDescriptor.open(name, in: directory, [.reading, .directory])
                let from = try FileDescriptor.open(path, in: source, [.reading, .directory])
                let to = try FileDescriptor.open(path, in: top, [.reading, .directory])
                for index in entries.indices {
                    try Self.copy(&entries[index], from, to, isDurable: isDurable, hashKey)
                }
            }
        }
        // The directories' attributes are set last, children first: a directory without write permission could not be
        // filled.
        for index in directories.indices.reversed() {
            try Self.each(&directories[index]) { (path, entries) throws(Errno) in
                let top = try FileDescriptor.open(name, in: directory, [.reading, .directory])
                let made = try FileDescriptor.open(path, in: top, [.reading, .directory])
                for index in entries.indices where entries[index].status.isDirectory {
                    entries[index].state = ItemState(try made.status(of: entries[index].name), contentHash: nil)
                }
                let original = try FileDescriptor.open(path, in: source, [.reading, .directory])
                try FileAttributes(keptOf: original).apply(to: made)
                if isDurable { try made.synchronize() }
            }
        }
        do throws(Errno) {
            return try directory.status(of: name)
        } catch {
            throw Fault(reason: error, path: [UInt8(ascii: ".")])
        }
    }

    private static func each(
        _ directory: inout Directory, _ body: ([UInt8], inout [Entry]) throws(Errno) -> Void
    ) throws(Fault) {
        do throws(Errno) {
            try body(directory.path, &directory.entries)
        } catch {
            throw Fault(reason: error, path: directory.path)
        }
    }

    private static func copy(
        _ entry: inout Entry, _ from: borrowing FileDescriptor, _ to: borrowing FileDescriptor, isDurable: Bool,
        _ hashKey: SipHash?
    ) throws(Errno) {
        if entry.status.isDirectory { return try to.createDirectory(entry.name, mode: 0o700) }
        if entry.status.isRegularFile {
            let original = try FileDescriptor.open(entry.name, in: from, .readingItself)
            let (status, hash) = try FileCopy.make(
                entry.name, in: to, of: original, isDurable: isDurable, hashKey: hashKey)
            entry.state = ItemState(status, contentHash: hash)
            return
        }
        if entry.status.isLink {
            try to.makeLink(entry.name, to: try from.linkTarget(of: entry.name))
        } else {
            try to.makeNode(entry.name, like: entry.status)
        }
        try? to.setOwner(of: entry.name, entry.status.owner, group: entry.status.group)
        entry.state = ItemState(try to.status(of: entry.name), contentHash: nil)
    }
}

/// Copies in a container, and their parts in the journal.
extension TreeCopy {
    static func open(_ location: ItemLocation, in container: OpenContainer) throws(Fault) -> FileDescriptor {
        do throws(Errno) {
            return try container.openDirectory(location)
        } catch {
            throw Fault(reason: error, path: [UInt8(ascii: ".")])
        }
    }

    /// Creates the copy in staging. The surrounding program may have files of the tree open and locked, so they are
    /// opened and closed in a separate table of descriptors.
    mutating func make(
        _ name: [UInt8], of location: ItemLocation, in container: OpenContainer, isDurable: Bool,
        hashKey: SipHash? = nil
    ) throws(Fault) -> FileStatus {
        let source = try Self.open(location, in: container)
        var made: Result<FileStatus, Fault>?
        do throws(Errno) {
            try SeparateTable.within(container.directory.staging, source) { staging, source throws(Errno) in
                made = Result { () throws(Fault) in
                    try make(name, in: staging, of: source, isDurable: isDurable, hashKey: hashKey)
                }
            }
        } catch {
            throw Fault(reason: error, path: [UInt8(ascii: ".")])
        }
        guard let made else { throw Fault(reason: .inputOutput, path: [UInt8(ascii: ".")]) }
        return try made.get()
    }

    /// Lists what is to be copied, and throws every error that can be known before anything is copied. Errors:
    /// `wrongType`, `invalidArgument` for a path that becomes too long, `limitReached`, and those of the system.
    static func survey(
        _ source: ItemLocation, for destination: ItemLocation, by container: OpenContainer, purpose: [UInt8]
    ) throws(CoordinationError) -> TreeCopy {
        let tree: TreeCopy
        do throws(Fault) {
            tree = try TreeCopy(of: open(source, in: container))
        } catch {
            throw CoordinationError(error, in: source)
        }
        try tree.refuseContainers(in: source, "copy")
        try tree.refuseSpecialEntries(in: source)
        let parts = tree.parts(at: destination)
        for part in parts {
            do {
                _ = try ItemLocation(part.path)
            } catch {
                throw CoordinationError(error, operation: "copy", path: part.path)
            }
        }
        // This record is as long as the one that will be written.
        let top = ChangePart(kind: .created, path: destination.bytes, state: parts.first?.state)
        let record = ChangeRecord(
            transaction: [top] + parts, operation: ChangeRecord.noOperation, processIdentifier: processIdentifier(),
            purpose: purpose, time: 0)
        do {
            try translating(container.journal.log.ensureRoom(forBodyOf: record.encoded().count))
        } catch {
            if error.code != .limitReached { throw error }
            // A single directory cannot be divided.
            let direct = tree.directories.first?.entries.count(where: { !$0.status.isDirectory }) ?? 0
            throw CoordinationError(
                .limitReached, operation: "copy", item: printable(source.bytes),
                reason:
                    "the directory has \(parts.count) items in it, more than one record of the journal has room for",
                remedy: direct * 2 > parts.count
                    ? .init(
                        .changeWithoutCoordination,
                        "copy it without coordination: followers get each item of it as an external change")
                    : .init(.reduceSize, "copy the directories in it one after the other"))
        }
        return tree
    }

    /// Throws if the tree contains another container: its members are using it, and copying it file by file would give
    /// files that do not fit each other. Errors: `outsideContainer`
    func refuseContainers(in source: ItemLocation, _ operation: String) throws(CoordinationError) {
        if let nested { throw .hasContainer(source.bytes + nested.dropFirst(), source, operation) }
    }

    private func refuseSpecialEntries(in source: ItemLocation) throws(CoordinationError) {
        var special: [String] = []
        for directory in directories {
            for entry in directory.entries
            where !entry.status.isDirectory && !entry.status.isRegularFile && !entry.status.isLink {
                special.append(printable(source.bytes + directory.path(of: entry).dropFirst()))
            }
        }
        if special.isEmpty { return }
        let rest = special.count > 3 ? " and \(special.count - 3) more" : ""
        throw CoordinationError(
            .wrongType, operation: "copy", item: printable(source.bytes),
            reason:
                "the directory contains FIFOs, sockets or devices: \(special.prefix(3).joined(separator: ", "))\(rest)",
            remedy: .init(.handleSeparately, "remove them, or copy the other items one by one"))
    }

    /// Returns the parts of the change record for the contents of the copy at `location`, parents first.
    func parts(at location: ItemLocation) -> [ChangePart] {
        directories.flatMap { directory in
            directory.entries.map { entry in
                ChangePart(
                    kind: .created, path: location.bytes + directory.path(of: entry).dropFirst(),
                    state: entry.state ?? ItemState(entry.status, contentHash: nil))
            }
        }
    }
}

extension CoordinationError {
    init(_ fault: TreeCopy.Fault, in source: ItemLocation) {
        self.init(fault.reason, operation: "copy", item: printable(source.bytes + fault.path.dropFirst()))
    }
}

/// The copy of one file.
enum FileCopy {
    /// The file that is copied.
    enum Original {
        case item(ItemLocation)
        /// A file that this process has in staging.
        case staged([UInt8])

        func open(
            _ root: borrowing FileDescriptor, _ staging: borrowing FileDescriptor,
            _ access: FileDescriptor.OpenMode = .readingItself
        ) throws(Errno) -> FileDescriptor {
            switch self {
            case .item(let location): try FileDescriptor.open(location.bytes, in: root, access)
            case .staged(let name): try FileDescriptor.open(name, in: staging, access)
            }
        }
    }

    /// Creates the copy in staging. The surrounding program may have the original open and locked, so it is opened and
    /// closed in a separate table of descriptors.
    static func make(
        _ name: [UInt8], of original: Original, in directory: ContainerDirectories, isDurable: Bool,
        hashKey: SipHash? = nil
    ) throws(Errno) -> (status: FileStatus, contentHash: UInt64?) {
        try SeparateTable.within(directory.root, directory.staging) { root, staging throws(Errno) in
            try make(
                name, in: staging, of: try original.open(root, staging), isDurable: isDurable, hashKey: hashKey)
        }
    }

    /// Creates a file with the content and the attributes of `original`. With a key, also returns the hash of its
    /// content, if the file is small enough. System calls: openat2, ioctl(FICLONE) or copy_file_range, those of
    /// `FileAttributes`, fsync
    static func make(
        _ name: [UInt8], in directory: borrowing FileDescriptor, of original: borrowing FileDescriptor, isDurable: Bool,
        hashKey: SipHash? = nil
    ) throws(Errno) -> (status: FileStatus, contentHash: UInt64?) {
        let attributes = try FileAttributes(keptOf: original)
        let file = try FileDescriptor.open(
            name, in: directory, [.writing, .creating, .exclusively, .notFollowing], mode: attributes.creationMode)
        try file.copyContent(of: original)
        var hash: UInt64?
        // The hash is computed before the attributes are set, which may make the file unreadable for this user.
        if let hashKey, try file.status().size <= ItemState.largestHashed {
            hash = hashKey.hash(try FileDescriptor.content(of: name, in: directory))
        }
        try attributes.apply(to: file)
        if isDurable { try file.synchronize() }
        return (try file.status(), hash)
    }
}
