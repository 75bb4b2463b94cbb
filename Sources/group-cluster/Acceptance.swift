import FoundationEssentials
import GroupCluster
import GroupContainer
import GroupSystemCalls

/// What a person decides after a stop.
enum Acceptance {
    /// The reasons for a stop, as they are stored.
    enum Stop: String {
        /// etcd was restored, is another one, or this machine was cloned.
        case otherHistory = "other history"
        /// Most items are gone from the disk.
        case loss
        case newerVersion = "newer version"

        /// The reason in words, for the status.
        var reason: String {
            switch self {
            case .otherHistory:
                "the cluster has another history than this machine has seen: etcd was restored from a backup, is another one, or this machine was cloned"
            case .loss: "more than half of all items are gone from the disk at once"
            case .newerVersion: "an entry of the cluster can only be read by a newer version of this program"
            }
        }
    }

    /// Lets the machine go on. After another history it joins anew: under a new name, with nothing in common.
    static func accept(_ store: StateStore, _ container: Container) throws {
        let stop = try store.value("stop").flatMap { Stop(rawValue: String(decoding: $0, as: UTF8.self)) }
        guard var identity = try MachineIdentity.load(store) else { return }
        switch stop {
        case nil, .newerVersion: return
        case .loss:
            try store.store(isDurable: true) { store in
                try store.set("stop", nil)
                try store.set("accepted loss", [1])
            }
        case .otherHistory:
            var generator = SystemRandomNumberGenerator()
            identity.machineText = ClusterName.random(using: &generator).text
            // The channels first: where this is interrupted, the stop stands, and the person accepts once more.
            for name in container.channelNames() {
                try GroupChannel(container, name: name, purpose: "cluster").setCluster(after: nil)
            }
            // Whether what was sent under the old name was committed cannot be found under the new one.
            let records = try ClusterRecords(container)
            for request in records.requests() where request.state == .sent {
                try records.remove(request: request.operation)
            }
            try identity.save(store)
            try store.store(isDurable: true) { store in
                for space in [StateStore.Space.item, .machine, .value, .channel, .message, .base] {
                    try store.removeAll(space)
                }
                for key in ["place", "in flight", "posts in flight", "accepted", Machine.refusedKey, "stop"] {
                    try store.set(key, nil)
                }
                for name in container.suiteNames() {
                    try store.set("suite/\(name)", Array(Machine.joinedSuite.utf8))
                }
            }
        }
    }
}

extension Machine {
    /// Sends and applies nothing any more, before a person has decided.
    func stop(_ stop: Acceptance.Stop) {
        showStop(stop)
        (isConnected, status.isConnected, status.since) = (false, false, Date())
        try? store.store(isDurable: true) { try $0.set("stop", Array(stop.rawValue.utf8)) }
    }

    /// Says in the status and in a line that the machine has stopped.
    func showStop(_ stop: Acceptance.Stop) {
        status.stopped = stop.reason
        log("stopped: \(stop.reason); see 'group-cluster accept'")
    }
}
