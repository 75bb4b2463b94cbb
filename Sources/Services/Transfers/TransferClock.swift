import FoundationEssentials
import GroupContainer
import GroupSystemCalls

/// The wall clock at one moment, and what shows that it was set.
package struct TransferClock: Hashable, Sendable {
    /// A boot of the machine, and when it began by the wall clock. While the machine runs, that time changes only when
    /// the wall clock is set.
    package struct Boot: Codable, Hashable, Sendable {
        let identifier: String
        /// Nanoseconds since 1970.
        let began: Int64

        package init(_ identifier: String, began: Int64) { (self.identifier, self.began) = (identifier, began) }
    }

    /// Nanoseconds since 1970.
    package let wall: Int64
    /// nil if the kernel does not identify the boot.
    let boot: Boot?

    /// Reads the clocks. System calls: clock_gettime(2); those of reading a file in /proc
    package init() {
        let wall = wallNanoseconds()
        let began = wall - monotonicNanoseconds()
        let identifier = try? bootIdentifier()
        self.init(wall: wall, boot: identifier.map { Boot(String(decoding: $0, as: UTF8.self), began: began) })
    }

    package init(wall: Int64, boot: Boot?) { (self.wall, self.boot) = (wall, boot) }
}

extension Transfer {
    /// The longest time between two attempts, in nanoseconds: what a server may request with Retry-After.
    package static let longestPause: Int64 = 3_600_000_000_000
    /// A change of the clock that matters, in nanoseconds. A smaller one is within what reading two clocks takes.
    private static let tolerance: Int64 = 1_000_000_000

    /// Moves the times of the record as the clock was set since they were recorded. Returns whether the record was
    /// changed.
    ///
    /// In the boot of the record, the change of the clock is known. In another boot, only a clock that was set back
    /// shows: the transfer was queued in the future. Its time then begins anew.
    package mutating func follow(_ clock: TransferClock) -> Bool {
        let old = self
        var change: Int64 = 0
        if let recordedIn, let boot = clock.boot, recordedIn.identifier == boot.identifier {
            let (difference, overflow) = boot.began.subtractingReportingOverflow(recordedIn.began)
            if !overflow { change = difference }
        } else {
            change = min(0, clock.wall - queuedAt.nanoseconds)
            recordedIn = clock.boot
        }
        if change.magnitude > Self.tolerance {
            queuedAt = Self.time(queuedAt.timeIntervalSince1970 + Double(change) / 1e9)
            deadline = Self.time(deadline.timeIntervalSince1970 + Double(change) / 1e9)
            let (next, overflow) = nextAttempt.addingReportingOverflow(change)
            nextAttempt = overflow ? 0 : max(0, next)
            recordedIn = clock.boot
        }
        // A longer pause cannot be real.
        if nextAttempt - max(0, clock.wall) > Self.longestPause { nextAttempt = 0 }
        return self != old
    }

    /// Returns the date of a number of seconds since 1970, within the times that a record may have.
    static func time(_ seconds: Double) -> Date {
        Date(timeIntervalSince1970: min(max(seconds, times.lowerBound), times.upperBound))
    }
}
