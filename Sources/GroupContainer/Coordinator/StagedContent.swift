import GroupSystemCalls

/// Changes whose content is built in staging and comes to its place by a rename.
extension StagedChange {
    /// Replaces or creates a file. `old` is what stands there now: its attributes are kept, unless `mode` says
    /// otherwise. System calls: those of `NewContent`, renameat2, fsync of the directory
    func write(
        _ content: NewContent, to location: ItemLocation, replacing old: FileStatus?, mode: UInt32?,
        as kind: ChangeRecord.Kind
    ) throws(CoordinationError) -> LogPosition {
        var hash: UInt64?
        let status = try stage(location, "write") { () throws(Errno) in
            let attributes = try StagedAttributes(ofFileAt: location, isNew: old == nil, in: member, mode: mode)
            return try content.make(name, in: staging, attributes, durability) {
                hash = member.contentHash(of: content)
            }
        }
        return try commit(
            Step(
                kind: kind, way: .intoPlace, location: location, status: status, replacing: old != nil, before: old,
                contentHash: hash, operation: "write"))
    }

    /// Makes a file with another one's content and attributes. `old` is what stands there now.
    /// System calls: ioctl(FICLONE) or copy_file_range, else read and write; the rest as for `write`
    func copy(
        _ source: ItemLocation, to location: ItemLocation, replacing old: FileStatus?
    ) throws(CoordinationError) -> LogPosition {
        var hash: UInt64?
        let status = try stage(location, "copy") { () throws(Errno) in
            let made = try FileCopy.make(
                name, of: .item(source), in: member.directory, isDurable: durability == .durable,
                hashKey: member.hashKey)
            hash = made.contentHash
            return made.status
        }
        return try commit(
            Step(
                kind: old == nil ? .created : .modified, way: .intoPlace, location: location, status: status,
                replacing: old != nil, contentHash: hash, operation: "copy"))
    }

    /// Makes a directory like another one, with everything in it. `old` is what stands there now.
    /// System calls: those of `TreeCopy`; the rest as for `write`
    func copy(
        _ tree: TreeCopy, of source: ItemLocation, to location: ItemLocation, replacing old: FileStatus?
    ) throws(CoordinationError) -> LogPosition {
        var tree = tree
        let status: FileStatus
        do throws(TreeCopy.Fault) {
            status = try makeTree(&tree, of: source)
        } catch {
            try? staging.removeTree(name)
            throw CoordinationError(error, in: source)
        }
        return try commit(
            Step(
                kind: old == nil ? .created : .modified, way: .intoPlace, location: location, status: status,
                replacing: old != nil, contents: tree.parts(at: location), operation: "copy"))
    }

    private func makeTree(_ tree: inout TreeCopy, of source: ItemLocation) throws(TreeCopy.Fault) -> FileStatus {
        try tree.make(
            name, of: source, in: member, isDurable: durability == .durable, hashKey: member.hashKey)
    }

    /// Makes a directory. The mode is that of `mkdir`, 0777 without the umask, or 2770 where a Unix group shares the
    /// container; the default access control list of the directory around it comes first.
    func createDirectory(at location: ItemLocation) throws(CoordinationError) -> LogPosition {
        let status = try stage(location, "create directory") { () throws(Errno) in
            let attributes = try StagedAttributes(ofNewDirectoryAt: location, in: member)
            try staging.createDirectory(name, mode: attributes.creationMode)
            let made = try FileDescriptor.open(name, in: staging, [.reading, .directory])
            try attributes.apply(to: made)
            if durability == .durable { try made.synchronize() }
            return try made.status()
        }
        return try commit(
            Step(kind: .created, way: .intoPlace, location: location, status: status, operation: "create directory"))
    }

    /// Nothing is left in staging where it fails.
    private func stage(
        _ location: ItemLocation, _ operation: String, _ build: () throws(Errno) -> FileStatus
    ) throws(CoordinationError) -> FileStatus {
        try member.journal.log.ensureRoom()
        do throws(Errno) {
            return try build()
        } catch {
            try? staging.removeTree(name)
            throw CoordinationError(error, item: printable(location.bytes), operation: operation)
        }
    }
}
