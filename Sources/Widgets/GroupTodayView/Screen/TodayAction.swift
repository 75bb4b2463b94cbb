// Imports nothing: no file, clock or process.

/// The action that a key requests.
package enum TodayAction: Hashable, Sendable {
    /// A command for the host.
    case command(UserCommand)
    /// Draw the whole screen, whatever the terminal shows.
    case redrawAll
    /// Give the terminal back until the program is continued.
    case suspend
}

/// A widget that can be put on the list.
package struct KnownWidget: Hashable, Sendable {
    package var kind: String
    package var title: String

    package init(kind: String, title: String) { (self.kind, self.title) = (kind, title) }
}

/// The current time, for people.
package struct TodayMoment: Hashable, Sendable {
    /// Nanoseconds since 1970.
    package var now: Int64
    /// The offset of the local time, in seconds; east is positive.
    package var secondsFromGMT: Int64

    package init(now: Int64, secondsFromGMT: Int64 = 0) { (self.now, self.secondsFromGMT) = (now, secondsFromGMT) }
}
