// Imports nothing: no file, clock or process.

/// Whether this machine follows the cluster's history, and when it reads that anew.
///
///     away ── begin ──▶ reading ── joined ──▶ following ── lost ──▶ away
///
/// A machine that follows also reads anew where an event was missed. While it reads, or is away, events are kept: what
/// they have is compared with what was read.
///
/// Times are nanoseconds of a clock of the caller.
package struct HistoryReading: Equatable, Sendable {
    /// Whether history was compared since the connection was made.
    package private(set) var isConnected = false
    /// Whether a reading is awaited.
    package private(set) var isReading = false
    /// Whether everything that the cluster had was folded once.
    package private(set) var hasRead = false
    /// How many readings have failed in a row.
    package private(set) var failures = 0
    /// The time from which on the next reading may begin.
    package private(set) var next: Int64 = 0
    private var events: [OrderedEntry] = []

    package init() {}

    /// Begins a reading. Returns false if one is awaited already.
    package mutating func begin() -> Bool {
        if isReading { return false }
        isReading = true
        return true
    }

    /// Notes that a reading has ended, whatever it has found.
    package mutating func ended() { isReading = false }

    /// Notes that history is that of this machine. Returns whether it was away until now, and the events that came
    /// meanwhile.
    package mutating func joined() -> (isNew: Bool, events: [OrderedEntry]) {
        let result = (!isConnected, events)
        (isConnected, hasRead, failures, events) = (true, true, 0, [])
        return result
    }

    /// Notes that the cluster is not reached; the pauses between readings double up to two seconds. Returns whether it
    /// was until now.
    package mutating func lost(at now: Int64) -> Bool {
        defer { isConnected = false }
        failures += 1
        next = now + min(20_000_000 << Int64(min(failures, 7)), 2_000_000_000)
        return isConnected
    }

    /// Notes that the machine is paused.
    package mutating func stopped() { isConnected = false }

    /// Whether an event is folded at once; otherwise it is to be kept.
    package var isFollowing: Bool { isConnected && !isReading }

    /// Keeps an event for the end of the reading.
    package mutating func keep(_ event: OrderedEntry) { events.append(event) }

    /// Whether a reading is to be begun, or waits for its time.
    package var isWanted: Bool { !isConnected && !isReading }
}
