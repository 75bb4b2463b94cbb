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

    /// Does what a person has decided, if the situation is the one that the person has seen. A machine that joins anew
    /// ends its loop, and `main` makes a new one, and answers.
    func accept(_ decision: ClusterDecision) throws {
        let withheld = removals.withheldCount(mirror, disk.tree)
        switch decision.kind {
        case .joinAnew where currentPause == .otherHistory, .repair where currentPause == nil:
            acceptedHistory = decision.name
            return
        case .sendRemovals where removals.isWithholding && withheld <= decision.removals:
            _ = removals.accept(mirror, disk.tree)
            log("accepted: the removals that were withheld are sent")
            addRemovals()
            toStore.mustBeDurable = true
            try storeState()
            try records.answer(ClusterDecision.done, to: decision.name)
        case .sendRemovals where removals.isWithholding:
            try records.answer("\(withheld) removals are withheld by now", to: decision.name)
        case .joinAnew, .sendRemovals, .repair:
            try records.answer("there is nothing to accept any more", to: decision.name)
        }
        try book.update()
    }
}
