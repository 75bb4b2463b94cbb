import GroupSystemCalls

/// Times as text.
package enum Timestamp {
    /// Returns `2026-11-20T10:00:00.123Z`, in UTC, from nanoseconds since 1970.
    package static func text(_ nanoseconds: Int64) -> String {
        let (seconds, rest) = nanoseconds.quotientAndRemainder(dividingBy: 1_000_000_000)
        let time = CalendarTime(secondsSince1970: rest < 0 ? seconds - 1 : seconds)
        let milliseconds = (rest < 0 ? rest + 1_000_000_000 : rest) / 1_000_000
        return "\(digits(time.year, 4))-\(digits(time.month, 2))-\(digits(time.day, 2))T"
            + "\(digits(time.hour, 2)):\(digits(time.minute, 2)):\(digits(time.second, 2)).\(digits(Int(milliseconds), 3))Z"
    }

    /// Returns `10:00:00.123`, in this machine's time zone, for a terminal.
    package static func ofDay(_ nanoseconds: Int64) -> String {
        let seconds = nanoseconds / 1_000_000_000 - (nanoseconds % 1_000_000_000 < 0 ? 1 : 0)
        let time = String(decoding: localTime(Array("%H:%M:%S".utf8), secondsSince1970: seconds) ?? [], as: UTF8.self)
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
