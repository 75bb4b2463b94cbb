// Imports nothing: no file, clock or process.

/// A moment on both clocks, in nanoseconds: deadlines use the monotonic clock, budgets and timelines the wall clock.
package struct Moment: Hashable, Sendable {
    /// The time since some fixed moment.
    package var monotonic: Int64
    /// The time since 1970.
    package var wall: Int64

    package init(monotonic: Int64, wall: Int64) { (self.monotonic, self.wall) = (monotonic, wall) }

    /// Returns when a moment of the wall clock will have come, unless the wall clock is set before.
    func monotonic(ofWall time: Int64) -> Int64 {
        let (left, overflow) = time.subtractingReportingOverflow(wall)
        if overflow { return time > wall ? .max : monotonic }
        return monotonic.adding(max(0, left))
    }
}

extension Int64 {
    /// Returns the sum, or `.max` on overflow: a deadline that is too far away never comes.
    func adding(_ time: Int64) -> Int64 {
        let (sum, overflow) = addingReportingOverflow(time)
        return overflow ? .max : sum
    }
}
