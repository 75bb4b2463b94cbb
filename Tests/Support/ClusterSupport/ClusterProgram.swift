package import Cluster
import Foundation
package import GroupContainer
import GroupSystemCalls
import TestSupport

/// A stand-in for the program `group-cluster` of one container: it sends nothing, and its test decides what becomes of
/// each request.
package final class ClusterProgram {
    package let container: Container
    package let records: ClusterRecords
    private let right: SoleProcess
    private var changes: Follower<DefaultsChange>
    private var seen: Set<String> = []

    /// Has the container be in a cluster, and takes the program's place.
    package init(_ container: Container, stopped: String? = nil, isConnected: Bool = true) throws {
        self.container = container
        records = try ClusterRecords(container)
        guard let right = try SoleProcess(for: .cluster, of: container) else {
            throw TemporaryContainer.Failed(description: "another program runs")
        }
        self.right = right
        changes = try records.changes(since: .now)
        var status = ClusterStatus(
            name: "todo", host: "here", machine: ClusterRecords.newName(), endpoints: ["http://127.0.0.1:1"],
            processIdentifier: getpid(), since: Date())
        (status.paused, status.isConnected) = (stopped, isConnected)
        try records.set(status)
    }

    /// Waits for a record that `find` finds.
    private func await<Found>(_ find: () -> Found?) throws -> Found {
        while true {
            if let found = find() { return found }
            if try changes.next(timeout: patience) == nil {
                throw WaitedInVain(description: "waited in vain: \(records.requests()), \(records.locks())")
            }
        }
    }

    /// Returns the next request, with its contents.
    package func next() throws -> ClusterRequest {
        let request = try self.await { records.requests().first { !seen.contains($0.operation) } }
        seen.insert(request.operation)
        return request
    }

    /// Returns a request once it is as `isReached` wants.
    package func wait(
        for operation: String, _ isReached: (ClusterRequest) -> Bool
    ) throws -> ClusterRequest { try self.await { records.request(operation).flatMap { isReached($0) ? $0 : nil } } }

    /// Returns the next lock that is asked for.
    package func nextLock() throws -> ClusterLockRequest {
        let lock = try self.await { records.locks().first { !seen.contains($0.identifier) } }
        seen.insert(lock.identifier)
        return lock
    }

    /// Returns the name of the decision once there is one.
    package func nextDecision() throws -> String { try self.await { records.decision?.name } }

    /// Returns a lock's record once it is as `isReached` wants.
    package func wait(
        forLock identifier: String, _ isReached: (ClusterLockRequest) -> Bool
    ) throws -> ClusterLockRequest { try self.await { records.lock(identifier).flatMap { isReached($0) ? $0 : nil } } }

    /// Ends a request. Returns false if it is over.
    @discardableResult
    package func end(
        _ operation: String, _ state: ClusterRequest.State, generations: [UInt64] = [], reason: String? = nil,
        code: String? = nil
    ) throws -> Bool {
        try records.update(operation) { request in
            if request.state.isOver { return false }
            (request.state, request.generations, request.reason, request.code) = (state, generations, reason, code)
            return true
        }
    }

    package func grant(_ identifier: String, _ grant: String?, _ state: ClusterLockRequest.State = .granted) throws {
        try records.update(lock: identifier) { lock in
            (lock.state, lock.grant) = (state, grant)
            return true
        }
    }

    /// Returns the content of a part.
    package func content(_ part: Proposal.Part) throws -> String? {
        guard let name = part.content else { return nil }
        let directory = try ClusterRecords.contents(of: container).open()
        let bytes = try FileDescriptor.open(Array(name.utf8), in: directory, .reading).readAll()
        return String(decoding: bytes, as: UTF8.self)
    }

    /// The files of requests that are there.
    package func files() throws -> [String] {
        try ClusterRecords.contents(of: container).open().entryNames().map { String(decoding: $0, as: UTF8.self) }
            .sorted()
    }

    /// Whether neither a record of a request nor a file is left.
    package func isEmpty() throws -> Bool { try records.requests().isEmpty && files().isEmpty }
}
