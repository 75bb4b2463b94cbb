import GroupLocking
import GroupBytes
import GroupSystemCalls

/// A small file below `.group` in which this package's own modules keep data, with a lock of its own.
package struct PrivateFile: Sendable {
    private let opened: OpenContainer
    private let directoryName: String
    private let name: [UInt8]
    private let location: ItemLocation

    /// The lock on the file; it ends with the last reference.
    package final class Holding: Sendable {
        private let lock: HeldLock
        /// Keeps this process a member.
        private let opened: OpenContainer
        init(_ lock: HeldLock, in opened: OpenContainer) { (self.lock, self.opened) = (lock, opened) }

        /// Gives the lock back.
        package func end() { lock.end() }
    }

    package init(_ directoryName: String, _ name: String, in container: Container) {
        opened = container.opened
        self.directoryName = directoryName
        self.name = Array(name.utf8)
        location = .inside("\(directoryName)/\(name)")
    }

    private func locks(_ operation: String) -> ItemLocks {
        ItemLocks(
            Few(.init(location.bytes, .exclusive)), of: opened, for: Array(programName().utf8), operation: operation)
    }

    /// Waits for the lock, blocking the thread; at the longest until `token` is cancelled.
    package func holdBlocking(
        _ operation: String, timeout: Duration?, orUntil token: CancellationToken? = nil
    ) throws(CoordinationError) -> Holding {
        try opened.locating { () throws(CoordinationError) -> Holding in
            let lock = try locks(operation).acquireBlocking(
                until: Deadline(after: timeout), orUntil: token?.cancellation)
            return Holding(lock, in: opened)
        }
    }

    /// Waits for the lock, suspending the task.
    package func hold(_ operation: String, timeout: Duration?) async throws(CoordinationError) -> Holding {
        do {
            return Holding(try await locks(operation).acquire(until: Deadline(after: timeout)), in: opened)
        } catch {
            throw error.located(in: opened)
        }
    }

    /// The container's path, for errors.
    package var container: String { printable(opened.directory.path) }

    /// The file's path, for errors.
    package var label: String { printable(location.bytes) }

    /// The most bytes of a file: a widget's record with the longest output of a command (32 MiB) as its snapshot, in
    /// base64.
    private static let longest: UInt64 = 64 << 20

    /// Returns the file's content, or nil where there is no file. What is no regular file, or longer than any that this
    /// package writes, has no content.
    package func read() throws(CoordinationError) -> [UInt8]? {
        try opened.locating { () throws(CoordinationError) -> [UInt8]? in
            let directory = try opened.directory.ownDirectory(directoryName)
            do throws(Errno) {
                let file = try FileDescriptor.open(name, in: directory, [.reading, .nonBlocking])
                let status = try file.status()
                if !status.isRegularFile || status.size > Self.longest { return [] }
                return try file.readAll(size: status.size, limit: Int(Self.longest))
            } catch {
                if error == .noSuchEntry { return nil }
                throw CoordinationError(error, operation: "read", item: label)
            }
        }
    }

    /// Renames a file that cannot be used, in place of an earlier such file, and returns its new name. Call it only
    /// with the lock.
    package func putAside() throws(CoordinationError) -> String {
        try opened.locating { () throws(CoordinationError) -> String in
            let directory = try opened.directory.ownDirectory(directoryName)
            let aside = name + Array(".damaged".utf8)
            try translating("put aside", item: label) { () throws(Errno) in
                try directory.rename(name, to: aside, in: directory, replacing: true)
            }
            return "\(label).damaged"
        }
    }

    /// Replaces the file atomically: after a kill the new content is there as a whole or not at all. Call it only with
    /// the lock.
    package func replace(by content: [UInt8]) throws(CoordinationError) {
        try opened.locating { () throws(CoordinationError) in
            let directory = try opened.directory.ownDirectory(directoryName)
            let temporary = name + Array(".new".utf8)
            try translating("write", item: label) { () throws(Errno) in
                let file = try FileDescriptor.createAnew(temporary, in: directory)
                do throws(Errno) {
                    try file.setMode(opened.directory.fileMode)
                    try file.writeAll(content)
                    try file.synchronizeData()
                    try directory.rename(temporary, to: name, in: directory, replacing: true)
                } catch {
                    try? directory.unlink(temporary)
                    throw error
                }
            }
        }
    }
}

extension Container {
    /// Checks that a command can keep a file for its user at a path: outside of this container, whose items change only
    /// under a lock and are recorded, and where there is nothing or a regular file. Errors: `invalidArgument`. System
    /// calls: openat2, statx, both for each directory around the file
    package func checkMayKeep(_ file: [UInt8], _ operation: String) throws(CoordinationError) {
        let slash = file.lastIndex(of: UInt8(ascii: "/"))
        let directory = slash.map { $0 == 0 ? [UInt8(ascii: "/")] : Array(file[..<$0]) } ?? [UInt8(ascii: ".")]
        if slash.map({ $0 + 1 == file.count }) ?? file.isEmpty { throw .notKept(file, operation, isLink: false) }
        if holds(directory) {
            throw CoordinationError(
                .invalidArgument, operation: operation, item: printable(file),
                reason: "the file is inside the container, and would be one of its items",
                remedy: .init(.choosePath, "choose a path outside of the container"))
        }
        let status = try? FileDescriptor.open(path: directory, [.pathOnly, .directory])
            .statusIfPresent(of: Array(file[(slash.map { $0 + 1 } ?? 0)...]))
        if let status, !status.isRegularFile {
            throw .notKept(file, operation, isLink: status.isLink)
        }
    }

    /// Returns whether a directory is this container's root or lies in it, whatever path leads there.
    private func holds(_ directory: [UInt8]) -> Bool {
        guard let root = try? FileDescriptor.open(path: path.bytes, [.pathOnly, .directory]).status() else {
            return false
        }
        var path = directory
        var last: FileStatus?
        while let status = try? FileDescriptor.open(path: path, [.pathOnly, .directory]).status() {
            if status.inode == root.inode && status.device == root.device { return true }
            // The root of all files is its own parent.
            if let last, last.inode == status.inode && last.device == status.device { return false }
            last = status
            path += Array("/..".utf8)
        }
        return false
    }
}

extension CoordinationError {
    fileprivate static func notKept(_ file: [UInt8], _ operation: String, isLink: Bool) -> CoordinationError {
        CoordinationError(
            .invalidArgument, operation: operation, item: printable(file),
            reason: isLink ? "the file is a symbolic link, and not a regular file" : "the file is not a regular file",
            remedy: .init(
                .choosePath,
                isLink ? "name the file that the symbolic link leads to" : "name a regular file, or a new one"))
    }
}
