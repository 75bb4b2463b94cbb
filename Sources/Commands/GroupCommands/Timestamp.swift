import GroupBytes
package import GroupCommandLine
package import GroupSystemCalls

/// How times are shown to people.
package enum TimeStyle: String, Sendable, CaseIterable {
    /// `10:00:00.123`
    case clock
    /// `3 s ago`, `yesterday 14:02`
    case relative
    /// `2026-11-20T10:00:00.123Z`
    case iso

    /// The option that chooses.
    package static func option(default style: TimeStyle) -> OptionSpecification {
        .value(
            "time", "STYLE", choices: allCases.map(\.rawValue),
            help:
                "How to show times on a terminal: clock (10:00:00.123), relative (3 s ago, yesterday 14:02) or iso (as in --json). The default is \(style)."
        )
    }

    /// Returns the style that the option names.
    package static func chosen(_ arguments: ParsedArguments, default style: TimeStyle) throws(UsageError) -> TimeStyle {
        guard let text = try arguments.text("time") else { return style }
        if let style = TimeStyle(rawValue: text) { return style }
        throw arguments.usageError(
            "--time: '\(PipeText.escaped(Array(text.utf8)))' is none of \(allCases.map(\.rawValue).joined(separator: ", "))"
        )
    }

    /// The characters of the longest time.
    var width: Int {
        switch self {
        case .clock: 12
        case .relative: 16
        case .iso: 24
        }
    }

    /// Returns a time, in nanoseconds since 1970, as text that is filled up to the width.
    package func column(_ nanoseconds: Int64?) -> String {
        let text = nanoseconds.map { self.text($0) } ?? ""
        return text + String(repeating: " ", count: max(0, width - text.count))
    }

    /// Returns the time of a file as text that is filled up to the width; blank for one that 64 bits of nanoseconds do
    /// not hold.
    package func column(_ time: FileTime?) -> String {
        let isHeld = time.map { (-9_000_000_000..<9_000_000_000).contains($0.seconds) } ?? false
        return column(isHeld ? time.map { $0.seconds * 1_000_000_000 + $0.nanoseconds } : nil)
    }

    private func text(_ nanoseconds: Int64) -> String {
        switch self {
        case .clock: Timestamp.ofDay(nanoseconds)
        case .relative: Timestamp.relative(nanoseconds, now: wallNanoseconds())
        case .iso: Timestamp.text(nanoseconds)
        }
    }
}

/// Times as text.
package enum Timestamp {
    /// Returns `2026-11-20T10:00:00.123Z`, in UTC, from nanoseconds since 1970.
    package static func text(_ nanoseconds: Int64) -> String {
        // Not by multiplying: the seconds of the smallest number are rounded down, and as nanoseconds below it.
        let part = nanoseconds % 1_000_000_000
        return text(seconds: seconds(nanoseconds), nanoseconds: part < 0 ? part + 1_000_000_000 : part)
    }

    /// Returns whole seconds since 1970, rounded down, from nanoseconds.
    package static func seconds(_ nanoseconds: Int64) -> Int64 {
        nanoseconds / 1_000_000_000 - (nanoseconds % 1_000_000_000 < 0 ? 1 : 0)
    }

    /// Returns the same for the date of a file; nil for one whose year does not have four digits.
    package static func text(_ time: FileTime) -> String? {
        let years: ClosedRange<Int64> = -62_167_219_200...253_402_300_799
        return years.contains(time.seconds) ? text(seconds: time.seconds, nanoseconds: time.nanoseconds) : nil
    }

    private static func text(seconds: Int64, nanoseconds: Int64) -> String {
        let time = CalendarTime(secondsSince1970: seconds)
        let milliseconds = nanoseconds / 1_000_000
        return "\(digits(time.year, 4))-\(digits(time.month, 2))-\(digits(time.day, 2))T"
            + "\(digits(time.hour, 2)):\(digits(time.minute, 2)):\(digits(time.second, 2)).\(digits(Int(milliseconds), 3))Z"
    }

    /// Returns `10:00:00.123`, in this machine's time zone, for a terminal.
    package static func ofDay(_ nanoseconds: Int64) -> String {
        local("%H:%M:%S", seconds(nanoseconds)) + text(nanoseconds).dropFirst(19).dropLast()
    }

    /// Returns a rounded duration: `0.4 s`, `12 s`, `3 min`, `5 h` or `2 d`.
    package static func duration(_ nanoseconds: Int64) -> String {
        let tenths = max(0, nanoseconds) / 100_000_000
        return switch tenths {
        case ..<100: "\(tenths / 10).\(tenths % 10) s"
        case ..<1_200: "\(tenths / 10) s"
        case ..<72_000: "\(tenths / 600) min"
        case ..<1_728_000: "\(tenths / 36_000) h"
        default: "\(tenths / 864_000) d"
        }
    }

    /// Returns `now`, `3 s ago`, `5 min ago`, `today 14:02`, `yesterday 14:02` or `2026-11-20 14:02`, in this machine's
    /// time zone.
    package static func relative(_ nanoseconds: Int64, now: Int64) -> String {
        let (seconds, present) = (seconds(nanoseconds), seconds(now))
        switch present - seconds {
        case 0: return "now"
        case 1..<60: return "\(present - seconds) s ago"
        case 60..<3_600: return "\((present - seconds) / 60) min ago"
        default: break
        }
        let day = local("%Y-%m-%d", seconds)
        if day == local("%Y-%m-%d", present) { return "today " + local("%H:%M", seconds) }
        // Half a day before this day's midnight is yesterday, however long a day is.
        let clock = local("%H:%M:%S", present).split(separator: ":").compactMap { Int64($0) }
        let sinceMidnight = clock.reduce(0) { $0 * 60 + $1 }
        let yesterday = local("%Y-%m-%d", present - sinceMidnight - 43_200)
        return (day == yesterday ? "yesterday " : day + " ") + local("%H:%M", seconds)
    }

    private static func local(_ format: String, _ seconds: Int64) -> String {
        String(decoding: localTime(Array(format.utf8), secondsSince1970: seconds) ?? [], as: UTF8.self)
    }

    private static func digits(_ number: Int, _ width: Int) -> String {
        let text = String(number)
        return String(repeating: "0", count: max(0, width - text.count)) + text
    }
}
