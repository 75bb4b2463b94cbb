// Imports nothing: no file, clock or process.

/// A text for the time that is left or has passed, and the moment at which it changes. Times are in nanoseconds.
package struct TimeText: Hashable, Sendable {
    package let text: String
    /// The first moment at which the text is another one; nil if it does not change.
    package let until: Int64?

    private static let second: Int64 = 1_000_000_000

    /// Returns a countdown like that of a clock: `4:05`, `3:04:05`, `2 d 3 h`, and `0:00` once it is over.
    package static func countdown(to date: Int64, at now: Int64) -> TimeText {
        let seconds = secondsLeft(until: date, at: now)
        if seconds <= 0 { return TimeText(text: "0:00", until: nil) }
        if seconds >= 86_400 {
            let hours = (seconds + 3_599) / 3_600
            let text = hours % 24 == 0 ? "\(hours / 24) d" : "\(hours / 24) d \(hours % 24) h"
            return TimeText(text: text, until: date - max((hours - 1) * 3_600, 86_399) * second)
        }
        let minutes = seconds / 60
        let start = minutes < 60 ? "\(minutes)" : "\(minutes / 60):\(twoDigits(minutes % 60))"
        return TimeText(text: "\(start):\(twoDigits(seconds % 60))", until: date - (seconds - 1) * second)
    }

    /// Returns the time left, rounded up: `4 s`, `5 min`, `2 h`, `3 d`; `0 s` once it is over.
    package static func left(until date: Int64, at now: Int64) -> TimeText {
        let seconds = secondsLeft(until: date, at: now)
        if seconds <= 0 { return TimeText(text: "0 s", until: nil) }
        let (size, name) = unit(of: seconds)
        let count = (seconds + size - 1) / size
        // The last count of a larger unit ends where the smaller unit begins.
        let rest = count == 1 && size > 1 ? size - 1 : (count - 1) * size
        return TimeText(text: "\(count) \(name)", until: date - rest * second)
    }

    /// Returns the time passed, rounded down, in the units of `left`.
    package static func age(since date: Int64, at now: Int64) -> TimeText {
        let (passed, overflow) = now.subtractingReportingOverflow(date)
        // The limit, some centuries, prevents an overflow.
        let most: Int64 = 9_000_000_000
        let seconds = overflow ? (now > date ? most : 0) : min(max(0, passed / second), most)
        let (size, name) = unit(of: seconds)
        let count = seconds / size
        let (until, isNever) = date.addingReportingOverflow((count + 1) * size * second)
        return TimeText(text: "\(count) \(name)", until: isNever || seconds == most ? nil : until)
    }

    /// Returns the seconds until a moment, rounded up.
    private static func secondsLeft(until date: Int64, at now: Int64) -> Int64 {
        let (left, overflow) = date.subtractingReportingOverflow(now)
        if overflow { return date > now ? .max / second : 0 }
        return left <= 0 ? 0 : (left - 1) / second + 1
    }

    private static func unit(of seconds: Int64) -> (size: Int64, name: String) {
        if seconds < 60 { return (1, "s") }
        if seconds < 3_600 { return (60, "min") }
        return seconds < 86_400 ? (3_600, "h") : (86_400, "d")
    }

    private static func twoDigits(_ number: Int64) -> String { number < 10 ? "0\(number)" : "\(number)" }
}
