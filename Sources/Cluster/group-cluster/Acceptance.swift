import Cluster
import FoundationEssentials
import GroupCluster
import GroupContainer
import GroupSystemCalls

/// The reason why a machine neither sends nor applies anything until a person has decided.
enum Pause: String {
    /// etcd was restored or is another one, or this machine was cloned.
    case otherHistory = "other history"
    case newerVersion = "newer version"

    /// The reason in words, for the status.
    var reason: String {
        switch self {
        case .otherHistory:
            "the cluster has another history than this machine has seen: etcd was restored from a backup, is another one, or this machine was cloned"
        case .newerVersion: "an entry of the cluster can only be read by a newer version of this program"
        }
    }
}

/// The decisions of a person, for cases in which the program cannot know what is right.
enum Acceptance {
    /// The decision that was made.
    enum Outcome {
        /// The withheld removals are sent.
        case removals
        /// The machine joins anew: under a new name, without a base.
        case joinsAnew
        case newerVersionIsNeeded
        case nothing
    }

    /// The reason why removals are withheld.
    static let reasonToWithhold =
        "more than half of all items are gone from the disk at once; their removals are not sent to other machines"

    /// Accepts what a machine waits for that does not run, and returns the decision.
    static func accept(_ store: StateStore, _ container: Container) throws -> Outcome {
        let text = try store.value(StateRow.pause).map { String(decoding: $0, as: UTF8.self) }
        switch text.flatMap({ Pause(rawValue: $0) }) {
        case .otherHistory:
            try joinAnew(store, container)
            return .joinsAnew
        case .newerVersion: return .newerVersionIsNeeded
        case nil: break
        }
        guard let identity = try MachineIdentity.load(store) else { return .nothing }
        let loaded = try LoadedState(store, identity.machine)
        var removals = loaded.removals
        guard removals.accept(loaded.mirror, loaded.tree) != nil else { return .nothing }
        try store.store(isDurable: true) { store in
            try removals.store(in: store)
        }
        return .removals
    }

    static func joinAnew(_ store: StateStore, _ container: Container) throws {
        guard var identity = try MachineIdentity.load(store) else { return }
        identity.machineText = ClusterName.fresh().text
        // The channels come first: if this is interrupted, the pause is still stored, and the person accepts once more.
        for name in container.channelNames() {
            try GroupChannel(container, name: name, purpose: "cluster").setRelay(after: nil)
        }
        // The fate of a request that was sent under the old name cannot be found under the new one.
        let records = try ClusterRecords(container)
        for request in records.requests() where request.state == .sent {
            try records.remove(request: request.operation)
        }
        try identity.save(store)
        try store.store(isDurable: true) { store in
            for space in [StateStore.Space.item, .machine, .value, .channel, .message, .base] {
                try store.removeAll(space)
            }
            for key in [
                "place", "in flight", StateRow.postsInFlight, "accepted", StateRow.refusedKeys, StateRow.unappliedKeys,
                StateRow.meantRemovals, StateRow.withheldRemovals, StateRow.pause,
            ] {
                try store.set(key, nil)
            }
            for name in container.suiteNames() {
                try store.set(StateRow.suite(name), Array(StateRow.joinedSuite.utf8))
            }
        }
    }
}
