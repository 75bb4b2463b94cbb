package import GroupSystemCalls

/// Times as text.
package enum Timestamp {
    /// Returns `2026-11-20T10:00:00.123Z`, in UTC, from nanoseconds since 1970.
    package static func text(_ nanoseconds: Int64) -> String {
        let seconds = Self.seconds(nanoseconds)
        return text(seconds: seconds, nanoseconds: nanoseconds - seconds * 1_000_000_000)
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
        let time = String(
            decoding: localTime(Array("%H:%M:%S".utf8), secondsSince1970: seconds(nanoseconds)) ?? [], as: UTF8.self)
        return time + text(nanoseconds).dropFirst(19).dropLast()
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

    private static func digits(_ number: Int, _ width: Int) -> String {
        let text = String(number)
        return String(repeating: "0", count: max(0, width - text.count)) + text
    }
}
