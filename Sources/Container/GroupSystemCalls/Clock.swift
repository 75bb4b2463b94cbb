import CGroupLinux
#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// Returns the nanoseconds since some fixed moment. The clock does not jump, and goes on while the machine is
/// suspended, so that a deadline is right for its user. System calls: clock_gettime(CLOCK_BOOTTIME)
package func monotonicNanoseconds() -> Int64 { nanoseconds(of: CLOCK_BOOTTIME) }

/// Returns the nanoseconds since some fixed moment, without the time for which the machine was suspended: for how long
/// another process had the time to reply. System calls: clock_gettime(CLOCK_MONOTONIC)
package func awakeNanoseconds() -> Int64 { nanoseconds(of: CLOCK_MONOTONIC) }

/// Returns the nanoseconds since 1970. The clock may be set at any time, so a stored moment may be in the future.
/// System calls: clock_gettime(CLOCK_REALTIME)
package func wallNanoseconds() -> Int64 { nanoseconds(of: CLOCK_REALTIME) }

private func nanoseconds(of clock: clockid_t) -> Int64 {
    var time = timespec()
    unsafe clock_gettime(clock, &time)
    return clinux_nanoseconds(Int64(time.tv_sec), Int64(time.tv_nsec))
}

/// Whether nanoseconds since 1970 are the moment itself. A moment before 1960 or after 2252 counts as the first or the
/// last of that time, which is no date to show to people. The lowest bits of a database's dates are a checksum, so that
/// a second next to the limits is left out, too.
package func isMoment(_ nanoseconds: Int64) -> Bool {
    let (first, last) = (clinux_nanoseconds(.min, 0), clinux_nanoseconds(.max, 0))
    return nanoseconds > first + 1_000_000_000 && nanoseconds < last - 1_000_000_000
}

/// Sleeps for a time. System calls: nanosleep(2)
package func pause(nanoseconds: Int64) {
    var time = timespec(tv_sec: Int(nanoseconds / 1_000_000_000), tv_nsec: Int(nanoseconds % 1_000_000_000))
    var left = timespec()
    while unsafe nanosleep(&time, &left) == -1 && errno == EINTR { time = left }  // allowed: the wrapper itself
}

/// A moment as people write it, in UTC. Library calls: gmtime_r(3)
package struct CalendarTime: Sendable {
    package let year, month, day, hour, minute, second: Int

    package init(secondsSince1970: Int64) {
        var seconds = time_t(secondsSince1970)
        var parts = unsafe tm()
        unsafe gmtime_r(&seconds, &parts)
        unsafe (year, month, day) = (Int(parts.tm_year) + 1_900, Int(parts.tm_mon) + 1, Int(parts.tm_mday))
        unsafe (hour, minute, second) = (Int(parts.tm_hour), Int(parts.tm_min), Int(parts.tm_sec))
    }
}

/// Gives times the user's names of days and months, and the user's order, by `LC_ALL`, `LC_TIME` and `LANG`. Takes
/// nothing else from a locale. To be called before there are other threads. Library calls: setlocale(3)
package func takeLocaleOfTimes() { unsafe _ = setlocale(LC_TIME, "") }

/// Returns a moment as strftime(3) writes it in this machine's time zone; nil where that is `limit` bytes or more.
/// Library calls: localtime_r(3), strftime(3)
package func localTime(_ format: [UInt8], secondsSince1970: Int64, limit: Int = 65_536) -> [UInt8]? {
    var seconds = time_t(secondsSince1970)
    var parts = unsafe tm()
    unsafe localtime_r(&seconds, &parts)
    // strftime returns 0 for an empty text, and for a buffer that is too small: with a space before it, no text is
    // empty.
    let marked = [UInt8(ascii: " ")] + format
    var size = min(1_024, limit)
    while true {
        var text = [CChar](repeating: 0, count: size)
        let count = unsafe withCString(marked) { unsafe strftime(&text, size, $0, &parts) }
        if count > 0 { return text[1..<count].map { UInt8(bitPattern: $0) } }
        if size >= limit { return nil }
        size = min(size * 4, limit)
    }
}

extension Duration {
    /// The duration in nanoseconds, rounded towards zero; the largest or smallest number where it is too long.
    package var nanoseconds: Int64 {
        let (seconds, attoseconds) = components
        let (whole, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        if overflow { return seconds < 0 ? .min : .max }
        let (sum, sumOverflow) = whole.addingReportingOverflow(attoseconds / 1_000_000_000)
        return sumOverflow ? (seconds < 0 ? .min : .max) : sum
    }
}
