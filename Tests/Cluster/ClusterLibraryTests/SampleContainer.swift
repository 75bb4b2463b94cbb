import Cluster
import GroupContainer
import TestSupport

/// A container in a temporary directory.
struct SampleContainer {
    let temporary: TemporaryDirectory
    let container: Container

    init() throws {
        temporary = try TemporaryDirectory()
        try TemporaryContainer.make(at: temporary.path)
        container = try Container(path: temporary.path)
    }

    func coordinator() -> Coordinator { container.coordinator(purpose: "tester") }

    func cluster() -> ClusterCoordinator { container.cluster(purpose: "tester") }

    /// Returns whether no item's lock is held or awaited.
    func isQuiet() throws -> Bool { try container.status().members.allSatisfy(\.locks.isEmpty) }

    /// Returns the journal's changes, each as kind and path.
    func history() throws -> [String] {
        var follower = try container.recordedChanges(since: .start)
        var lines: [String] = []
        while let change = try follower.next(timeout: .zero) { lines.append("\(change.kind.name) \(change.path)") }
        return lines
    }
}
