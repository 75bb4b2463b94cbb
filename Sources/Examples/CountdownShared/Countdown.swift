package import FoundationEssentials
package import GroupContainer

/// A countdown as the app leaves it: how much time was left, and when. The widget continues from there.
package struct Countdown: Codable, Equatable, Sendable {
    /// The time that was left, in seconds.
    package var remaining: Double
    package var savedAt: Date

    package init(remaining: Double, savedAt: Date) { (self.remaining, self.savedAt) = (remaining, savedAt) }

    package var end: Date { savedAt.addingTimeInterval(max(0, remaining)) }

    package func remaining(at now: Date) -> Double { max(0, end.timeIntervalSince(now)) }

    package static let suite = "countdown"
    package static let scheme = "countdown"
}

extension GroupDefaults.Key<Countdown> {
    /// The key of the countdown that was saved last.
    package static let countdown = Self("countdown", default: Countdown(remaining: 0, savedAt: .distantPast))
}

extension GroupDefaults {
    /// Returns the saved countdown; nil if there is none.
    package func presentCountdown() throws -> Countdown? {
        try readVersion(forKey: "countdown").value == nil ? nil : read(.countdown)
    }
}
