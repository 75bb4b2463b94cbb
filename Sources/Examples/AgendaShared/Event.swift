package import Foundation

/// A time with its zone, or a day.
package struct Moment: Sendable {
    var time: WallTime
    var zone: TimeZone
    /// Whether it is a day, and has no time.
    var isDay: Bool

    var date: Date { time.date(in: zone) }
}

/// When an event takes place.
package struct Occurrence: Comparable, Sendable {
    package let start: Date
    package let end: Date
    package let isAllDay: Bool
    package let title: String
    package let place: String
    /// A page of the event, such as its video call.
    package let url: String?

    /// Occurrences of the same time have the order of their titles, so that a view does not depend on the file's order.
    package static func < (a: Occurrence, b: Occurrence) -> Bool {
        (a.start, a.isAllDay ? 0 : 1, a.title) < (b.start, b.isAllDay ? 0 : 1, b.title)
    }
}

/// An event, with its repetitions.
package struct Event: Sendable {
    package private(set) var title = ""
    package private(set) var place = ""
    let line: Int
    private(set) var uid: String?
    private(set) var replaces: Moment?
    private(set) var isCancelled = false
    private var url: String?
    private let start: Moment
    /// The days of an event of whole days; the seconds of another one.
    private var length = 0
    private let rule: RecurrenceRule?
    private var further: [Moment] = []
    private var exceptDates: Set<Date> = []
    private var exceptDays: Set<Int> = []

    /// Reads the properties of a VEVENT.
    init(_ lines: [ContentLine], _ local: TimeZone, _ zones: inout [String: TimeZone]) throws(Fault) {
        var (start, end, rule): (Moment?, Moment?, RecurrenceRule?) = (nil, nil, nil)
        var (duration, exceptions): (Int?, [Moment]) = (nil, [])
        line = lines.first?.number ?? 0
        for line in lines {
            do throws(Fault) {
                switch line.name {
                case "SUMMARY": title = Self.short(line.text)
                case "LOCATION": place = Self.short(line.text)
                case "URL": url = line.value
                case "UID": uid = line.value
                case "STATUS": isCancelled = line.value.uppercased() == "CANCELLED"
                case "DTSTART": start = try Self.moment(line, line.value, local, &zones)
                case "DTEND": end = try Self.moment(line, line.value, local, &zones)
                case "DURATION": duration = try Self.duration(line.value)
                case "RRULE":
                    if rule != nil { throw Fault("a second RRULE") }
                    rule = try RecurrenceRule(line.value)
                case "RDATE": further += try Self.moments(line, local, &zones)
                case "EXDATE": exceptions += try Self.moments(line, local, &zones)
                case "RECURRENCE-ID": replaces = try Self.moment(line, line.value, local, &zones)
                case "EXRULE": throw Fault("EXRULE")
                default: break
                }
            } catch {
                var fault = error
                fault.line = line.number
                throw fault
            }
        }
        guard let start else { throw Fault("no DTSTART") }
        self.start = start
        self.rule = rule
        except(exceptions)
        if start.isDay {
            let days = end.map { $0.time.day - start.time.day } ?? duration.map { $0 / 86_400 } ?? 1
            // Some programs write the same day as the end.
            length = days == 0 ? 1 : days
        } else {
            length = end.map { Int($0.date.timeIntervalSince(start.date)) } ?? duration ?? 0
        }
        if length < 0 { throw Fault("it ends before it begins") }
        // Longer than a lifetime: a year was mistyped.
        if length > (start.isDay ? 40_000 : 40_000 * 86_400) { throw Fault("it is too long") }
    }

    /// Leaves out some occurrences.
    mutating func except(_ moments: [Moment]) {
        for moment in moments {
            if moment.isDay { exceptDays.insert(moment.time.day) } else { exceptDates.insert(moment.date) }
        }
    }

    /// Returns the occurrences that end after `from` and begin before `end`, at most `limit`; nil if that is too much
    /// work.
    func occurrences(from: Date, through end: Date, limit: Int, work: inout Int) -> [Occurrence]? {
        var found: [Occurrence] = []
        let days = start.isDay ? length : length / 86_400 + 1
        let first = WallTime(from, in: start.zone).day - days - 1
        let last = WallTime(end, in: start.zone).day + 1
        // Without a rule, the start is the only occurrence.
        func add(_ moment: Moment) {
            if let some = occurrence(moment), some.end > from, some.start < end { found.append(some) }
        }
        for moment in further { add(moment) }
        guard let rule else {
            add(start)
            return found
        }
        let isDone = rule.forEachDay(of: start.time, in: start.zone, from: first, through: last, work: &work) { day in
            add(Moment(time: WallTime(day: day, second: start.time.second), zone: start.zone, isDay: start.isDay))
            return found.count < limit
        }
        return isDone ? found : nil
    }

    /// Returns the occurrence that begins at a moment; nil where there is an exception.
    private func occurrence(_ moment: Moment) -> Occurrence? {
        let date = moment.date
        if exceptDays.contains(moment.time.day) || exceptDates.contains(date) { return nil }
        let end =
            start.isDay
            ? WallTime(day: moment.time.day + length).date(in: moment.zone) : date.addingTimeInterval(Double(length))
        return Occurrence(start: date, end: end, isAllDay: start.isDay, title: title, place: place, url: url)
    }

    // MARK: Values

    private static func short(_ text: String) -> String { String(text.prefix(200)) }

    private static func moments(
        _ line: ContentLine, _ local: TimeZone, _ zones: inout [String: TimeZone]
    ) throws(Fault) -> [Moment] {
        var moments: [Moment] = []
        for text in line.value.split(separator: ",") { moments.append(try moment(line, String(text), local, &zones)) }
        return moments
    }

    /// Reads a time: of UTC with a `Z`, of the zone in TZID if this system knows it, else local; or a day.
    private static func moment(
        _ line: ContentLine, _ text: String, _ local: TimeZone, _ zones: inout [String: TimeZone]
    ) throws(Fault) -> Moment {
        let isUTC = text.hasSuffix("Z")
        guard let (time, hasTime) = WallTime.parsed(isUTC ? text.dropLast() : text[...]), hasTime || !isUTC else {
            throw Fault("\(line.name) is '\(text.prefix(40))'")
        }
        if !hasTime { return Moment(time: time, zone: local, isDay: true) }
        if isUTC { return Moment(time: time, zone: .gmt, isDay: false) }
        guard let name = line.parameters["TZID"] else { return Moment(time: time, zone: local, isDay: false) }
        let zone = zones[name] ?? TimeZone(identifier: name) ?? local
        zones[name] = zone
        return Moment(time: time, zone: zone, isDay: false)
    }

    /// Reads a duration such as `P1DT2H30M` or `P2W`, in seconds.
    private static func duration(_ text: String) throws(Fault) -> Int {
        var (seconds, number): (Int, Int?) = (0, nil)
        let units: [Character: Int] = ["W": 604_800, "D": 86_400, "H": 3_600, "M": 60, "S": 1]
        for character in text.uppercased().drop(while: { $0 == "+" }) {
            if let digit = character.wholeNumberValue, character.isASCII {
                number = min((number ?? 0) * 10 + digit, 100_000_000)
            } else if let unit = units[character], let count = number {
                seconds += count * unit
                number = nil
            } else if !"PT".contains(character) || number != nil {
                throw Fault("DURATION is '\(text.prefix(40))'")
            }
        }
        return seconds
    }
}
