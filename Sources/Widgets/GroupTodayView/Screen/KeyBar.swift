// Imports nothing: no file, clock or process.

/// The last row of the screen: the keys, or a notice.
struct KeyBar {
    private let look: TodayLook

    init(_ look: TodayLook) { self.look = look }

    /// Returns a row with as many of `keys` as fit, then help and quit, then `end`. Where the row is too narrow for
    /// these, it is clipped.
    func row(_ keys: [(key: String, meaning: String)], end: String, width: Int) -> [Cell] {
        let last = entry("?", "help") + space + entry("q", "quit")
        let endCells = cells(end, .faint)
        let tail = endCells.isEmpty ? last : last + space + endCells
        var row = cells(" ")
        for (key, meaning) in keys {
            let next = entry(key, meaning) + space
            if row.count + next.count + tail.count > width { break }
            row += next
        }
        return row + tail.clipped(to: max(0, width - row.count))
    }

    /// Returns a row with a notice instead of the keys.
    func row(notice text: String, width: Int) -> [Cell] {
        cells(" \(text)", CellStyle(.yellow)).clipped(to: width)
    }

    private var space: [Cell] { cells("  ") }

    private func entry(_ key: String, _ meaning: String) -> [Cell] {
        cells(key, .bold) + cells(" \(meaning)", .faint)
    }

    private func cells(_ text: String, _ style: CellStyle = .plain) -> [Cell] {
        Cell.of(text, style, isUnicode: look.isUnicode)
    }
}

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

/// What the terminal and its user support.
package struct TodayLook: Hashable, Sendable {
    package var isColored: Bool
    /// Whether the terminal's characters are UTF-8.
    package var isUnicode: Bool

    package init(isColored: Bool = true, isUnicode: Bool = true) {
        self.isColored = isColored
        self.isUnicode = isUnicode
    }
}

/// The current time, for people.
package struct TodayMoment: Hashable, Sendable {
    /// Nanoseconds since 1970.
    package var now: Int64
    /// The offset of the local time, in seconds; east is positive.
    package var secondsFromGMT: Int64

    package init(now: Int64, secondsFromGMT: Int64 = 0) { (self.now, self.secondsFromGMT) = (now, secondsFromGMT) }
}
