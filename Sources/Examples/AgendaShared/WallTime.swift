package import Foundation

/// A time as a clock on a wall shows it: a day, and the seconds since its beginning. Repetitions are counted in it, and
/// not in moments: an appointment at nine stays at nine when the clocks change.
package struct WallTime: Comparable, Sendable {
    /// The days since 1970-01-01.
    package var day: Int
    package var second: Int

    package init(day: Int, second: Int = 0) { (self.day, self.second) = (day, second) }

    /// Creates the time that clocks of a zone show at a moment.
    package init(_ date: Date, in zone: TimeZone) {
        let seconds = Int(date.timeIntervalSince1970.rounded(.down)) + zone.secondsFromGMT(for: date)
        day = Int((Double(seconds) / 86_400).rounded(.down))
        second = seconds - day * 86_400
    }

    /// Parses `19970714T133000`, and `19970714`, which is the beginning of a day; nil for another text.
    static func parsed(_ text: some StringProtocol) -> (time: WallTime, hasTime: Bool)? {
        let parts = text.split(separator: "T", omittingEmptySubsequences: false).map { Array($0.utf8) }
        guard let date = parts.first, parts.count <= 2, date.count == 8,
            let year = number(date[0..<4]), let month = number(date[4..<6]), let day = number(date[6..<8]),
            year > 0, 1...12 ~= month, 1...days(inMonth: month, of: year) ~= day
        else { return nil }
        var time = WallTime(day: self.day(year, month, day))
        if parts.count == 1 { return (time, false) }
        guard parts[1].count == 6, let hour = number(parts[1][0..<2]), let minute = number(parts[1][2..<4]),
            let second = number(parts[1][4..<6]), hour < 24, minute < 60, second <= 60
        else { return nil }
        time.second = hour * 3_600 + minute * 60 + min(second, 59)
        return (time, true)
    }

    private static func number(_ digits: ArraySlice<UInt8>) -> Int? {
        digits.allSatisfy { 0x30...0x39 ~= $0 } ? Int(String(decoding: digits, as: UTF8.self)) : nil
    }

    package static func < (a: WallTime, b: WallTime) -> Bool { (a.day, a.second) < (b.day, b.second) }

    /// Returns the moment at which clocks of a zone show this time: the first one if there are two, and the one that an
    /// hour later would be if there is none, as the clocks are put forward then (RFC 5545, section 3.3.5).
    package func date(in zone: TimeZone) -> Date {
        let seconds = Double(day * 86_400 + second)
        let before = zone.secondsFromGMT(for: Date(timeIntervalSince1970: seconds - 86_400))
        let first = Date(timeIntervalSince1970: seconds - Double(before))
        let after = zone.secondsFromGMT(for: first)
        if after == before { return first }
        let second = Date(timeIntervalSince1970: seconds - Double(after))
        return zone.secondsFromGMT(for: second) == after ? second : first
    }

    /// The day of the week: 0 is Monday.
    package var weekday: Int { Self.modulo(day + 3, 7) }

    /// The year, month and day of the month.
    package var parts: (year: Int, month: Int, day: Int) {
        // Counted from 0000-03-01, a leap day is the last day of its year. The 400 years of the calendar's cycle have
        // 146,097 days.
        let shifted = day + 719_468
        let dayOfCycle = Self.modulo(shifted, 146_097)
        let cycle = (shifted - dayOfCycle) / 146_097
        let yearOfCycle = (dayOfCycle - dayOfCycle / 1_460 + dayOfCycle / 36_524 - dayOfCycle / 146_096) / 365
        let dayOfYear = dayOfCycle - (365 * yearOfCycle + yearOfCycle / 4 - yearOfCycle / 100)
        let monthFromMarch = (5 * dayOfYear + 2) / 153
        let month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
        let year = yearOfCycle + cycle * 400 + (month <= 2 ? 1 : 0)
        return (year, month, dayOfYear - (153 * monthFromMarch + 2) / 5 + 1)
    }

    /// Returns the number of a day; the inverse of `parts`.
    package static func day(_ year: Int, _ month: Int, _ day: Int) -> Int {
        let year = month <= 2 ? year - 1 : year
        let yearOfCycle = modulo(year, 400)
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        let dayOfCycle = yearOfCycle * 365 + yearOfCycle / 4 - yearOfCycle / 100 + dayOfYear
        return (year - yearOfCycle) / 400 * 146_097 + dayOfCycle - 719_468
    }

    static func days(inMonth month: Int, of year: Int) -> Int {
        month == 12 ? 31 : day(year, month + 1, 1) - day(year, month, 1)
    }

    static func modulo(_ number: Int, _ divisor: Int) -> Int { (number % divisor + divisor) % divisor }
}
