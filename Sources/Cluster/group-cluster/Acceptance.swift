import Cluster
import FoundationEssentials
import GroupCluster
import GroupContainer
import GroupSystemCalls

/// Why a machine neither sends nor applies anything until a person has decided.
enum Pause: String {
    /// etcd was restored, is another one, or this machine was cloned.
    case otherHistory = "other history"
    /// Most items are gone from the disk.
    case loss
    case newerVersion = "newer version"

    /// The key of its raw value in the state.
    static let key = "pause"

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

/// What a person decides for a machine that is paused.
enum Acceptance {
    /// Lets the machine go on, and returns why it was paused; nil if it was not. After another history the machine joins anew:
    /// under a new name, with nothing in common.
    static func accept(_ store: StateStore, _ container: Container) throws -> Pause? {
        let pause = try store.value(Pause.key).flatMap { Pause(rawValue: String(decoding: $0, as: UTF8.self)) }
        guard var identity = try MachineIdentity.load(store) else { return nil }
        switch pause {
        case nil, .newerVersion: break
        case .loss:
            try store.store(isDurable: true) { store in
                try store.set(Pause.key, nil)
                try store.set("accepted loss", [1])
            }
        case .otherHistory:
            identity.machineText = ClusterName.fresh().text
            // The channels first: where this is interrupted, the pause stands, and the person accepts once more.
            for name in container.channelNames() {
                try GroupChannel(container, name: name, purpose: "cluster").setRelay(after: nil)
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
                for key in [
                    "place", "in flight", Channels.inFlightKey, "accepted", Suites.refusedKey, Suites.unappliedKey,
                    Machine.removalsKey,
                    Pause.key,
                ] {
                    try store.set(key, nil)
                }
                for name in container.suiteNames() {
                    try store.set(Suites.row(of: name), Array(Suites.joined.utf8))
                }
            }
        }
        return pause
    }
}

extension Machine {
    /// Sends and applies nothing any more, before a person has decided.
    func beginPause(_ pause: Pause) {
        showPause(pause)
        history.stopped()
        (report.status.isConnected, report.status.since) = (false, Date())
        try? store.store(isDurable: true) { try $0.set(Pause.key, Array(pause.rawValue.utf8)) }
    }

    /// Ends a pause whose reason is gone.
    func goOn() throws {
        currentPause = nil
        try store.store(isDurable: true) { try $0.set(Pause.key, nil) }
        log("going on: the items are there again")
    }

    /// Says in the status and in a line that the machine is paused.
    func showPause(_ pause: Pause) {
        currentPause = pause
        log("paused: \(pause.reason); see 'group-cluster accept'")
    }
}
