import GroupSystemCalls

/// A small file below `.group` in which this package's own modules keep data, with a lock of its own.
package struct PrivateFile: Sendable {
    private let member: Member
    private let directoryName: String
    private let name: [UInt8]
    private let location: ItemLocation

    /// The lock on the file; it ends with the last reference.
    package final class Holding: Sendable {
        private let lock: HeldLock
        init(_ lock: HeldLock) { self.lock = lock }

        /// Gives the lock back.
        package func end() { lock.end() }
    }

    package init(_ directoryName: String, _ name: String, in container: Container) {
        member = container.member
        self.directoryName = directoryName
        self.name = Array(name.utf8)
        location = .inside("\(directoryName)/\(name)")
    }

    private func request(_ operation: String) -> LockRequest {
        LockRequest([(location, .writing)], by: member, for: Array(programName().utf8), operation: operation)
    }

    /// Waits for the lock, blocking the thread.
    package func holdBlocking(_ operation: String, timeout: Duration?) throws(CoordinationError) -> Holding {
        Holding(try request(operation).acquireBlocking(until: Deadline(after: timeout)))
    }

    /// Waits for the lock, suspending the task.
    package func hold(_ operation: String, timeout: Duration?) async throws(CoordinationError) -> Holding {
        Holding(try await request(operation).acquire(until: Deadline(after: timeout)))
    }

    /// The file's path, for errors.
    package var label: String { printable(location.bytes) }

    /// Returns the file's content, or nil where there is no file.
    package func read() throws(CoordinationError) -> [UInt8]? {
        let directory = try member.directory.ownDirectory(directoryName)
        do throws(Errno) {
            return try FileDescriptor.content(of: name, in: directory)
        } catch {
            if error == .noSuchEntry { return nil }
            throw CoordinationError(error, item: label, operation: "read")
        }
    }

    /// Renames a file that cannot be used, in place of an earlier such file, and returns its new name. Call it only
    /// with the lock.
    package func putAside() throws(CoordinationError) -> String {
        let directory = try member.directory.ownDirectory(directoryName)
        let aside = name + Array(".damaged".utf8)
        try translating(label, "put aside") { () throws(Errno) in
            try directory.rename(name, to: aside, in: directory, replacing: true)
        }
        return "\(label).damaged"
    }

    /// Replaces the file atomically: after a kill the new content is there as a whole or not at all. Call it only with
    /// the lock.
    package func replace(by content: [UInt8]) throws(CoordinationError) {
        let directory = try member.directory.ownDirectory(directoryName)
        let temporary = name + Array(".new".utf8)
        try translating(label, "write") { () throws(Errno) in
            let file = try FileDescriptor.open(
                temporary, in: directory, [.writing, .creating, .truncating], mode: 0o600)
            do throws(Errno) {
                try file.setMode(member.directory.fileMode)
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
                .invalidArgument, item: printable(file), operation: operation,
                cause: "it lies inside the container, and would be one of its items",
                advice: "choose a place outside of it")
        }
        let status = try? FileDescriptor.open(path: directory, [.placeOnly, .directory])
            .statusIfPresent(of: Array(file[(slash.map { $0 + 1 } ?? 0)...]))
        if let status, !status.isRegularFile {
            throw .notKept(file, operation, isLink: status.isLink)
        }
    }

    /// Returns whether a directory is this container's root or lies in it, whatever path leads there.
    private func holds(_ directory: [UInt8]) -> Bool {
        guard let root = try? FileDescriptor.open(path: path.bytes, [.placeOnly, .directory]).status() else {
            return false
        }
        var place = directory
        var last: FileStatus?
        while let status = try? FileDescriptor.open(path: place, [.placeOnly, .directory]).status() {
            if status.inode == root.inode && status.device == root.device { return true }
            // The root of all files is its own parent.
            if let last, last.inode == status.inode && last.device == status.device { return false }
            last = status
            place += Array("/..".utf8)
        }
        return false
    }
}

extension CoordinationError {
    fileprivate static func notKept(_ file: [UInt8], _ operation: String, isLink: Bool) -> CoordinationError {
        CoordinationError(
            .invalidArgument, item: printable(file), operation: operation,
            cause: isLink ? "it is a symbolic link, no regular file" : "it is no regular file",
            advice: isLink ? "name the file that the link leads to" : "name a file, one that is there or a new one")
    }
}
