// Imports nothing: no file, clock or process.

/// The attempts to commit the entry in flight: one at a time, with pauses after failures.
///
/// An answer may be lost, so an attempt that has failed may still have committed the entry. Until this machine has read
/// the log, the entry can only be given up by an empty one that competes for its number: see `ClusterOutbox.giveUp`.
///
/// All times are nanoseconds of one clock of the caller.
package struct CommitAttempts: Equatable, Sendable {
    /// The request that is at etcd; nil while the entry in flight waits for its next attempt.
    private var atEtcd: CommitRequest?
    /// Whether an attempt that is over may have committed the entry.
    private var wasSent = true
    /// The time from which on the next attempt may begin.
    package private(set) var next: Int64 = 0
    private var backoff = Backoff.etcd

    /// Begins with an entry in flight that the last run of the program may have committed.
    package init() {}

    /// Whether a request is at etcd.
    package var isAwaited: Bool { atEtcd != nil }

    /// Whether an attempt may have reached etcd, or is on its way.
    package var mayBeCommitted: Bool { wasSent || isAwaited }

    /// Notes that another entry is in flight, and was not sent yet.
    package mutating func begin() { wasSent = false }

    /// Notes that a request is on its way.
    package mutating func sent(_ request: CommitRequest) { atEtcd = request }

    /// Notes that the attempt with a request is over.
    package mutating func ended(_ request: CommitRequest) { if atEtcd == request { atEtcd = nil } }

    /// Notes that the entry was committed, by this attempt or an earlier one.
    package mutating func committed() {
        backoff.succeeded()
        wasSent = true
    }

    /// Notes that the cluster has an entry with this number, or with a later one.
    package mutating func reached() { wasSent = true }

    /// Notes that an attempt has failed.
    package mutating func failed(isSurelyNotWritten: Bool, at now: Int64) {
        if !isSurelyNotWritten { wasSent = true }
        _ = backoff.failed(at: now)
        next = backoff.next
    }

    /// Delays the next attempt until a time.
    package mutating func wait(until time: Int64) { next = time }
}

/// The limit for the used part of etcd's database, from which on nothing is sent.
///
/// The used part shrinks by itself now and then: pages that a write of etcd has replaced count as used until its next
/// write. So after the limit was exceeded, sending goes on only when an eighth of it is free; otherwise this machine
/// would stop and go on by turns.
package struct RoomLimit: Equatable, Sendable {
    /// In bytes. What is above it is too much.
    package let limit: UInt64
    package private(set) var isExceeded = false

    package init(_ limit: UInt64) { self.limit = limit }

    /// The size, in bytes, above which nothing is sent.
    package var bound: UInt64 { isExceeded ? limit - limit / 8 : limit }

    /// Notes the size of the used part, in bytes. Returns whether it is too much for an entry to be sent.
    package mutating func exceeded(by used: UInt64) -> Bool {
        isExceeded = used > bound
        return isExceeded
    }
}
