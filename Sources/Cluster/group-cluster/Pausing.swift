import Cluster
import FoundationEssentials
import GroupCluster

/// Why this machine waits for a person, and what that person decides.
extension Machine {
    /// Sends and applies nothing any more, before a person has decided.
    func beginPause(_ pause: Pause) {
        showPause(pause)
        history.stopped()
        (report.status.isConnected, report.status.since) = (false, Date())
        try? store.store(isDurable: true) { try $0.set(StateRow.pause, Array(pause.rawValue.utf8)) }
    }

    /// Says in the status and in a line that the machine is paused.
    func showPause(_ pause: Pause) {
        currentPause = pause
        log("paused: \(pause.reason); see 'group-cluster accept'")
    }

    /// Does what a person has decided. To join anew, the loop ends, and the machine is made anew.
    func accept() throws {
        if currentPause == .otherHistory {
            mustJoinAnew = true
            return
        }
        if removals.accept() {
            log("accepted: the removals that were withheld are sent")
            addRemovals()
            try storeState()
        }
        try records.removeAcceptance()
        try book.update()
    }
}
