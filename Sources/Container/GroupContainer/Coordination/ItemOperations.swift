import GroupLocking
import GroupBytes
import GroupSystemCalls

/// Changes of items, in a request and in a transaction. Each is atomic, recorded once, and, if the request is durable,
/// on the disk when `coordinate` or `transaction` returns. In a transaction the changes become visible together when
/// its closure has returned; the closure sees them at once, and if it catches an error, the transaction goes on without
/// that change.
///
/// Errors of all calls: `invalidArgument` for an item that the request does not name, and after the closure;
/// `noSpace`, `notPermitted`, `inputOutput`: nothing was changed; `notDurable`: the change is visible.
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
    /// In a transaction, a condition refers to the item as it is without the transaction; it holds until the end,
    /// because the lock does.
    ///
    /// Errors: `wrongType`; `conflict` where the condition does not hold, with the present generation; and those of all
    /// calls.
    @discardableResult
    public func write(
        bytes content: [UInt8], to path: ItemPath, if condition: WriteCondition = .always, mode: UInt32? = nil
    ) throws(CoordinationError) -> WriteResult {
        try write(.bytes(content), to: path, if: condition, mode: mode)
    }

    func write(
        _ content: NewContent, to path: ItemPath, if condition: WriteCondition, mode: UInt32?
    ) throws(CoordinationError) -> WriteResult {
        try container.locating { () throws(CoordinationError) -> WriteResult in
            let location = try location(path, for: .exclusive, "write")
            try check(condition, at: location, "write")
            return try backend.write(content, to: location, mode: mode)
        }
    }

    /// Removes an item; a symbolic link as such. A directory that is not empty is removed only with `recursively`: then
    /// with everything in it, at once, as one change. The condition, for a
    /// directory, refers to the directory, not to what is in it. Errors: `notFound`; `notEmpty`; `conflict` where the
    /// condition does not hold; and those of all calls. System calls: renameat2; then unlinkat, after the lock was
    /// released
    ///
    /// In a transaction, an item that the transaction has moved to its path cannot be removed (`invalidArgument`).
    @discardableResult
    public func remove(
        _ path: ItemPath, recursively: Bool = false, if condition: WriteCondition = .always
    ) throws(CoordinationError) -> WriteResult {
        try container.locating { () throws(CoordinationError) -> WriteResult in
            try backend.remove(path, recursively: recursively, if: condition)
        }
    }

    /// Moves an item, at once, as one change: a directory with everything in it, a symbolic link as such. Missing
    /// directories are made. With `replacing`, a file or an empty directory at the destination is replaced in the same
    /// moment. The condition refers to the item that moves. Errors: `notFound`; `conflict`
    /// where the condition does not hold or something is in the way; `notEmpty` where a directory that is not empty is
    /// in the way; `invalidArgument` for a move into itself; `wrongType`; and those of all calls. System calls:
    /// renameat2
    ///
    /// In a transaction, the item can be read at its new path, and something else can be written to the old one. The
    /// moved item cannot be changed or moved again, and an item that the transaction has changed cannot be moved
    /// (`invalidArgument`); a directory neither replaces an item nor is replaced (`wrongType`).
    @discardableResult
    public func move(
        _ path: ItemPath, to destination: ItemPath, replacing: Bool = false, if condition: WriteCondition = .always
    ) throws(CoordinationError) -> WriteResult {
        try container.locating { () throws(CoordinationError) -> WriteResult in
            try backend.checkCanMove(path)
            let (origin, status) = try entry(path, "move")
            try check(condition, at: origin, "move")
            let location = try destination.location(for: "move")
            if location == origin || location.isBelow(origin) {
                if try path.location(for: "move") != origin {
                    throw CoordinationError(
                        .notFound, operation: "move", item: path.description,
                        reason: "it was moved to '\(printable(origin.bytes))' while its lock was awaited")
                }
                throw CoordinationError(
                    .invalidArgument, operation: "move", item: path.description,
                    reason: location == origin
                        ? "the destination is its own path" : "a directory cannot be moved into itself")
            }
            if !covers(location, for: status.isDirectory ? .tree : .exclusive) {
                throw notGranted(
                    destination, "move", remedy: .init(.nameInRequest, "name the destination, too: `.forReplacing`"))
            }
            try container.checkIsOurs(location, "move")
            return try backend.move(origin, status, to: location, replacing: replacing)
        }
    }

    /// Makes a directory and its missing parents; unchanged where the directory exists. Errors: `wrongType`, and those
    /// of all calls. System calls: mkdirat, renameat2
    @discardableResult
    public func createDirectory(_ path: ItemPath) throws(CoordinationError) -> WriteResult {
        try container.locating { () throws(CoordinationError) -> WriteResult in
            try backend.createDirectory(at: location(path, for: .exclusive, "create directory"))
        }
    }

    /// Sets an item's permissions, 0 to 07777; unchanged where the item has them. Errors: `notFound`, also for a
    /// symbolic link without a target; `invalidArgument`; `wrongType` where a symbolic link has come to the path
    /// meanwhile; and those of all calls. System calls: fchmodat2
    ///
    /// In a transaction, the permissions are set by `write(bytes:to:if:mode:)`; this call is refused
    /// (`invalidArgument`).
    @discardableResult
    public func setMode(_ mode: UInt32, of path: ItemPath) throws(CoordinationError) -> WriteResult {
        try container.locating { () throws(CoordinationError) -> WriteResult in
            if mode > 0o7777 {
                throw CoordinationError(
                    .invalidArgument, operation: "set the mode of", item: path.description,
                    reason: "a mode is at most 07777, octal")
            }
            return try backend.setMode(mode, at: location(path, for: .exclusive, "set the mode of"))
        }
    }

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
    /// In a transaction, only files are copied; a directory is refused (`wrongType`).
    ///
    /// Errors: `notFound`; `conflict` where something is in the way; `notEmpty` where a directory that is not empty is
    /// in the way; `wrongType` for a source that is not a regular file, and for a directory that contains anything but
    /// files, directories and symbolic links; `invalidArgument` for a copy onto or into itself; `limitReached` for more
    /// items than fit into one record; and those of all calls. System calls: ioctl(FICLONE) or copy_file_range;
    /// renameat2
    @discardableResult
    public func copy(
        _ path: ItemPath, to destination: ItemPath, recursively: Bool = false, replacing: Bool = false
    ) throws(CoordinationError) -> WriteResult {
        try container.locating { () throws(CoordinationError) -> WriteResult in
            let source = try location(path, for: .shared, "copy")
            let location = try location(destination, for: .exclusive, "copy")
            return try backend.copy(
                (path, source), to: (destination, location), recursively: recursively, replacing: replacing)
        }
    }
}

/// The part of an operation that differs in a transaction: `DirectChanges` makes each change at once, and
/// `TransactionAccess` stages it, as does `ProposedChanges` for somebody else to decide. Paths are resolved, and locks
/// and conditions checked, before.
protocol ItemBackend {
    /// Returns a reader of an item's content.
    func reader(of location: ItemLocation) throws(CoordinationError) -> ItemReader
    /// Returns the status of an item; nil where there is none.
    func status(of location: ItemLocation, _ operation: String) throws(CoordinationError) -> FileStatus?
    /// Throws if the item's last record does not describe the item that this access sees.
    func checkIsRecorded(_ location: ItemLocation, _ operation: String) throws(CoordinationError)
    func write(_ content: NewContent, to location: ItemLocation, mode: UInt32?) throws(CoordinationError) -> WriteResult
    func remove(
        _ path: ItemPath, recursively: Bool, if condition: WriteCondition
    ) throws(CoordinationError) -> WriteResult
    /// Throws if the item that the path names cannot be moved.
    func checkCanMove(_ path: ItemPath) throws(CoordinationError)
    func move(
        _ origin: ItemLocation, _ status: FileStatus, to location: ItemLocation, replacing: Bool
    ) throws(CoordinationError) -> WriteResult
    func createDirectory(at location: ItemLocation) throws(CoordinationError) -> WriteResult
    func setMode(_ mode: UInt32, at location: ItemLocation) throws(CoordinationError) -> WriteResult
    func copy(
        _ source: (path: ItemPath, location: ItemLocation), to destination: (path: ItemPath, location: ItemLocation),
        recursively: Bool, replacing: Bool
    ) throws(CoordinationError) -> WriteResult
    /// Notes that an item is about to be read, or compared with a condition.
    func noteRead(_ location: ItemLocation, _ operation: String) throws(CoordinationError)
    /// The largest content that is taken; nil where the disk is the limit.
    var contentLimit: ContentLimit? { get }
    /// Removes what was staged and is not to be made.
    func discard()
}

extension ItemBackend {
    func noteRead(_ location: ItemLocation, _ operation: String) throws(CoordinationError) {}
    var contentLimit: ContentLimit? { nil }
    func discard() {}
}

extension CoordinationError {
    /// Returns the error for an item that has to be a regular file.
    static func notAFile(
        _ item: String, _ operation: String, isDirectory: Bool, remedy: CoordinationError.Remedy? = nil
    ) -> CoordinationError {
        CoordinationError(
            .wrongType, operation: operation, item: item,
            reason: isDirectory ? "the item is a directory" : "the item is not a regular file", remedy: remedy)
    }

    /// Returns the error for an item that has to be a directory.
    static func notADirectory(_ item: String, _ operation: String) -> CoordinationError {
        CoordinationError(.wrongType, operation: operation, item: item, reason: "the item is not a directory")
    }
}
