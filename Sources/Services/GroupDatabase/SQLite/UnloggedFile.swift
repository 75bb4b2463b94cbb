#if SQLite
import GroupSystemCalls

/// A database that no process has open, seen by one that may not write beside it: SQLite has written its log into the
/// file and removed it, and would have to make another one in order to read. Such a file can be read as one that does
/// not change (`immutable`), as long as that is true: each writer makes the log first. So if there is no log at the end
/// of a transaction, and the file is unchanged, the transaction has read one state of the database. SQLite's
/// documentation: "Write-Ahead Logging", read-only databases
package struct UnloggedFile {
    private let path: [UInt8]
    private let status: FileStatus

    /// Looks at a file; nil if there is none, or if it has a log. System calls: openat2(2), statx(2)
    init?(_ path: [UInt8]) {
        guard !Self.hasLog(path), let status = Self.status(path), status.isRegularFile else { return nil }
        self.path = path
        self.status = status
    }

    /// Whether the file is still what it was.
    var isUnchanged: Bool {
        guard !Self.hasLog(path), let now = Self.status(path) else { return false }
        return (now.inode, now.size, now.modified, now.changed)
            == (status.inode, status.size, status.modified, status.changed)
    }

    /// The file's name for SQLite: an address, in which all but letters, digits and slashes is escaped.
    var address: [UInt8] {
        var text = Array("file:".utf8)
        for byte in path {
            let isPlain =
                byte == UInt8(ascii: "/") || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
                || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
            if isPlain {
                text.append(byte)
            } else {
                let digits = String(byte, radix: 16)
                text += Array((digits.count == 1 ? "%0" : "%").utf8) + Array(digits.utf8)
            }
        }
        return text + Array("?immutable=1".utf8)
    }

    /// Returns whether a database has a log, in which there may be commits.
    static func hasLog(_ path: [UInt8]) -> Bool { status(path + Array("-wal".utf8)) != nil }

    private static func status(_ path: [UInt8]) -> FileStatus? {
        try? FileDescriptor.open(path: path, .pathOnly).status()
    }
}
#endif
