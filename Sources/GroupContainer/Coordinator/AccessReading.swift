import GroupSystemCalls

extension Access {
    /// An item's content; its snapshot's, if the request asked for one. Locks of the whole process on the item itself
    /// (`fcntl(F_SETLK)`: SQLite's) go by that, as by any reading. Errors: `notFound`, `wrongType`, `inputOutput`.
    /// System calls: openat2, read
    public func readBytes(_ path: ItemPath) throws(CoordinationError) -> [UInt8] {
        if let place = snapshotPlace(of: path) {
            return try member.readFile(place, in: member.directory.staging, label: path.description).content
        }
        return try member.readFile(location(path, for: .reading, "read")).content
    }

    /// The same, or nil where nothing stands.
    public func readBytesIfPresent(_ path: ItemPath) throws(CoordinationError) -> [UInt8]? {
        try ifPresent { () throws(CoordinationError) in try readBytes(path) }
    }

    /// What stands at a path, or nil: type, size, date. With `.immediatelyAvailableMetadataOnly` this is all there is,
    /// as it is at this moment: the holder of the item may be changing it. System calls: openat2, statx
    public func item(_ path: ItemPath) throws(CoordinationError) -> Item? {
        let found: FileStatus?
        if let place = snapshotPlace(of: path) {
            found = try translating(path.description, "look at") { () throws(Errno) in
                try member.status(of: place, in: member.directory.staging)
            }
        } else {
            found = try status(of: namedLocation(path, "look at"), "look at")
        }
        return found.map { Item(path: path, ItemState($0, contentHash: nil)) }
    }

    /// Where an item is, from the root of all files, for other programs: its snapshot's place, if the request asked for
    /// one with `.forUploading`; it is gone after the closure. Bytes, as the kernel has them.
    /// Errors: `notFound` where there was nothing to make a snapshot of. System calls: readlink
    public func place(of path: ItemPath) throws(CoordinationError) -> [UInt8] {
        let slash = [UInt8(ascii: "/")]
        if let place = snapshotPlace(of: path) {
            if try item(path) == nil {
                throw CoordinationError(Errno.noSuchEntry, item: path.description, operation: "find")
            }
            return try absolute(member.directory.staging, path) + slash + place
        }
        let location = try namedLocation(path, "find")
        return try absolute(member.directory.root, path) + slash + location.bytes
    }

    private func absolute(
        _ directory: borrowing FileDescriptor, _ path: ItemPath
    ) throws(CoordinationError) -> [UInt8] {
        do throws(Errno) {
            return try directory.absolutePath()
        } catch {
            throw CoordinationError(error, item: path.description, operation: "find")
        }
    }
}
