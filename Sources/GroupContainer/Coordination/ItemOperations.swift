import GroupSystemCalls

/// Changes of items. Each is atomic, recorded once, and, if the request is durable, on the disk when `coordinate`
/// returns. Errors of all calls: `noSpace`, `notPermitted`, `inputOutput`: nothing was changed; `notDurable`: the
/// change is visible.
extension Access {
    /// Replaces an item's content atomically; missing directories are made.
    ///
    /// The new file keeps these attributes of the file that it replaces: mode, owner, group, extended attributes and
    /// access control list. Attributes that the system does not permit this user to set are left out: another owner, a
    /// group that the user is not in, `trusted.*` and `security.*`, and the `user.*` of a file that the user may not
    /// read. If the owner is lost, setuid is cleared; if the group is lost, setgid is cleared, and the group that the
    /// file has instead gets the permissions of others. Signatures of the old content (`security.ima`, `security.evm`),
    /// flags of chattr(1) and dates are not kept. Another hard link keeps the old file.
    ///
    /// A new file or directory gets the attributes that it would have if it were made in its directory: a default
    /// access control list, or else the mode that the umask leaves (where a Unix group shares the container: 0660,
    /// 2770), and in a setgid directory the directory's group. A `mode`, if given, is set in all cases.
    ///
    /// A condition is compared with the item as it is now. A condition that fails is a conflict even if the bytes are
    /// the same, because they may have another meaning there. An external change after the comparison is replaced,
    /// except with the condition `.absent`. Complexity: see `generation(of:)`.
    ///
    /// Errors: `wrongType`; `conflict` where the condition does not hold, with the present generation; and those of all
    /// calls.
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

    /// Removes an item; a symbolic link as such. A directory that is not empty is removed only with `recursively`: then
    /// with everything in it, at once, as one change. Returns the generation of the removal. The condition, for a
    /// directory, refers to the directory, not to what is in it. Errors: `notFound`; `notEmpty`; `conflict` where the
    /// condition does not hold; and those of all calls. System calls: renameat2; then unlinkat, after the lock was
    /// released
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

    /// Moves an item, at once, as one change: a directory with everything in it, a symbolic link as such. Missing
    /// directories are made. With `replacing`, a file or an empty directory at the destination is replaced in the same
    /// moment. Returns the generation. The condition refers to the item that moves. Errors: `notFound`; `conflict`
    /// where the condition does not hold or something is in the way; `notEmpty` where a directory that is not empty is
    /// in the way; `invalidArgument` for a move into itself; `wrongType`; and those of all calls. System calls:
    /// renameat2
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
            // Two hard links of one file. A rename by the kernel would leave both; the move removes this name.
            return try change { (change) throws(CoordinationError) in
                try change.remove(origin, status, recursively: false)
            }
        }
        try createMissingDirectories(of: location, "move")
        return try change { (change) throws(CoordinationError) in
            try change.move(origin, status, to: location, replacing: old, allowed: replacing)
        }
    }

    /// Makes a directory and its missing parents; unchanged where the directory exists. Errors: `wrongType`, and those
    /// of all calls. System calls: mkdirat, renameat2
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

    /// Sets an item's permissions, 0 to 07777; unchanged where the item has them. Errors: `notFound`, also for a
    /// symbolic link without a target; `invalidArgument`; `wrongType` where a symbolic link has come to the place
    /// meanwhile; and those of all calls. System calls: fchmodat2
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
    /// Copies a file with its attributes, as far as the system permits this user (see `write`). The copy shares the
    /// file's blocks where the file system supports it. Missing directories are made. With `replacing`, a file at the
    /// destination is replaced atomically; a file with the same content and permissions is left alone.
    ///
    /// With `recursively`, also copies a directory with everything in it: the copy appears at once, and the journal
    /// gets one transaction, in which the directory comes before what is in it. Symbolic links in it are copied as
    /// symbolic links, several hard links of one file as several files. Both ends must be requested as a whole:
    /// `.reading(path, .recursively)` and `.writing(destination, .forReplacing)`. With `replacing`, the copy may
    /// replace an empty directory.
    ///
    /// Errors: `notFound`; `conflict` where something is in the way; `notEmpty` where a directory that is not empty is
    /// in the way; `wrongType` for a source that is not a regular file, and for a directory that contains anything but
    /// files, directories and symbolic links; `invalidArgument` for a copy onto or into itself; `limitReached` for more
    /// items than fit into one record; and those of all calls. System calls: ioctl(FICLONE) or copy_file_range;
    /// renameat2
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
