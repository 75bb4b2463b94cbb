public import GroupContainer

extension SoleProcess.Work {
    /// The exchange of changes with the other machines of the container's cluster.
    package static let cluster = Self("cluster", byte: 7)
}

extension CoordinationError.Remedy.Code {
    /// Have the container join a cluster of machines.
    public static let joinCluster = Self(rawValue: "joinCluster")
}

extension ClusterStatus {
    /// The record of this status for the container's members and its doctor.
    package var serviceRecord: ServiceRecord {
        var always: [ServiceRecord.Finding] = []
        if let paused {
            always.append(
                ServiceRecord.Finding(
                    "clusterPaused", .error, "the cluster's program is paused: \(paused)",
                    why: "nothing is sent to other machines or taken from them, and strict changes are refused",
                    remedy:
                        "see the guide for the cause; 'group-cluster accept' has the machine join anew"))
        }
        if let withheld {
            always.append(
                ServiceRecord.Finding(
                    "clusterWithheld", .warning,
                    "\(withheld) removals are not sent to other machines, as more than half of all items were gone at once",
                    why: "a file system that is not mounted, or a mistake, must not empty the other machines",
                    remedy: "put back what is gone, or run 'group-cluster accept'"))
        }
        if let replaced, let last = replaced.last {
            always.append(
                ServiceRecord.Finding(
                    "clusterReplaced", .note,
                    "the cluster had other values than this machine; this machine's are in '\(last)'"
                        + (replaced.count > 1 ? " and \(replaced.count - 1) other files" : ""),
                    why: "what was set before a machine joins counts only where the cluster has nothing",
                    remedy: "import what is right ('groupctl defaults import'), and remove the files"))
        }
        if paused == nil && isConnected && toSend + toApply > 0, let failure {
            always.append(
                ServiceRecord.Finding(
                    "clusterStuck", .warning,
                    "\(toSend) changes are not sent, and \(toApply) not made here: \(failure)",
                    why: "the machines differ for longer than the network takes",
                    remedy: remedy
                        ?? "remove the cause that the text names; 'group-cluster status' shows whether it goes on"))
        }
        if paused == nil, !isConnected, let remedy {
            always.append(
                ServiceRecord.Finding(
                    "clusterRefused", .error, "the cluster cannot be used\(failure.map { ": \($0)" } ?? "")",
                    why: "changes wait on this machine, and strict changes are refused", remedy: remedy))
        }
        if !conflicts.isEmpty {
            always.append(
                ServiceRecord.Finding(
                    "clusterConflicts", .note, item: conflicts.last?.copy,
                    "\(conflicts.count) items were changed on several machines, and have a content with a conflict name",
                    why: "each content that was there is kept",
                    remedy: "keep the right one of each, and remove the other: 'group-cluster resolve'"))
        }
        if !unmirrored.isEmpty {
            let reason = unmirrored.first?.reason ?? ""
            always.append(
                ServiceRecord.Finding(
                    "clusterUnmirrored", .note, item: unmirrored.first?.path,
                    "\(unmirrored.count) items are on this machine only; the first: \(reason)",
                    why: "other machines do not have them", remedy: "'group-cluster status' names all of them"))
        }
        for machine in machines ?? [] {
            if let withheld = machine.withheld, withheld > 0 {
                always.append(
                    ServiceRecord.Finding(
                        "clusterWithheldElsewhere", .warning,
                        "the machine '\(machine.host)' withholds \(withheld) removals",
                        why: "most of its items were gone at once, and this machine still has them",
                        remedy: "put back there what is gone, or run 'group-cluster accept' there"))
            }
            if let own = machine.unmirrored, own.count > 0 {
                always.append(
                    ServiceRecord.Finding(
                        "clusterOnlyElsewhere", .note,
                        "\(own.count) items are only on the machine '\(machine.host)'"
                            + (own.first.first.map { "; the first: \($0)" } ?? ""),
                        why: "this machine does not have them", remedy: "'group-cluster status' names the first of them"
                    ))
            }
        }
        let atRest = ServiceRecord.Finding(
            "clusterNotRunning", .warning, "the container is in the cluster '\(name)', and its program does not run",
            why: "nothing is sent to other machines or taken from them, and strict changes are refused",
            remedy: "start it: 'group-cluster join'; or 'group-cluster leave'")
        let cutOff = ServiceRecord.Finding(
            "clusterNotConnected", .warning, "the cluster is not reached\(failure.map { ": \($0)" } ?? "")",
            why: "changes wait on this machine, and strict changes are refused",
            remedy: "see whether etcd runs, and the network: \(endpoints.joined(separator: ", "))")
        return ServiceRecord(
            byte: SoleProcess.Work.cluster.byte, processIdentifier: processIdentifier,
            findings: paused == nil && !isConnected && remedy == nil ? [cutOff] + always : always,
            findingsAtRest: paused == nil ? [atRest] + always : always, relay: ClusterRecords.suite)
    }
}
