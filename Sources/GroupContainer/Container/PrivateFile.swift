import GroupSystemCalls

/// A small file below `.group` that this package's own modules keep something in, with a lock of its own.
package struct PrivateFile: Sendable {
    private let member: Member
    private let directoryName: String
    private let name: [UInt8]
    private let location: ItemLocation

    /// The lock on it; ends with its last reference.
    package final class Holding: Sendable {
        private let lock: HeldLock
        init(_ lock: HeldLock) { self.lock = lock }

        /// Gives it back.
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

    /// Waits for the lock, blocking.
    package func holdBlocking(_ operation: String, timeout: Duration?) throws(CoordinationError) -> Holding {
        Holding(try request(operation).acquireBlocking(until: Deadline(after: timeout)))
    }

    /// Waits for the lock.
    package func hold(_ operation: String, timeout: Duration?) async throws(CoordinationError) -> Holding {
        Holding(try await request(operation).acquire(until: Deadline(after: timeout)))
    }

    /// For errors.
    package var label: String { printable(location.bytes) }

    /// Nil where there is none.
    package func read() throws(CoordinationError) -> [UInt8]? {
        let directory = try member.directory.ownDirectory(directoryName)
        do throws(Errno) {
            return try FileDescriptor.content(of: name, in: directory)
        } catch {
            if error == .noSuchEntry { return nil }
            throw CoordinationError(error, item: label, operation: "read")
        }
    }

    /// Renames a file that cannot be used, in place of an earlier such one; its new name. Only with the lock.
    package func putAside() throws(CoordinationError) -> String {
        let directory = try member.directory.ownDirectory(directoryName)
        let aside = name + Array(".damaged".utf8)
        try translating(label, "put aside") { () throws(Errno) in
            try directory.rename(name, to: aside, in: directory, replacing: true)
        }
        return "\(label).damaged"
    }

    /// Replaces it atomically; whole or not at all after a kill. Only with the lock.
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
