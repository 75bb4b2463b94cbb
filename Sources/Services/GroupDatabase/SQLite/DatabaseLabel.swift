#if SQLite
import CGroupSQLite
package import GroupContainer
import GroupSystemCalls

/// What the errors of a database are about, and the one translation of SQLite's result codes.
package struct DatabaseLabel: Sendable {
    var path: ItemPath
    var container: String
    /// The process that writes, or that has the database open.
    var holder: @Sendable (_ writing: Bool) -> CoordinationError.Holder?
    /// The operation: "open", "read", "write".
    var operation = "open"
    /// What to do where the file is damaged.
    var ifDamaged = CoordinationError.Remedy(
        .restoreDatabase, "nothing was changed; restore a backup, or recover what can be read")

    init(path: ItemPath, container: String, holder: @escaping @Sendable (_ writing: Bool) -> CoordinationError.Holder?)
    {
        self.path = path
        self.container = container
        self.holder = holder
    }

    /// Makes the label of a database that one process uses: a file of the container's own.
    package init(ownFile name: String, of container: Container, ifDamaged: CoordinationError.Remedy) {
        self.init(path: ItemPath(bytes: Array(".group/\(name)".utf8)), container: "\(container.path)") { _ in nil }
        self.ifDamaged = ifDamaged
    }

    func error(
        _ code: CoordinationError.Code, _ reason: String, holders: [CoordinationError.Holder] = [],
        _ remedy: CoordinationError.Remedy? = nil, cause: (any Error)? = nil
    ) -> CoordinationError {
        CoordinationError(
            code, operation: operation, item: path.description, containerPath: container, reason: reason,
            holders: holders, remedy: remedy, cause: cause)
    }

    var isSuspended: CoordinationError {
        error(.cancelled, "the database is suspended", .init(.tryAgain, "resume it first"))
    }

    var isClosed: CoordinationError { error(.cancelled, "the database was closed", .init(.reopen, "open it again")) }

    /// Returns the error for a result code of SQLite.
    func error(_ code: Int32, _ message: String, errno: Int32, _ statement: String?) -> any Error {
        let cause: Errno? = errno == 0 ? nil : Errno(errno)
        switch code & 0xff {
        case SQLITE_BUSY, SQLITE_LOCKED:
            let holder = holder(true) ?? holder(false)
            return error(
                .lockTimedOut,
                holder == nil
                    ? "another program kept the database locked"
                    : "a transaction of another program was not over in time",
                holders: holder.map { [$0] } ?? [], .init(.tryAgain, "try again"))
        case SQLITE_FULL: return noSpace(cause)
        case SQLITE_IOERR where cause == .noSpace || cause == .quotaExceeded: return noSpace(cause)
        case SQLITE_IOERR: return error(.inputOutput, "\(message)\(cause.map { ": \($0)" } ?? "")", cause: cause)
        case SQLITE_CORRUPT, SQLITE_NOTADB:
            return error(
                .damaged, code & 0xff == SQLITE_NOTADB ? "the file is not an SQLite database" : message, ifDamaged)
        case SQLITE_READONLY, SQLITE_PERM, SQLITE_AUTH: return error(.notPermitted, message, cause: cause)
        // SQLITE_CANTOPEN_SYMLINK, which Swift does not import.
        case SQLITE_CANTOPEN where code == SQLITE_CANTOPEN | 6 << 8:
            return error(
                .notPermitted,
                "it is a symbolic link, or is below one, and SQLite would follow it out of the container",
                .init(.checkPath, "name the database itself"))
        case SQLITE_CANTOPEN where cause == .noSuchEntry:
            return error(.notFound, "there is no such database", .init(.checkPath, "check the path"), cause: cause)
        case SQLITE_CANTOPEN:
            let isRefused = [.accessDenied, .notPermitted, .readOnly].contains(cause)
            return error(
                isRefused ? .notPermitted : .inputOutput, "\(message)\(cause.map { ": \($0)" } ?? "")", cause: cause)
        case SQLITE_INTERRUPT: return error(.cancelled, "the transaction was interrupted, and has changed nothing")
        case SQLITE_NOMEM: return error(.limitReached, message)
        case SQLITE_CONSTRAINT:
            return DatabaseError(.constraint, reason: message, statement: statement, resultCode: code)
        default: return DatabaseError(.statement, reason: message, statement: statement, resultCode: code)
        }
    }

    private func noSpace(_ cause: Errno?) -> CoordinationError {
        error(
            .noSpace, "there is no room on the disk",
            .init(.freeSpace, "nothing was changed; free space on the file system, and try again"), cause: cause)
    }
}
#endif
