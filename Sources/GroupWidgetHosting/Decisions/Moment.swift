/// Now, by both clocks: deadlines are of the one that does not jump, budgets and timelines of the one on the wall.
/// Nanoseconds both.
package struct Moment: Hashable, Sendable {
    /// Since some fixed moment.
    package var monotonic: Int64
    /// Since 1970.
    package var wall: Int64

    package init(monotonic: Int64, wall: Int64) { (self.monotonic, self.wall) = (monotonic, wall) }

    /// When to look whether that moment of the clock on the wall has come: at the latest after a minute, as somebody may
    /// set that clock.
    func monotonic(ofWall time: Int64) -> Int64 {
        let (left, overflow) = time.subtractingReportingOverflow(wall)
        if overflow { return time > wall ? monotonic.adding(60_000_000_000) : monotonic }
        return monotonic.adding(max(0, min(left, 60_000_000_000)))
    }
}

extension Int64 {
    /// Saturated: a deadline that is too far away never comes.
    func adding(_ time: Int64) -> Int64 {
        let (sum, overflow) = addingReportingOverflow(time)
        return overflow ? .max : sum
    }
}
