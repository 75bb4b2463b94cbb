import GroupSystemCalls

/// A small file below `.group` that this package's own modules keep something in, with a lease of its own.
package struct PrivateFile: Sendable {
    private let member: Member
    private let folderName: String
    private let name: [UInt8]
    private let location: ItemLocation

    /// The lease on it; ends with its last reference.
    package final class Holding: Sendable {
        private let lease: Lease
        init(_ lease: Lease) { self.lease = lease }

        /// Gives it back.
        package func end() { lease.end() }
    }

    package init(_ folderName: String, _ name: String, in container: Container) {
        member = container.member
        self.folderName = folderName
        self.name = Array(name.utf8)
        location = .inside("\(folderName)/\(name)")
    }

    private func request(_ operation: String) -> LeaseRequest {
        LeaseRequest([(location, .writing)], by: member, for: Array(programName().utf8), operation: operation)
    }

    /// Waits for the lease, blocking.
    package func holdBlocking(_ operation: String, timeout: Duration?) throws(CoordinationError) -> Holding {
        Holding(try request(operation).acquireBlocking(until: Deadline(after: timeout)))
    }

    /// Waits for the lease.
    package func hold(_ operation: String, timeout: Duration?) async throws(CoordinationError) -> Holding {
        Holding(try await request(operation).acquire(until: Deadline(after: timeout)))
    }

    /// For errors.
    package var label: String { printable(location.bytes) }

    /// Nil where there is none.
    package func read() throws(CoordinationError) -> [UInt8]? {
        let folder = try member.folder.ownFolder(folderName)
        do throws(Errno) {
            return try FileDescriptor.content(of: name, in: folder)
        } catch {
            if error == .noSuchEntry { return nil }
            throw CoordinationError(error, item: label, operation: "read")
        }
    }

    /// Renames a file that cannot be used, in place of an earlier such one; its new name. Only with the lease.
    package func putAside() throws(CoordinationError) -> String {
        let folder = try member.folder.ownFolder(folderName)
        let aside = name + Array(".damaged".utf8)
        try translating(label, "put aside") { () throws(Errno) in
            try folder.rename(name, to: aside, in: folder, replacing: true)
        }
        return "\(label).damaged"
    }

    /// Replaces it atomically; whole or not at all after a kill. Only with the lease.
    package func replace(by content: [UInt8]) throws(CoordinationError) {
        let folder = try member.folder.ownFolder(folderName)
        let temporary = name + Array(".new".utf8)
        try translating(label, "write") { () throws(Errno) in
            let file = try FileDescriptor.open(temporary, in: folder, [.writing, .creating, .truncating], mode: 0o600)
            do throws(Errno) {
                try file.setMode(member.folder.fileMode)
                try file.writeAll(content)
                try file.synchronizeData()
                try folder.rename(temporary, to: name, in: folder, replacing: true)
            } catch {
                try? folder.unlink(temporary)
                throw error
            }
        }
    }
}
