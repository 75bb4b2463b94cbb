// Imports nothing: no file, clock or process.

/// The pauses between the tries of work that fails. Each pause is twice as long as the one before, up to a bound. After
/// the work has succeeded, or after a longer time without a failure, the pauses are short again.
///
/// All times are nanoseconds of one clock of the caller.
package struct Backoff: Equatable, Sendable {
    /// The shortest and the longest pause, in nanoseconds.
    private let pauses: ClosedRange<Int64>
    private var pause: Int64 = 0
    /// The number of failed tries since the last success.
    package private(set) var failures = 0
    /// The time of the next try; a time in the past means at once.
    package private(set) var next: Int64 = 0

    /// The pauses of work that needs etcd. An election takes some tenths of a second.
    package static let etcd = Backoff(pauses: 40_000_000...2_000_000_000)
    /// The pauses of work that lacks room on the disk. They are long, since a try may write as much as there is room
    /// for.
    package static let room = Backoff(pauses: 1_000_000_000...30_000_000_000)

    private init(pauses: ClosedRange<Int64>) { self.pauses = pauses }

    /// Notes a failure. All failures before the next try count as one. Returns whether this one has moved the next try.
    package mutating func failed(at now: Int64) -> Bool {
        if now < next { return false }
        let isNew = pause == 0 || now - next > pauses.upperBound
        pause = isNew ? pauses.lowerBound : min(pause * 2, pauses.upperBound)
        failures += 1
        next = now + pause
        return true
    }

    /// Notes a failure that will last. The next try is after `pause`, unless one is due earlier already.
    package mutating func failed(at now: Int64, pause: Int64) {
        failures += 1
        if next <= now { next = now + pause }
    }

    /// Notes that the work has succeeded.
    package mutating func succeeded() { (pause, failures) = (0, 0) }
}
