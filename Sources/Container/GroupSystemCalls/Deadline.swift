/// The moment until which a request may wait, on the monotonic clock, so that a jump of the wall clock changes nothing.
package struct Deadline: Sendable {
    /// Nanoseconds of the monotonic clock.
    package let moment: Int64
    /// The duration from which the deadline was made, for errors; nil for a deadline that never comes.
    package let timeout: Duration?

    package static let never = Deadline(after: nil)

    /// Creates a deadline. With `nil` it never comes; zero or less allows one try.
    package init(after timeout: Duration?) {
        self.timeout = timeout
        guard let timeout else {
            moment = .max
            return
        }
        let (sum, overflow) = monotonicNanoseconds().addingReportingOverflow(max(0, timeout.nanoseconds))
        moment = overflow ? .max : sum
    }

    /// The remaining time in nanoseconds; nil for a deadline that never comes; 0 once the deadline is over.
    package var remaining: Int64? { moment == .max ? nil : max(0, moment - monotonicNanoseconds()) }

    package var isOver: Bool { remaining == 0 }
}
