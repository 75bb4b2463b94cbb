import GroupLocking
import GroupBytes
import GroupSystemCalls

/// Changes outside a transaction: each is made at once, by one `StagedChange`.
struct DirectChanges: ItemBackend {
    let access: Access

    func reader(of location: ItemLocation) throws(CoordinationError) -> ItemReader {
        try ItemReader(
            of: location.bytes, in: access.container.directory.root, label: printable(location.bytes),
            by: access.container)
    }

    func status(of location: ItemLocation, _ operation: String) throws(CoordinationError) -> FileStatus? {
        try access.container.status(of: location, for: operation)
    }

    func checkIsRecorded(_ location: ItemLocation, _ operation: String) throws(CoordinationError) {}

    func write(
        _ content: NewContent, to location: ItemLocation, mode: UInt32?
    ) throws(CoordinationError) -> WriteResult {
        var keepsContent = false
        let hash = access.container.quickHash(of: content)
        let old = try status(of: location, "write")
        if let old {
            if !old.isRegularFile { throw .notAFile(printable(location.bytes), "write", isDirectory: old.isDirectory) }
            if old.size == content.size, !access.container.writtenContents.differs(old, from: hash) {
                keepsContent = try access.container.isReadable(location, as: content)
            }
            if keepsContent && (mode == nil || mode == old.permissions) {
                try access.confirm(location, "write")
                return .unchanged
            }
        }
        try createMissingDirectories(of: location, "write")
        return .written(
            try access.change { (change) throws(CoordinationError) in
                try change.write(
                    content, hash: hash, to: location, replacing: old, mode: mode,
                    as: old == nil ? .created : keepsContent ? .touched : .modified)
            })
    }

    func remove(
        _ path: ItemPath, recursively: Bool, if condition: WriteCondition
    ) throws(CoordinationError) -> WriteResult {
        let (location, status) = try access.entry(path, "remove")
        try access.check(condition, at: location, "remove")
        if status.isDirectory && !recursively {
            let isEmpty = try translating("remove", item: path.description) { () throws(Errno) in
                try access.container.openDirectory(location).entryNames().isEmpty
            }
            if !isEmpty { throw CoordinationError(Errno.notEmpty, operation: "remove", item: path.description) }
        }
        return .written(
            try access.change { (change) throws(CoordinationError) in
                try change.remove(location, status, recursively: recursively)
            })
    }

    func checkCanMove(_ path: ItemPath) throws(CoordinationError) {}

    func move(
        _ origin: ItemLocation, _ status: FileStatus, to location: ItemLocation, replacing: Bool
    ) throws(CoordinationError) -> WriteResult {
        let old = try self.status(of: location, "move")
        if let old, replacing, !old.isDirectory, (old.inode, old.device) == (status.inode, status.device) {
            // Two hard links of one file. A rename by the kernel would leave both; the move removes this name.
            return .written(
                try access.change { (change) throws(CoordinationError) in
                    try change.remove(origin, status, recursively: false)
                })
        }
        try createMissingDirectories(of: location, "move")
        return .written(
            try access.change { (change) throws(CoordinationError) in
                try change.move(origin, status, to: location, replacing: old, allowed: replacing)
            })
    }

    func createDirectory(at location: ItemLocation) throws(CoordinationError) -> WriteResult {
        if let old = try status(of: location, "create directory") {
            if !old.isDirectory {
                throw CoordinationError(
                    .wrongType, operation: "create directory", item: printable(location.bytes),
                    reason: "the item is not a directory")
            }
            try access.confirm(location, "create directory")
            return .unchanged
        }
        try createMissingDirectories(of: location, "create directory")
        return .written(
            try access.change { (change) throws(CoordinationError) in try change.createDirectory(at: location) })
    }

    func setMode(_ mode: UInt32, at location: ItemLocation) throws(CoordinationError) -> WriteResult {
        let operation = "set the mode of"
        guard let status = try status(of: location, operation) else {
            throw CoordinationError(Errno.noSuchEntry, operation: operation, item: printable(location.bytes))
        }
        if status.isLink {
            throw CoordinationError(
                .wrongType, operation: operation, item: printable(location.bytes),
                reason: "a symbolic link has no mode of its own")
        }
        if status.isDirectory && access.container.isContainer(location.bytes[...]) {
            throw CoordinationError(
                .outsideContainer, operation: operation, item: printable(location.bytes),
                reason: "the item is another container, and its mode determines which users share it",
                remedy: .init(.changeWithoutCoordination, "set its mode without coordination"))
        }
        if status.permissions == mode {
            if status.isRegularFile || status.isDirectory { try access.confirm(location, operation) }
            return .unchanged
        }
        return .written(
            try access.change { (change) throws(CoordinationError) in try change.setMode(mode, of: location, status) })
    }

    func copy(
        _ source: (path: ItemPath, location: ItemLocation), to destination: (path: ItemPath, location: ItemLocation),
        recursively: Bool, replacing: Bool
    ) throws(CoordinationError) -> WriteResult {
        let location = destination.location
        guard let status = try status(of: source.location, "copy") else {
            throw CoordinationError(Errno.noSuchEntry, operation: "copy", item: source.path.description)
        }
        let isTree = status.isDirectory && recursively
        if !status.isRegularFile && !isTree {
            throw .notAFile(
                source.path.description, "copy", isDirectory: status.isDirectory,
                remedy: status.isDirectory ? .recurse : nil)
        }
        if source.location == location || (isTree && location.isBelow(source.location)) {
            throw CoordinationError(
                .invalidArgument, operation: "copy", item: source.path.description,
                reason: "the item cannot be copied \(source.location == location ? "onto" : "into") itself")
        }
        let old = try self.status(of: location, "copy")
        if old != nil && !replacing {
            throw CoordinationError(Errno.exists, operation: "copy", item: destination.path.description)
        }
        if isTree { return .written(try copyTree(source, to: destination, replacing: old)) }
        if let old {
            if !old.isRegularFile {
                throw .notAFile(destination.path.description, "copy", isDirectory: old.isDirectory)
            }
            if try isSame(source.location, status, location, old) {
                try access.confirm(location, "copy")
                return .unchanged
            }
        }
        try createMissingDirectories(of: location, "copy")
        return .written(
            try access.change { (change) throws(CoordinationError) in
                try change.copy(source.location, to: location, replacing: old)
            })
    }

    private func isSame(
        _ source: ItemLocation, _ status: FileStatus, _ location: ItemLocation, _ old: FileStatus
    ) throws(CoordinationError) -> Bool {
        if (status.size, status.permissions) != (old.size, old.permissions) { return false }
        return try translating("copy", item: printable(location.bytes)) { () throws(Errno) in
            let mode: FileDescriptor.OpenMode = .readingItself
            return try SeparateTable.within(access.container.directory.root) { root throws(Errno) in
                let other = try FileDescriptor.open(location.bytes, in: root, mode)
                return try FileDescriptor.open(source.bytes, in: root, mode).hasSameContent(as: other)
            }
        }
    }

    private func copyTree(
        _ source: (path: ItemPath, location: ItemLocation), to destination: (path: ItemPath, location: ItemLocation),
        replacing old: FileStatus?
    ) throws(CoordinationError) -> Generation {
        let location = destination.location
        if !access.covers(source.location, for: .tree) {
            throw access.notGranted(
                source.path, "copy",
                remedy: .init(.nameInRequest, "name the directory with its contents: `.recursively`"))
        }
        if !access.covers(location, for: .tree) {
            throw access.notGranted(
                destination.path, "copy",
                remedy: .init(.nameInRequest, "name the destination as a whole: `.forReplacing`"))
        }
        if let old {
            if !old.isDirectory {
                throw CoordinationError(Errno.notADirectory, operation: "copy", item: destination.path.description)
            }
            let isEmpty = try translating("copy", item: destination.path.description) { () throws(Errno) in
                try access.container.openDirectory(location).entryNames().isEmpty
            }
            if !isEmpty {
                throw CoordinationError(Errno.notEmpty, operation: "copy", item: destination.path.description)
            }
        }
        let tree = try TreeCopy.survey(source.location, for: location, by: access.container, purpose: access.purpose)
        try createMissingDirectories(of: location, "copy")
        return try access.change { (change) throws(CoordinationError) in
            try change.copy(tree, of: source.location, to: location, replacing: old)
        }
    }

    private func createMissingDirectories(
        of location: ItemLocation, _ operation: String
    ) throws(CoordinationError) {
        for directory in location.ancestors {
            if try status(of: directory, "create directory") != nil { continue }
            let lock = try access.lock(missing: directory, operation)
            defer { lock?.end() }
            // Another request may have made it before the lock was granted.
            if try status(of: directory, "create directory") != nil { continue }
            _ = try access.change { (change) throws(CoordinationError) in try change.createDirectory(at: directory) }
        }
    }
}
