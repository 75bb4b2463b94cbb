import GroupSystemCalls

/// What can be done to an item. Each is atomic, recorded once, and durable, if the request is, when `coordinate`
/// returns. Errors of all: `noSpace`, `notPermitted`, `inputOutput`: nothing was changed; `notDurable`: it is visible.
extension Access {
    /// Replaces an item's content atomically; directories on the way are made.
    ///
    /// Of the file that it replaces are kept: mode, owner, group, extended attributes and access control list. What the
    /// system does not permit this user is left out: giving a file to another owner, a group that is not one's own,
    /// `trusted.*` and `security.*`, and the `user.*` of a file that it may not read. Without the owner setuid goes,
    /// without the group setgid, and the group that it has instead may do what others may. Signatures of the old
    /// content (`security.ima`, `security.evm`), flags of chattr(1) and dates are not kept. Another hard link keeps the
    /// old file.
    ///
    /// A new file or directory gets what it would get if it were made in its directory: a default access control list,
    /// or else what the umask leaves (where a Unix group shares the container: 0660, 2770), and in a setgid directory
    /// the group. A `mode` is the file's, whatever was there.
    ///
    /// With a condition it is compared with what stands there now; one that fails is a conflict even if the bytes are
    /// the same, as there they may mean something else. What is changed without coordination after the comparison is
    /// replaced, unless nothing was to stand there. Complexity: see `generation(of:)`.
    ///
    /// Errors: `wrongType`; `conflict` where the condition does not hold, with the present generation; and those of
    /// all.
    public func write(
        bytes content: [UInt8], to path: ItemPath, if condition: WriteCondition = .always, mode: UInt32? = nil
    ) throws(CoordinationError) -> WriteOutcome {
        try write(.bytes(content), to: path, if: condition, mode: mode)
    }

    func write(
        _ content: NewContent, to path: ItemPath, if condition: WriteCondition, mode: UInt32?
    ) throws(CoordinationError) -> WriteOutcome {
        let location = try location(path, for: .writing, "write")
        try check(condition, at: location, "write")
        var keepsContent = false
        let old = try status(of: location, "write")
        if let old {
            if !old.isRegularFile { throw notAFile(old, path, "write") }
            if old.size == content.size {
                keepsContent = try member.isReadable(location, as: content)
            }
            if keepsContent && (mode == nil || mode == old.permissions) {
                try confirm(location, "write")
                return .unchanged
            }
        }
        try createMissingDirectories(of: location, "write")
        return .written(
            try change { (change) throws(CoordinationError) in
                try change.write(
                    content, to: location, replacing: old, mode: mode,
                    as: old == nil ? .created : keepsContent ? .touched : .modified)
            })
    }

    /// Removes an item; of a link, the link. A directory that has something in it only with `recursively`: then it goes
    /// with everything, at once, as one change. Returns its generation. Errors: `notFound`, `notEmpty`; `conflict`
    /// where the condition does not hold: of a directory it is about the directory, not what is in it; and those of
    /// all. System calls: renameat2; then unlinkat, outside of the lock
    @discardableResult
    public func remove(
        _ path: ItemPath, recursively: Bool = false, if condition: WriteCondition = .always
    ) throws(CoordinationError) -> UInt64 {
        let (location, status) = try entry(path, "remove")
        try check(condition, at: location, "remove")
        if status.isDirectory && !recursively {
            let isEmpty = try translating(path.description, "remove") { () throws(Errno) in
                try member.openDirectory(location).entryNames().isEmpty
            }
            if !isEmpty { throw CoordinationError(Errno.notEmpty, item: path.description, operation: "remove") }
        }
        return try change { (change) throws(CoordinationError) in
            try change.remove(location, status, recursively: recursively)
        }
    }

    /// Moves an item, a directory with everything in it, at once, as one change; of a link, the link. Directories on
    /// the way are made. With `replacing`, a file or an empty directory at the destination goes in the same moment.
    /// Returns the generation. The condition is about what moves. Errors: `notFound`; `conflict` where the condition
    /// does not hold or something is in the way; `notEmpty` where a directory with something in it is;
    /// `invalidArgument`: into itself; `wrongType`; and those of all. System calls: renameat2
    @discardableResult
    public func move(
        _ path: ItemPath, to destination: ItemPath, replacing: Bool = false, if condition: WriteCondition = .always
    ) throws(CoordinationError) -> UInt64 {
        let (origin, status) = try entry(path, "move")
        try check(condition, at: origin, "move")
        let location = try destination.location(for: "move")
        if location == origin || location.isBelow(origin) {
            throw CoordinationError(
                .invalidArgument, item: path.description, operation: "move", cause: "it cannot be moved into itself")
        }
        if !covers(location, for: status.isDirectory ? .structural : .writing) {
            throw notGranted(destination, "move", advice: "ask for its destination, too: .forReplacing")
        }
        try member.checkIsOurs(location, "move")
        let old = try self.status(of: location, "move")
        if let old, replacing, !old.isDirectory, (old.inode, old.device) == (status.inode, status.device) {
            // Two names of one file. The kernel would leave both; the move takes this one away.
            return try change { (change) throws(CoordinationError) in
                try change.remove(origin, status, recursively: false)
            }
        }
        try createMissingDirectories(of: location, "move")
        return try change { (change) throws(CoordinationError) in
            try change.move(origin, status, to: location, replacing: old, allowed: replacing)
        }
    }

    /// Makes a directory, and those on the way; unchanged where one stands. Errors: `wrongType`, and those of all.
    /// System calls: mkdirat, renameat2
    @discardableResult
    public func createDirectory(_ path: ItemPath) throws(CoordinationError) -> WriteOutcome {
        let location = try location(path, for: .writing, "create directory")
        if let old = try status(of: location, "create directory") {
            if !old.isDirectory {
                throw CoordinationError(
                    .wrongType, item: path.description, operation: "create directory",
                    cause: "something else stands there")
            }
            try confirm(location, "create directory")
            return .unchanged
        }
        try createMissingDirectories(of: location, "create directory")
        return .written(
            try change { (change) throws(CoordinationError) in try change.createDirectory(at: location) })
    }

    /// Sets an item's permissions, 0 to 07777; unchanged where it has them. Errors: `notFound`, also for a link that
    /// leads nowhere; `invalidArgument`; `wrongType` where a link has come there meanwhile; and those of all. System
    /// calls: fchmodat2
    @discardableResult
    public func setMode(_ mode: UInt32, of path: ItemPath) throws(CoordinationError) -> WriteOutcome {
        let operation = "set the mode of"
        if mode > 0o7777 {
            throw CoordinationError(
                .invalidArgument, item: path.description, operation: operation, cause: "a mode is at most 07777, octal")
        }
        let location = try location(path, for: .writing, operation)
        guard let status = try status(of: location, operation) else {
            throw CoordinationError(Errno.noSuchEntry, item: path.description, operation: operation)
        }
        if status.isLink {
            throw CoordinationError(
                .wrongType, item: path.description, operation: operation, cause: "a link has no mode of its own")
        }
        if status.isDirectory && member.isContainer(location.bytes[...]) {
            throw CoordinationError(
                .outsideContainer, item: path.description, operation: operation,
                cause: "it is another container, whose mode says who shares it", advice: "set it with chmod")
        }
        if status.permissions == mode {
            if status.isRegularFile || status.isDirectory { try confirm(location, operation) }
            return .unchanged
        }
        return .written(
            try change { (change) throws(CoordinationError) in try change.setMode(mode, of: location, status) })
    }

    func notAFile(_ status: FileStatus, _ path: ItemPath, _ operation: String, advice: String? = nil)
        -> CoordinationError
    {
        CoordinationError(
            .wrongType, item: path.description, operation: operation,
            cause: status.isDirectory ? "it is a directory" : "it is not a regular file", advice: advice)
    }

    func createMissingDirectories(of location: ItemLocation, _ operation: String) throws(CoordinationError) {
        for directory in location.ancestors {
            if try status(of: directory, "create directory") != nil { continue }
            guard covers(directory, for: .writing) else {
                throw CoordinationError(
                    .conflict, item: printable(location.bytes), operation: operation,
                    cause: "its directory '\(printable(directory.bytes))' was removed meanwhile", advice: "try again")
            }
            _ = try change { (change) throws(CoordinationError) in try change.createDirectory(at: directory) }
        }
    }
}

extension Access {
    /// Makes a copy of a file with its attributes, as far as the system lets this user (see `write`); shared on the
    /// disk where the file system can. Directories on the way are made. With `replacing`, a file at the destination is
    /// replaced atomically; one that is the same already is left alone.
    ///
    /// With `recursively`, a directory, too, with everything in it: it appears at once, and the journal has one
    /// transaction, in which it comes before what is in it. Links in it are copied as links, several names of one file
    /// as several files. Both ends are to be asked for as a whole: `.reading(path, .recursively)` and
    /// `.writing(destination, .forReplacing)`. With `replacing`, it may take the place of an empty directory.
    ///
    /// Errors: `notFound`; `conflict` where something is in the way; `notEmpty` where a directory with something in it
    /// is; `wrongType` for what is no file, and for a directory in which something is neither file, directory nor link;
    /// `invalidArgument`: onto or into itself; `limitReached` for more items than one record has room for; and those of
    /// all. System calls: ioctl(FICLONE) or copy_file_range; renameat2
    @discardableResult
    public func copy(
        _ path: ItemPath, to destination: ItemPath, recursively: Bool = false, replacing: Bool = false
    ) throws(CoordinationError) -> WriteOutcome {
        let source = try location(path, for: .reading, "copy")
        let location = try location(destination, for: .writing, "copy")
        guard let status = try status(of: source, "copy") else {
            throw CoordinationError(Errno.noSuchEntry, item: path.description, operation: "copy")
        }
        let isTree = status.isDirectory && recursively
        if !status.isRegularFile && !isTree {
            throw notAFile(
                status, path, "copy", advice: status.isDirectory ? "say that it goes recursively (groupctl: -r)" : nil)
        }
        if source == location || (isTree && location.isBelow(source)) {
            throw CoordinationError(
                .invalidArgument, item: path.description, operation: "copy",
                cause: "it cannot be copied \(source == location ? "onto" : "into") itself")
        }
        let old = try self.status(of: location, "copy")
        if old != nil && !replacing {
            throw CoordinationError(Errno.exists, item: destination.description, operation: "copy")
        }
        if isTree { return .written(try copyTree((path, source), to: (destination, location), replacing: old)) }
        if let old {
            if !old.isRegularFile { throw notAFile(old, destination, "copy") }
            if try isSame(source, status, location, old) {
                try confirm(location, "copy")
                return .unchanged
            }
        }
        try createMissingDirectories(of: location, "copy")
        return .written(
            try change { (change) throws(CoordinationError) in
                try change.copy(source, to: location, replacing: old)
            })
    }

    private func isSame(
        _ source: ItemLocation, _ status: FileStatus, _ location: ItemLocation, _ old: FileStatus
    ) throws(CoordinationError) -> Bool {
        if (status.size, status.permissions) != (old.size, old.permissions) { return false }
        return try translating(printable(location.bytes), "copy") { () throws(Errno) in
            let access: FileDescriptor.OpenMode = [.reading, .notFollowing, .nonBlocking]
            return try SeparateTable.within(member.directory.root) { root throws(Errno) in
                let other = try FileDescriptor.open(location.bytes, in: root, access)
                return try FileDescriptor.open(source.bytes, in: root, access).hasSameContent(as: other)
            }
        }
    }

    private func copyTree(
        _ source: (path: ItemPath, location: ItemLocation), to destination: (path: ItemPath, location: ItemLocation),
        replacing old: FileStatus?
    ) throws(CoordinationError) -> UInt64 {
        let location = destination.location
        if !covers(source.location, for: .structural) {
            throw notGranted(source.path, "copy", advice: "ask for the directory with everything in it: .recursively")
        }
        if !covers(location, for: .structural) {
            throw notGranted(destination.path, "copy", advice: "ask for its destination as a whole: .forReplacing")
        }
        if let old {
            if !old.isDirectory {
                throw CoordinationError(Errno.notADirectory, item: destination.path.description, operation: "copy")
            }
            let isEmpty = try translating(destination.path.description, "copy") { () throws(Errno) in
                try member.openDirectory(location).entryNames().isEmpty
            }
            if !isEmpty {
                throw CoordinationError(Errno.notEmpty, item: destination.path.description, operation: "copy")
            }
        }
        let tree = try TreeCopy.survey(source.location, for: location, by: member, purpose: purpose)
        try createMissingDirectories(of: location, "copy")
        return try change { (change) throws(CoordinationError) in
            try change.copy(tree, of: source.location, to: location, replacing: old)
        }
    }
}
