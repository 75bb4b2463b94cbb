/// A text that says how much time is left or has passed, and when it becomes another one. Times in nanoseconds.
package struct TimeText: Hashable, Sendable {
    package let text: String
    /// The first moment at which the text is another one; nil: it stays.
    package let until: Int64?

    private static let second: Int64 = 1_000_000_000

    /// As a clock that runs backwards: `4:05`, `3:04:05`, `2 d 3 h`, and `0:00` once it is over.
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

    /// `4 s`, `5 min`, `2 h`, `3 d`, rounded up; `0 s` once it is over.
    package static func left(until date: Int64, at now: Int64) -> TimeText {
        let seconds = secondsLeft(until: date, at: now)
        if seconds <= 0 { return TimeText(text: "0 s", until: nil) }
        let (size, name) = unit(of: seconds)
        let count = (seconds + size - 1) / size
        // The last of a larger unit ends where the smaller one begins.
        let rest = count == 1 && size > 1 ? size - 1 : (count - 1) * size
        return TimeText(text: "\(count) \(name)", until: date - rest * second)
    }

    /// The same for what has passed, rounded down.
    package static func age(since date: Int64, at now: Int64) -> TimeText {
        let (passed, overflow) = now.subtractingReportingOverflow(date)
        // Centuries, at most: so that nothing overflows.
        let most: Int64 = 9_000_000_000
        let seconds = overflow ? (now > date ? most : 0) : min(max(0, passed / second), most)
        let (size, name) = unit(of: seconds)
        let count = seconds / size
        let (until, isNever) = date.addingReportingOverflow((count + 1) * size * second)
        return TimeText(text: "\(count) \(name)", until: isNever || seconds == most ? nil : until)
    }

    /// Rounded up.
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
