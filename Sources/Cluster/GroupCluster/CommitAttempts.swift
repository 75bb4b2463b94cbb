// Imports nothing: no file, clock or process.

/// The attempts to commit what is in flight: one at a time, with pauses after failures.
///
/// An answer may be lost, so that an attempt that has failed may have committed the entry. Until that is known, the entry
/// can only be taken back by another one that competes for its number: see `ClusterOutbox.giveUp`.
///
/// Times are nanoseconds of a clock of the caller.
package struct CommitAttempts: Equatable, Sendable {
    /// The request that is at etcd; nil where the one in flight is to be sent, or sent again.
    private var atEtcd: CommitRequest?
    private var wasSent = true
    /// The time from which on the next attempt may begin.
    package private(set) var next: Int64 = 0
    private var failures = 0

    /// What was in flight when the program's last run ended may be committed.
    package init() {}

    /// Whether a request is at etcd.
    package var isAwaited: Bool { atEtcd != nil }

    /// Whether an attempt may have reached etcd, or is on its way.
    package var mayBeCommitted: Bool { wasSent || isAwaited }

    /// Notes that another entry is in flight.
    package mutating func begin() { wasSent = false }

    /// Notes that a request is on its way.
    package mutating func sent(_ request: CommitRequest) { atEtcd = request }

    /// Notes that the attempt with a request is over.
    package mutating func ended(_ request: CommitRequest) { if atEtcd == request { atEtcd = nil } }

    /// Notes that an entry was committed, with this attempt or an earlier one.
    package mutating func committed() { (failures, wasSent) = (0, true) }

    /// Notes that the cluster has an entry with the number of this one, or a later one.
    package mutating func reached() { wasSent = true }

    /// Notes that an attempt has failed; the pauses double up to two seconds.
    package mutating func failed(isSurelyNotWritten: Bool, at now: Int64) {
        if !isSurelyNotWritten { wasSent = true }
        failures += 1
        next = now + min(20_000_000 << Int64(min(failures, 7)), 2_000_000_000)
    }

    /// Lets the next attempt wait until a time.
    package mutating func wait(until time: Int64) { next = time }
}
