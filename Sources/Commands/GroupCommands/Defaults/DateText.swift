import GroupSystemCalls

/// The text of dates in defaults: ISO 8601 in UTC, `2026-11-20T10:00:00Z`, with a fraction of up to six digits if there
/// is one.
package enum DateText {
    private static let secondsTo2001: Int64 = 978_307_200

    /// Returns the text of a date in seconds since 2001; nil if the year does not have four digits. `isWhole` leaves
    /// the fraction out.
    package static func text(of seconds: Double, isWhole: Bool = false) -> String? {
        guard abs(seconds) < 1e12 else { return nil }
        var whole = seconds.rounded(.down)
        var fraction = isWhole ? 0 : Int(((seconds - whole) * 1_000_000).rounded())
        if fraction == 1_000_000 { (whole, fraction) = (whole + 1, 0) }
        let time = CalendarTime(secondsSince1970: Int64(whole) + secondsTo2001)
        guard (0...9_999).contains(time.year) else { return nil }
        var text =
            "\(digits(time.year, 4))-\(digits(time.month, 2))-\(digits(time.day, 2))T"
            + "\(digits(time.hour, 2)):\(digits(time.minute, 2)):\(digits(time.second, 2))"
        if fraction > 0 {
            var decimals = digits(fraction, 6)
            while decimals.hasSuffix("0") { decimals.removeLast() }
            text += "." + decimals
        }
        return text + "Z"
    }

    /// Returns the seconds since 2001; nil if the text has another form, or names no day of the calendar.
    package static func seconds(of text: String) -> Double? {
        let bytes = Array(text.utf8)
        guard bytes.count >= 20, bytes.last == UInt8(ascii: "Z") else { return nil }
        for (index, mark) in [(4, "-"), (7, "-"), (10, "T"), (13, ":"), (16, ":")] where bytes[index] != mark.utf8.first
        {
            return nil
        }
        let fields = [0..<4, 5..<7, 8..<10, 11..<13, 14..<16, 17..<19].map { number(bytes[$0]) }
        guard fields.allSatisfy({ $0 >= 0 }) else { return nil }
        let (year, month, day) = (fields[0], fields[1], fields[2])
        guard (1...12).contains(month), day >= 1, day <= length(ofMonth: month, year), fields[3] < 24, fields[4] < 60,
            fields[5] < 60
        else { return nil }
        var fraction = 0.0
        if bytes[19] != UInt8(ascii: "Z") {
            guard bytes[19] == UInt8(ascii: "."), bytes.count > 21, number(bytes[20..<(bytes.count - 1)]) >= 0 else {
                return nil
            }
            fraction = Double("0" + String(decoding: bytes[19..<(bytes.count - 1)], as: UTF8.self)) ?? 0
        }
        let seconds = days(to: year, month, day) * 86_400 + fields[3] * 3_600 + fields[4] * 60 + fields[5]
        return Double(seconds) - Double(secondsTo2001) + fraction
    }

    /// Whether a date that is read from a text is printed as the same microsecond. A date is a number of seconds since
    /// 2001 with 53 bits: before 1729 and after 2272 it has coarser steps than a microsecond, and the last moment of
    /// the year 9999 would become the next year. Of more than six digits, which are rounded, the last one may differ.
    package static func keeps(_ text: String) -> Bool {
        guard let seconds = seconds(of: text), let kept = self.text(of: seconds), let wanted = microseconds(of: text),
            let printed = microseconds(of: kept)
        else { return false }
        return abs(wanted.count - printed.count) <= (wanted.isRounded ? 1 : 0)
    }

    /// Returns a date in microseconds since 2001, and whether its text has more digits.
    private static func microseconds(of text: String) -> (count: Int, isRounded: Bool)? {
        let bytes = Array(text.utf8)
        guard bytes.count >= 20, let whole = seconds(of: String(decoding: bytes[..<19], as: UTF8.self) + "Z") else {
            return nil
        }
        let decimals = bytes[19...].dropFirst().dropLast()
        let six = Array(decimals.prefix(6)) + [UInt8](repeating: 0x30, count: max(0, 6 - decimals.count))
        let isUp = decimals.dropFirst(6).first.map { $0 >= 0x35 } ?? false
        return (Int(whole) * 1_000_000 + number(six[...]) + (isUp ? 1 : 0), decimals.count > 6)
    }

    /// Returns -1 if not all bytes are digits.
    private static func number(_ digits: ArraySlice<UInt8>) -> Int {
        digits.reduce(0) { sum, digit in
            sum >= 0 && (0x30...0x39).contains(digit) ? (sum &* 10 &+ Int(digit) - 0x30) & 0xFFFF_FFFF : -1
        }
    }

    private static func length(ofMonth month: Int, _ year: Int) -> Int {
        if month == 2 {
            return year.isMultiple(of: 4) && (!year.isMultiple(of: 100) || year.isMultiple(of: 400)) ? 29 : 28
        }
        return [4, 6, 9, 11].contains(month) ? 30 : 31
    }

    /// Returns the days since 1970, in the Gregorian calendar: Hinnant's `days_from_civil`.
    private static func days(to year: Int, _ month: Int, _ day: Int) -> Int {
        let shifted = month <= 2 ? year - 1 : year
        let era = (shifted >= 0 ? shifted : shifted - 399) / 400
        let ofEra = shifted - era * 400
        let ofYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
        return era * 146_097 + ofEra * 365 + ofEra / 4 - ofEra / 100 + ofYear - 719_468
    }

    private static func digits(_ number: Int, _ width: Int) -> String {
        let text = String(number)
        return String(repeating: "0", count: max(0, width - text.count)) + text
    }
}
