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
    }

    /// Lets the machine go on. After another history it joins anew: under a new name, with nothing in common.
    static func accept(_ store: StateStore, _ status: ClusterStatus) throws {
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
            try identity.save(store)
            try store.store(isDurable: true) { store in
                for space in [StateStore.Space.item, .machine, .value, .channel, .message, .base] {
                    try store.removeAll(space)
                }
                for key in ["place", "in flight", "posts in flight", "stop"] { try store.set(key, nil) }
                try store.removeSuites()
            }
        }
    }
}
