import GroupSystemCalls

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
            let access: FileDescriptor.Access = [.reading, .notFollowing, .nonBlocking]
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
