/// What a key asks for.
package enum TodayAction: Hashable, Sendable {
    /// The host's to do.
    case command(UserCommand)
    /// What is on the terminal may be anything: draw all of it.
    case redrawAll
    /// Give the terminal back until somebody continues the program.
    case suspend
}

/// A widget that can be put on the list.
package struct KnownWidget: Hashable, Sendable {
    package var kind: String
    package var title: String

    package init(kind: String, title: String) { (self.kind, self.title) = (kind, title) }
}

/// What the terminal and its user can do with text.
package struct TodayLook: Hashable, Sendable {
    package var isColored: Bool
    /// Its characters are UTF-8.
    package var isUnicode: Bool

    package init(isColored: Bool = true, isUnicode: Bool = true) {
        (self.isColored, self.isUnicode) = (isColored, isUnicode)
    }
}

/// Now, for people.
package struct TodayMoment: Hashable, Sendable {
    /// Nanoseconds since 1970.
    package var now: Int64
    /// Of the local time, in seconds; east is positive.
    package var secondsFromGMT: Int64

    package init(now: Int64, secondsFromGMT: Int64 = 0) { (self.now, self.secondsFromGMT) = (now, secondsFromGMT) }
}
