import Cluster
import GroupCluster
import GroupContainer
import GroupEtcd
import GroupSystemCalls

/// Gives processes of this machine the state of the cluster, as `group-cluster verify` compares it with the disk. It is
/// made of what etcd has, by reading the whole log, and not of what this machine has folded.
extension Machine {
    /// Takes the requests for the cluster's state that are recorded.
    func takeStateRequests() throws {
        for request in book.states.values {
            if try !Presence.isThere(ClusterRecords.caller(of: request.name), in: container) {
                statesAsked.remove(request.name)
                try records.remove(stateRequest: request.name)
            } else if request.index == nil, request.failure == nil, statesAsked.insert(request.name).inserted {
                link.send(.state(request: request.name))
            }
        }
    }

    func answer(_ request: String, _ state: ClusterFold?, _ failure: String?) throws {
        statesAsked.remove(request)
        guard let state else { return try records.answer(state: request, nil, failure: failure ?? "") }
        do {
            let directory = try ClusterRecords.contents(of: container).open()
            let file = try FileDescriptor.createAnew(Array(request.utf8), in: directory)
            try file.writeAll(state.snapshot)
        } catch {
            return try records.answer(state: request, nil, failure: "the state cannot be written: \(error)")
        }
        try records.answer(state: request, state.index, failure: nil)
    }
}

extension EtcdLink {
    /// Reads the log from its beginning, or from the snapshot that has replaced that.
    func readState(_ request: String, _ client: EtcdClient) {
        do {
            let (reading, _, _) = try reading(client)
            var state =
                try reading.snapshot.map { bytes throws(ClusterDamage) in try ClusterFold(snapshot: bytes) }
                ?? ClusterFold()
            for entry in reading.entries where entry.index > state.index { _ = try state.apply(entry) }
            post(.state(request: request, state, failure: nil))
        } catch {
            post(.state(request: request, nil, failure: "\(error)"))
        }
    }
}
