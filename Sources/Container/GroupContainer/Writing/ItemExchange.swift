import GroupBytes
import GroupSystemCalls

/// Changes of items that lose nothing: what stood at a path is in the private directory afterwards, whatever it was, so
/// that the caller can look at it. A writer that takes no lock may have put it there a moment before.
extension PrivateDirectory {
    /// What `exchange` has done.
    package struct Exchanged: Sendable {
        package var generation: Generation
        /// Whether something stood at the path, and is in the private directory now, under the file's name.
        package var hasTakenOut: Bool
    }

    /// Moves a file or symbolic link from this directory to a path, by one system call and one change. With
    /// `replacing`, a file or symbolic link at the path is exchanged for it; otherwise the path must be free. The new
    /// file keeps the attributes of the old one, except the mode. The directory around the item must be there.
    ///
    /// Errors: `conflict` where the path is taken; `notFound` where the item is gone, or its directory; `wrongType`;
    /// those of `BlockingCoordinator.coordinate`
    package func exchange(
        _ file: [UInt8], at path: ItemPath, replacing: Bool, mode: UInt32?, purpose: String, durability: Durability,
        timeout: Duration?
    ) throws -> Exchanged {
        let coordinator = Container(opened).coordinator(purpose: purpose).blocking
        let intent = AccessIntent.writing(path, .forReplacing)
        return try coordinator.coordinate(intent, durability: durability, timeout: timeout) { access in
            try opened.locating { () throws(CoordinationError) -> Exchanged in
                let location = try path.location(for: "write")
                try opened.checkIsOurs(location, "write")
                let old = try opened.status(of: location, for: "write")
                if replacing && old == nil {
                    throw CoordinationError(Errno.noSuchEntry, operation: "write", item: path.description)
                }
                if let old {
                    if !replacing { throw CoordinationError(Errno.exists, operation: "write", item: path.description) }
                    if !old.isRegularFile && !old.isLink {
                        throw .notAFile(path.description, "write", isDirectory: old.isDirectory)
                    }
                }
                let (elsewhere, status) = try prepare(file, for: location, replacing: old, mode, durability)
                let generation = try access.change { (change) throws(CoordinationError) in
                    try change.put(elsewhere, status, at: location, replacing: old)
                }
                return Exchanged(generation: generation, hasTakenOut: old != nil)
            }
        }
    }

    /// Removes the file or symbolic link at a path by moving it into this directory. Errors: as `exchange`
    package func takeOut(
        _ path: ItemPath, to file: [UInt8], purpose: String, durability: Durability, timeout: Duration?
    ) throws -> Generation {
        let coordinator = Container(opened).coordinator(purpose: purpose).blocking
        let intent = AccessIntent.writing(path, .forDeleting)
        return try coordinator.coordinate(intent, durability: durability, timeout: timeout) { access in
            try opened.locating { () throws(CoordinationError) -> Generation in
                let (location, status) = try access.entry(path, "remove")
                if !status.isRegularFile && !status.isLink {
                    throw .notAFile(path.description, "remove", isDirectory: status.isDirectory)
                }
                let goal = try elsewhere(file, "remove", path)
                return try access.change { (change) throws(CoordinationError) in
                    try change.takeOut(location, status, to: goal)
                }
            }
        }
    }

    /// Removes the empty directory at a path. A file that has taken its place stays. Errors: `wrongType` where anything
    /// but a directory is there; those of `BlockingAccess.remove`
    package func removeDirectory(
        _ path: ItemPath, purpose: String, durability: Durability, timeout: Duration?
    ) throws {
        let coordinator = Container(opened).coordinator(purpose: purpose).blocking
        let intent = AccessIntent.writing(path, .forDeleting)
        try coordinator.coordinate(intent, durability: durability, timeout: timeout) { access in
            let (_, status) = try access.entry(path, "remove")
            if !status.isDirectory { throw CoordinationError.notADirectory(path.description, "remove") }
            try access.remove(path)
        }
    }

    private func elsewhere(_ file: [UInt8], _ operation: String, _ path: ItemPath) throws(CoordinationError)
        -> StagedChange.Elsewhere
    {
        StagedChange.Elsewhere(directory: OpenDirectory(try opened.directory.ownDirectory(name)), name: file)
    }

    private func prepare(
        _ file: [UInt8], for location: ItemLocation, replacing old: FileStatus?, _ mode: UInt32?,
        _ durability: Durability
    ) throws(CoordinationError) -> (StagedChange.Elsewhere, FileStatus) {
        let elsewhere = try elsewhere(file, "write", ItemPath(bytes: location.bytes))
        let item = printable(location.bytes)
        let status = try translating("write", item: item) { () throws(Errno) in
            try attributed(file, in: elsewhere.directory.descriptor, location, old, mode, durability)
        }
        return (elsewhere, status)
    }

    /// Gives a new file the attributes of the item, and returns its status.
    private func attributed(
        _ file: [UInt8], in directory: borrowing FileDescriptor, _ location: ItemLocation, _ old: FileStatus?,
        _ mode: UInt32?, _ durability: Durability
    ) throws(Errno) -> FileStatus {
        let status = try directory.status(of: file)
        if status.isLink { return status }
        let kept = old?.isRegularFile == true ? old : nil
        let attributes = try FileAttributes(ofFileAt: location, replacing: kept, in: opened, mode: mode)
        let content = try FileDescriptor.open(file, in: directory, [.writing, .notFollowing])
        _ = try attributes.apply(to: content)
        if durability == .durable { try content.synchronize() }
        return try content.status()
    }
}
