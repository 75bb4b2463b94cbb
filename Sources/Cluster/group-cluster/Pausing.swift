import Cluster
import FoundationEssentials
import GroupCluster

/// Pauses this machine until a person has decided, and does what the person has decided.
extension Machine {
    /// Stops sending and applying until a person has decided.
    func beginPause(_ pause: Pause) {
        showPause(pause)
        history.stopped()
        (report.status.isConnected, report.status.since) = (false, Date())
        try? store.store(isDurable: true) { try $0.set(StateRow.pause, Array(pause.rawValue.utf8)) }
    }

    /// Shows the pause in the status and in a line.
    func showPause(_ pause: Pause) {
        currentPause = pause
        log("paused: \(pause.reason); see 'group-cluster accept'")
    }

    /// Does what a person has decided. A machine that joins anew ends its loop, and `main` makes a new one.
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
