import Foundation

/// The days on which an event repeats (RFC 5545, section 3.3.10), for events that repeat daily or less often.
///
/// Foundation's `Calendar.RecurrenceRule` does not do for files of others: that of Swift 6.3.1 gives a wrong day for the
/// rules `BYDAY=-2MO` (November 1997) and `BYSETPOS=-1`, and its search for `FREQ=YEARLY;BYDAY=20MO` does not end.
struct RecurrenceRule {
    enum Frequency: String {
        case daily, weekly, monthly, yearly
    }

    /// A day of the week, 0 for Monday, and which of the month or year it is: the first (1), the last (-1), each (0).
    struct Weekday: Equatable {
        var ordinal: Int
        var weekday: Int
    }

    let frequency: Frequency
    private(set) var interval = 1
    private(set) var count: Int?
    private(set) var until: (time: WallTime, zone: TimeZone?)?
    private var weekdays: [Weekday] = []
    private var monthDays: [Int] = []
    private var months: [Int] = []
    private var positions: [Int] = []
    private var weekStart = 0

    /// Parses a rule. Throws a `Fault` for one that cannot be followed: it is better to show no event than on wrong days.
    init(_ text: String) throws(Fault) {
        var fields: [String: String] = [:]
        for part in text.uppercased().split(separator: ";") {
            let pair = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard pair.count == 2 else { throw Fault("RRULE has '\(part.prefix(40))'") }
            fields[String(pair[0])] = String(pair[1])
        }
        guard let name = fields.removeValue(forKey: "FREQ"), let frequency = Frequency(rawValue: name.lowercased())
        else { throw Fault("RRULE repeats neither daily, weekly, monthly nor yearly") }
        self.frequency = frequency
        for (name, value) in fields {
            switch name {
            case "INTERVAL": interval = try Self.numbers(value, 1...100_000, name)[0]
            case "COUNT": count = try Self.numbers(value, 1...1_000_000, name)[0]
            case "UNTIL": until = try Self.until(value)
            case "BYDAY": weekdays = try Self.weekdays(value)
            case "BYMONTHDAY": monthDays = try Self.numbers(value, -31...31, name)
            case "BYMONTH": months = try Self.numbers(value, 1...12, name)
            case "BYSETPOS": positions = try Self.numbers(value, -366...366, name)
            case "WKST": weekStart = try Self.weekdays(value)[0].weekday
            default: throw Fault("RRULE has \(name.prefix(40))")
            }
        }
    }

    private static func numbers(_ text: String, _ range: ClosedRange<Int>, _ name: String) throws(Fault) -> [Int] {
        let numbers = text.split(separator: ",").compactMap { Int($0) }.filter { range.contains($0) && $0 != 0 }
        guard !numbers.isEmpty, numbers.count == text.utf8.count(where: { $0 == UInt8(ascii: ",") }) + 1,
            numbers.count <= 100
        else { throw Fault("RRULE has \(name)=\(text.prefix(40))") }
        return numbers
    }

    private static func weekdays(_ text: String) throws(Fault) -> [Weekday] {
        let names = ["MO", "TU", "WE", "TH", "FR", "SA", "SU"]
        let parts = text.split(separator: ",")
        let days = parts.compactMap { part -> Weekday? in
            guard let weekday = names.firstIndex(of: String(part.suffix(2))) else { return nil }
            let number = part.dropLast(2)
            guard let ordinal = number.isEmpty ? 0 : Int(number), abs(ordinal) <= 53 else { return nil }
            return Weekday(ordinal: ordinal, weekday: weekday)
        }
        guard !days.isEmpty, days.count == parts.count, days.count <= 100 else {
            throw Fault("RRULE has BYDAY=\(text.prefix(40))")
        }
        return days
    }

    /// A date is the end of that day; with a `Z`, a time is one of UTC; else one of the event's zone.
    private static func until(_ text: String) throws(Fault) -> (WallTime, TimeZone?) {
        let isUTC = text.hasSuffix("Z")
        guard let (parsed, hasTime) = WallTime.parsed(isUTC ? text.dropLast() : text[...]) else {
            throw Fault("RRULE has UNTIL=\(text.prefix(40))")
        }
        if !hasTime { return (WallTime(day: parsed.day, second: 86_399), nil) }
        return (parsed, isUTC ? .gmt : nil)
    }

    /// Calls `visit` with each day of the rule from `first` to `last`, in order, until it returns false. `start` is the
    /// event's. Each step takes from `work`, so that no rule of a foreign file takes for ever; false once it is used up.
    func forEachDay(
        of start: WallTime, in zone: TimeZone, from first: Int, through last: Int, work: inout Int,
        _ visit: (Int) -> Bool
    ) -> Bool {
        let end = until.map { until in until.zone.map { WallTime(until.time.date(in: $0), in: zone) } ?? until.time }
        var period = count == nil ? periodsToSkip(start, until: first) : 0
        var number = 0
        while work > 0 {
            let (begin, days, cost) = days(ofPeriod: period, start)
            if begin > last { return true }
            for day in days where day >= start.day {
                number += 1
                if let count, number > count { return true }
                if let end, WallTime(day: day, second: start.second) > end { return true }
                if day > last { return true }
                if day >= first, !visit(day) { return true }
            }
            work -= cost * (1 + (weekdays.count + monthDays.count) / 4)
            period += interval
        }
        return false
    }

    /// Returns how many days, weeks, months or years, by the interval, have passed before a day: for a rule without a
    /// count, nothing depends on them.
    private func periodsToSkip(_ start: WallTime, until first: Int) -> Int {
        let size = [Frequency.daily: 1, .weekly: 7, .monthly: 31, .yearly: 366][frequency] ?? 1
        return max(0, (first - start.day) / size / interval - 1) * interval
    }

    /// Returns the first day of a period, counted from that of the start, the rule's days in it, and what it took.
    private func days(ofPeriod period: Int, _ start: WallTime) -> (begin: Int, [Int], cost: Int) {
        let (year, month, monthDay) = start.parts
        switch frequency {
        case .daily:
            let day = start.day + period
            return (day, selected(matches(WallTime(day: day)) ? [day] : []), 1)
        case .weekly:
            let begin = start.day - WallTime.modulo(start.weekday - weekStart, 7) + period * 7
            let wanted = weekdays.isEmpty ? [Weekday(ordinal: 0, weekday: start.weekday)] : weekdays
            let days = (begin..<begin + 7).map { WallTime(day: $0) }.filter { day in
                wanted.contains { $0.weekday == day.weekday } && (months.isEmpty || months.contains(day.parts.month))
            }
            return (begin, selected(days.map(\.day)), 7)
        case .monthly:
            let index = year * 12 + month - 1 + period
            let (year, month) = (index / 12, index % 12 + 1)
            let isWanted = months.isEmpty || months.contains(month)
            return (WallTime.day(year, month, 1), selected(isWanted ? days(year, month, monthDay) : []), 31)
        case .yearly:
            let year = year + period
            let begin = WallTime.day(year, 1, 1)
            if months.isEmpty && monthDays.isEmpty && !weekdays.isEmpty {
                let length = WallTime.day(year + 1, 1, 1) - begin
                return (
                    begin, selected((0..<length).filter { isWeekday($0, of: length, begin) }.map { begin + $0 }), 366
                )
            }
            let wanted = !months.isEmpty ? Set(months).sorted() : monthDays.isEmpty ? [month] : Array(1...12)
            return (begin, selected(wanted.flatMap { days(year, $0, monthDay) }), 366)
        }
    }

    /// Returns the rule's days in a month; without days in the rule, the one of the start, if the month has it.
    private func days(_ year: Int, _ month: Int, _ monthDay: Int) -> [Int] {
        let (begin, length) = (WallTime.day(year, month, 1), WallTime.days(inMonth: month, of: year))
        if weekdays.isEmpty && monthDays.isEmpty { return monthDay <= length ? [begin + monthDay - 1] : [] }
        return (0..<length).filter { isMonthDay($0, of: length) && isWeekday($0, of: length, begin) }.map { begin + $0 }
    }

    private func isMonthDay(_ offset: Int, of length: Int) -> Bool {
        monthDays.isEmpty || monthDays.contains(offset + 1) || monthDays.contains(offset - length)
    }

    private func isWeekday(_ offset: Int, of length: Int, _ begin: Int) -> Bool {
        let weekday = WallTime(day: begin + offset).weekday
        let (ordinal, fromEnd) = (offset / 7 + 1, -((length - 1 - offset) / 7 + 1))
        return weekdays.isEmpty
            || weekdays.contains { $0.weekday == weekday && [0, ordinal, fromEnd].contains($0.ordinal) }
    }

    private func matches(_ day: WallTime) -> Bool {
        let (year, month, monthDay) = day.parts
        return (months.isEmpty || months.contains(month))
            && isMonthDay(monthDay - 1, of: WallTime.days(inMonth: month, of: year))
            && (weekdays.isEmpty || weekdays.contains { $0.weekday == day.weekday })
    }

    /// Returns the days at the rule's positions: the first is 1, the last -1; without positions, all.
    private func selected(_ days: [Int]) -> [Int] {
        if positions.isEmpty { return days }
        return days.indices.filter { positions.contains($0 + 1) || positions.contains($0 - days.count) }.map {
            days[$0]
        }
    }
}
