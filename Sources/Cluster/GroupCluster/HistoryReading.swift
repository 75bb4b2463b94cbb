// Imports nothing: no file, clock or process.

/// The state of this machine's connection to the cluster's log, and the time of the next reading.
///
///     away ── begin ──▶ reading ── joined ──▶ following ── lost ──▶ away
///                          ▲                       │
///                          └── an event was missed ┘
///
/// A machine that follows applies each event as it comes. Otherwise events are kept until the reading has ended, and
/// are then compared with what was read. So no entry is applied before the one that precedes it in the log.
///
/// All times are nanoseconds of one clock of the caller.
package struct HistoryReading: Equatable, Sendable {
    /// Whether this machine's history was compared with the cluster's since the connection was made.
    package private(set) var isConnected = false
    /// Whether a reading is on its way.
    package private(set) var isReading = false
    /// Whether everything that the cluster had was folded once.
    package private(set) var hasRead = false
    private var backoff = Backoff.etcd
    /// The number of readings that have failed since the last success.
    package var failures: Int { backoff.failures }
    /// The time from which on the next reading may begin.
    package var next: Int64 { backoff.next }
    private var events: [OrderedEntry] = []

    package init() {}

    /// Begins a reading. Returns false if one is on its way already.
    package mutating func begin() -> Bool {
        if isReading { return false }
        isReading = true
        return true
    }

    /// Notes that a reading has ended, with whatever result.
    package mutating func ended() { isReading = false }

    /// Notes that the cluster has this machine's history. Returns whether the machine was away until now, and the
    /// events that were kept.
    package mutating func joined() -> (isNew: Bool, events: [OrderedEntry]) {
        let result = (!isConnected, events)
        isConnected = true
        hasRead = true
        backoff.succeeded()
        events = []
        return result
    }

    /// Notes that the cluster cannot be reached. Returns whether the machine was connected until now.
    package mutating func lost(at now: Int64) -> Bool {
        defer { isConnected = false }
        _ = backoff.failed(at: now)
        return isConnected
    }

    /// Notes that the cluster refuses this machine. The next reading waits for `pause`, also where refusals of other
    /// requests come meanwhile. Returns whether the cluster was reached until now.
    package mutating func refused(at now: Int64, pause: Int64) -> Bool {
        defer { isConnected = false }
        backoff.failed(at: now, pause: pause)
        return isConnected
    }

    /// Notes that the machine is paused.
    package mutating func stopped() { isConnected = false }

    /// Whether an event is applied at once; otherwise it is kept.
    package var isFollowing: Bool { isConnected && !isReading }

    /// Keeps an event for the end of the reading.
    package mutating func keep(_ event: OrderedEntry) { events.append(event) }

    /// Whether a reading is due, now or at `next`.
    package var isWanted: Bool { !isConnected && !isReading }
}
