import FoundationEssentials
import GroupLog

/// What is known of a container's cluster, as its program has recorded it last.
struct ClusterFacts: Equatable, Sendable {
    var status: ClusterStatus?
    /// Whether the program runs that keeps the container together with other machines.
    var isRunning = false

    var findings: [Finding] {
        guard let status else { return [] }
        var found: [Finding] = []
        if let reason = status.paused {
            found.append(
                Finding(
                    .clusterPaused, .error, "the cluster's program is paused: \(reason)",
                    why: "nothing is sent to other machines or taken from them, and strict changes are refused",
                    remedy:
                        "end the program; put back what is gone, or run 'group-cluster accept'; start it again"))
        } else if !isRunning {
            found.append(
                Finding(
                    .clusterNotRunning, .warning,
                    "the container is in the cluster '\(status.name)', and its program does not run",
                    why: "nothing is sent to other machines or taken from them, and strict changes are refused",
                    remedy: "start it: 'group-cluster join'; or 'group-cluster leave'"))
        } else if !status.isConnected {
            found.append(
                Finding(
                    .clusterNotConnected, .warning, process: status.processIdentifier,
                    "the cluster is not reached\(status.failure.map { ": \($0)" } ?? "")",
                    why: "changes wait on this machine, and strict changes are refused",
                    remedy: "see whether etcd runs, and the network: \(status.endpoints.joined(separator: ", "))"))
        }
        if !status.conflicts.isEmpty {
            found.append(
                Finding(
                    .clusterConflicts, .note, item: status.conflicts.last?.copy,
                    "\(status.conflicts.count) items were changed on several machines, and have a content with a conflict name",
                    why: "each content that was there is kept",
                    remedy: "keep the right one of each, and remove the other"))
        }
        if !status.unmirrored.isEmpty {
            found.append(
                Finding(
                    .clusterUnmirrored, .note, item: status.unmirrored.first?.path,
                    "\(status.unmirrored.count) items are on this machine only; the first: \(status.unmirrored.first?.reason ?? "")",
                    why: "other machines do not have them", remedy: "'group-cluster status' names all of them"))
        }
        return found
    }
}

extension ClusterFacts {
    /// Reads the program's last status from its suite, without joining the container. Linear in the suite.
    init(_ container: CheckedContainer) {
        self.init()
        guard container.directory.storeNames(of: .suite).contains(ClusterRecords.suite),
            let suite = try? container.store(.suite, ClusterRecords.suite)
        else { return }
        var state = SuiteState()
        for (salvage, _) in suite.segments { _ = salvage.read { state.apply($0, at: $1, isControl: $2) } }
        guard case .json(let bytes)? = state.entries[ClusterRecords.statusKey]?.value else { return }
        status = try? JSONDecoder().decode(ClusterStatus.self, from: Data(bytes))
        isRunning = container.isHeld(ContainerLock.clustering)
    }
}
