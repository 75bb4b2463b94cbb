package import Foundation

#if ICalendar
import CLibical
#endif

/// The occurrences of the events of an iCalendar file, which libical reads. Anyone may have written the file: an event
/// that cannot be read is left out, and named.
package struct CalendarFile: Sendable {
    /// The first ones first.
    package private(set) var occurrences: [Occurrence] = []
    /// Which events were left out, and why; of many, the first ones.
    package private(set) var faults: [String] = []
    package private(set) var faultCount = 0

    /// The error of bytes that are no calendar.
    package struct Fault: Error, Equatable, Sendable {
        /// What is wrong with the file, such as "is not a whole calendar".
        package let description: String

        package init(_ description: String) { self.description = description }
    }

    /// The largest file that is read, and the most events of it.
    package static let (largest, mostEvents) = (8 << 20, 10_000)

    /// Reads a file's bytes. `occurrences` are those that end after `from` and begin before `end`, at most `limit`. `local`
    /// is the zone of whole days, of times without a zone, and of zones that neither the file nor this system describes.
    package init(
        _ bytes: [UInt8], local: TimeZone, from: Date, through end: Date, limit: Int
    ) throws(Fault) {
        if bytes.count > Self.largest { throw Fault("is larger than \(Self.largest >> 20) MiB") }
        #if ICalendar
        guard let tree = ComponentTree(bytes) else { throw Fault("is not a whole calendar") }
        if tree.hasUnusualZone { throw Fault("has a time zone whose clocks change more often than yearly") }
        let deadline = ContinuousClock.now + .seconds(2)
        let events = tree.events(local: local)
        let replaced = Set(events.compactMap(\.replaces))
        var end = end
        for (number, event) in events.enumerated() {
            do throws(Fault) {
                if number >= Self.mostEvents { throw Fault("is one of more than \(Self.mostEvents)") }
                if ContinuousClock.now > deadline { throw Fault("was not counted: the others took too long") }
                occurrences += try event.occurrences(
                    from: from, through: end, limit: limit, except: replaced, deadline: deadline)
                if occurrences.count > 4 * limit {
                    // What is later than all of these is not counted further.
                    occurrences = Array(occurrences.sorted().prefix(limit))
                    end = min(end, occurrences.last?.start.addingTimeInterval(1) ?? end)
                }
            } catch {
                faultCount += 1
                if faults.count < 10 { faults.append("'\(event.title)' \(error.description)") }
            }
        }
        occurrences = Array(occurrences.sorted().prefix(limit))
        #else
        throw Fault("is not read without the package trait ICalendar")
        #endif
    }
}

#if ICalendar
/// What libical makes of a file.
@safe private final class ComponentTree {
    private let root: OpaquePointer

    /// Returns nil if the file is not a calendar, or has not its end.
    init?(_ bytes: [UInt8]) {
        icalerror_set_errors_are_fatal(0)
        let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
        let content = bytes.starts(with: mark) ? bytes.dropFirst(mark.count) : bytes[...]
        // A zero byte would be the end.
        let text = Self.withoutLargeNumbers(content).map { CChar(bitPattern: $0 == 0 ? UInt8(ascii: " ") : $0) } + [0]
        guard let root = unsafe icalparser_parse_string(text) else { return nil }
        unsafe self.root = root
        if unsafe calendars.isEmpty { return nil }
    }

    deinit { unsafe icalcomponent_free(root) }

    /// Returns the text with an invalid value for each rule and duration with a number that libical would cut to its low
    /// bits: the event would be shown on wrong days.
    private static func withoutLargeNumbers(_ content: ArraySlice<UInt8>) -> [UInt8] {
        var result: [UInt8] = []
        result.reserveCapacity(content.count)
        var line: [UInt8] = []
        func end() {
            let name = line.prefix { $0 != UInt8(ascii: ":") && $0 != UInt8(ascii: ";") }
            switch String(decoding: name, as: UTF8.self).uppercased() {
            case "RRULE" where hasLargeNumber(line): line = Array("RRULE:invalid".utf8)
            case "DURATION" where isTooLong(line): line = Array("DURATION:invalid".utf8)
            default: break
            }
            result += line + Array("\r\n".utf8)
        }
        for piece in content.split(separator: UInt8(ascii: "\n")) {
            let piece = piece.last == UInt8(ascii: "\r") ? piece.dropLast() : piece
            // A line is continued by one that begins with a blank.
            if piece.first == UInt8(ascii: " ") || piece.first == UInt8(ascii: "\t") {
                line += piece.dropFirst()
            } else {
                if !line.isEmpty { end() }
                line = Array(piece)
            }
        }
        end()
        return result
    }

    /// Returns whether the INTERVAL of a rule does not fit 15 bits, or its COUNT 31.
    private static func hasLargeNumber(_ rule: [UInt8]) -> Bool {
        rule.split(separator: UInt8(ascii: ";")).contains { part in
            let words = String(decoding: part, as: UTF8.self).uppercased().split(separator: "=")
            guard words.count == 2, let number = words.last.flatMap({ Double($0) }) else { return false }
            let name = words[0].split(separator: ":").last
            return name == "INTERVAL" && number > 32_767 || name == "COUNT" && number > 2_147_483_647
        }
    }

    /// Returns whether a duration has more seconds than 31 bits hold.
    private static func isTooLong(_ line: [UInt8]) -> Bool {
        var (seconds, number) = (0.0, 0.0)
        for byte in line.drop(while: { $0 != UInt8(ascii: ":") }) {
            switch byte & 0xDF {
            case _ where (0x30...0x39).contains(byte): number = number * 10 + Double(byte - 0x30)
            case UInt8(ascii: "W"): (seconds, number) = (seconds + number * 604_800, 0)
            case UInt8(ascii: "D"): (seconds, number) = (seconds + number * 86_400, 0)
            case UInt8(ascii: "H"): (seconds, number) = (seconds + number * 3_600, 0)
            case UInt8(ascii: "M"): (seconds, number) = (seconds + number * 60, 0)
            default: (seconds, number) = (seconds + number, 0)
            }
        }
        return seconds > 2_147_483_647
    }

    /// Whether the clocks of a zone change by a rule that libical would expand to millions of changes.
    var hasUnusualZone: Bool {
        unsafe calendars.contains { calendar in
            unsafe Self.components(of: calendar, ICAL_VTIMEZONE_COMPONENT).contains { zone in
                unsafe Self.components(of: zone, ICAL_ANY_COMPONENT).contains { part in
                    unsafe all(icalcomponent_get_first_property(part, ICAL_RRULE_PROPERTY)) {
                        unsafe icalcomponent_get_next_property(part, ICAL_RRULE_PROPERTY)
                    }.contains { unsafe !Rule(icalproperty_get_rrule($0)).isYearly }
                }
            }
        }
    }

    /// Returns the events.
    func events(local: TimeZone) -> [CalendarEvent] {
        let known = unsafe icaltimezone_get_builtin_timezone(local.identifier)
        guard let zone = unsafe known ?? icaltimezone_get_utc_timezone() else { return [] }
        return unsafe calendars.flatMap {
            unsafe Self.components(of: $0, ICAL_VEVENT_COMPONENT).map {
                unsafe CalendarEvent($0, of: self, local: zone)
            }
        }
    }

    private var calendars: [OpaquePointer] {
        if unsafe icalcomponent_isa(root) == ICAL_VCALENDAR_COMPONENT { return unsafe [root] }
        return unsafe Self.components(of: root, ICAL_VCALENDAR_COMPONENT)
    }

    private static func components(of parent: OpaquePointer, _ kind: icalcomponent_kind) -> [OpaquePointer] {
        unsafe all(icalcomponent_get_first_component(parent, kind)) {
            unsafe icalcomponent_get_next_component(parent, kind)
        }
    }
}

/// Returns what libical lists.
private func all(_ first: OpaquePointer?, next: () -> OpaquePointer?) -> [OpaquePointer] {
    var (found, one): ([OpaquePointer], OpaquePointer?) = unsafe ([], first)
    while let some = unsafe one {
        unsafe found.append(some)
        unsafe one = unsafe next()
    }
    return unsafe found
}

/// An event, with its repetitions.
@safe private struct CalendarEvent {
    let title: String
    /// The occurrence of a series that this event takes the place of.
    let replaces: Key?
    private let uid: String
    private let start: Moment
    private let component: OpaquePointer
    private let local: OpaquePointer
    /// Keeps the component.
    private let tree: ComponentTree

    /// An occurrence of a series.
    struct Key: Hashable {
        let uid: String
        let start: time_t
    }

    /// The most dates that an event may list.
    private static let mostDates = 10_000
    /// Without one of them that cannot be read, an event would be shown on wrong days.
    private static let decisive = ["DTSTART", "DTEND", "DURATION", "RRULE", "RDATE", "EXDATE", "RECURRENCE-ID"]

    init(_ component: OpaquePointer, of tree: ComponentTree, local: OpaquePointer) {
        self.tree = tree
        unsafe self.component = component
        unsafe self.local = local
        start = unsafe Moment(icalcomponent_get_dtstart(component))
        title = unsafe Self.line(icalcomponent_get_summary(component))
        uid = unsafe Self.text(icalcomponent_get_uid(component))
        let replaced = unsafe Moment(icalcomponent_get_recurrenceid(component))
        replaces = replaced.isNull || uid.isEmpty ? nil : unsafe Key(uid: uid, start: replaced.seconds(local))
    }

    /// Returns the occurrences that end after `from` and begin before `end`, at most `limit`, but not those in `except`.
    func occurrences(
        from: Date, through end: Date, limit: Int, except: Set<Key>, deadline: ContinuousClock.Instant
    ) throws(CalendarFile.Fault) -> [Occurrence] {
        try check()
        if unsafe icalcomponent_get_status(component) == ICAL_STATUS_CANCELLED { return [] }
        let length = try length()
        let listed = unsafe properties(ICAL_EXDATE_PROPERTY).count + properties(ICAL_RDATE_PROPERTY).count
        if listed > Self.mostDates { throw CalendarFile.Fault("lists more than \(Self.mostDates) dates") }
        let exceptions = unsafe properties(ICAL_EXDATE_PROPERTY).map { property in
            unsafe Moment(icalproperty_get_datetime_with_component(property, component))
        }
        if exceptions.contains(where: { !$0.isOfCalendar }) { throw CalendarFile.Fault("has an EXDATE that is no day") }
        var found: [Occurrence] = []
        /// Adds the occurrence at a moment, if it is one of those; returns false behind the last one.
        func add(_ moment: Moment) -> Bool {
            let seconds = unsafe moment.seconds(local)
            let date = Date(timeIntervalSince1970: Double(seconds))
            if date >= end { return false }
            let last = moment.isDay ? unsafe moment.adding(days: length).seconds(local) : seconds + length
            let ending = Date(timeIntervalSince1970: Double(last))
            let isReplaced = replaces == nil && except.contains(Key(uid: uid, start: seconds))
            if ending > from, !isReplaced, !exceptions.contains(where: moment.isOn) {
                found.append(
                    Occurrence(start: date, end: ending, isAllDay: moment.isDay, title: title, place: place, url: url))
            }
            return true
        }
        let further = unsafe properties(ICAL_RDATE_PROPERTY).map { property in
            let value = unsafe icalproperty_get_rdate(property)
            let moment = unsafe Moment(value.time)
            return unsafe moment.isNull ? Moment(value.period.start) : moment
        }
        if further.contains(where: { !$0.isOfCalendar }) { throw CalendarFile.Fault("has an RDATE that is no day") }
        let rules = unsafe properties(ICAL_RRULE_PROPERTY).map { unsafe Rule(icalproperty_get_rrule($0)) }
        for moment in rules.isEmpty ? further + [start] : further {
            if ContinuousClock.now > deadline { throw CalendarFile.Fault("has dates that take too long to count") }
            _ = add(moment)
        }
        for rule in rules {
            if ContinuousClock.now > deadline {
                throw CalendarFile.Fault("has repetitions that take too long to count")
            }
            if let until = rule.until, !until.isOfCalendar { throw CalendarFile.Fault("has an UNTIL that is no day") }
            // libical looks for the next time until the year 2582: in vain for half a minute if it looks at each hour.
            if rule.isOftenerThanDaily { throw CalendarFile.Fault("repeats more often than daily") }
            guard let moments = unsafe icalrecur_iterator_new(rule.value, start.time) else {
                throw CalendarFile.Fault("has an RRULE without a meaning")
            }
            defer { unsafe icalrecur_iterator_free(moments) }
            // Where it has not to count, libical skips what is long over.
            let days = (start.isDay ? length : length / 86_400) + 2
            let first = start.atSeconds(Int(from.timeIntervalSince1970) - days * 86_400)
            if !rule.isCounted, first > start { unsafe icalrecur_iterator_set_start(moments, first.time) }
            let most = found.count + limit
            var moment = start
            repeat {
                if ContinuousClock.now > deadline {
                    throw CalendarFile.Fault("has repetitions that take too long to count")
                }
                moment = unsafe Moment(icalrecur_iterator_next(moments))
            } while !moment.isNull && add(moment) && found.count < most
        }
        return found
    }

    /// Checks that what decides about the days could be read.
    private func check() throws(CalendarFile.Fault) {
        let errors = unsafe properties(ICAL_XLICERROR_PROPERTY).map { unsafe Self.line(icalproperty_get_xlicerror($0)) }
        if let name = Self.decisive.first(where: { name in errors.contains { $0.contains(" \(name) ") } }) {
            throw CalendarFile.Fault("has a \(name) that cannot be read")
        }
        if start.isNull { throw CalendarFile.Fault("has no DTSTART") }
        let end = unsafe properties(ICAL_DTEND_PROPERTY).map { unsafe Moment(icalproperty_get_dtend($0)) }
        let replaced = unsafe Moment(icalcomponent_get_recurrenceid(component))
        for (name, moments) in [("DTSTART", [start]), ("DTEND", end), ("RECURRENCE-ID", [replaced])]
        where moments.contains(where: { !$0.isNull && !$0.isOfCalendar }) {
            throw CalendarFile.Fault("has a \(name) that is no day")
        }
        if unsafe !properties(ICAL_EXRULE_PROPERTY).isEmpty { throw CalendarFile.Fault("has an EXRULE") }
    }

    /// Returns the days of an event of whole days, the seconds of another one.
    private func length() throws(CalendarFile.Fault) -> Int {
        let end = unsafe Moment(icalcomponent_get_dtend(component))
        let seconds = unsafe end.seconds(local) - start.seconds(local)
        if seconds < 0 { throw CalendarFile.Fault("ends before it begins") }
        // Longer than a lifetime: a year was mistyped.
        if seconds > 40_000 * 86_400 { throw CalendarFile.Fault("is too long") }
        // The day on which clocks change has 23 or 25 hours. Some programs write the same day as the end.
        return start.isDay ? max(1, (seconds + 43_200) / 86_400) : seconds
    }

    private var place: String { unsafe Self.line(icalcomponent_get_location(component)) }

    private var url: String? {
        unsafe properties(ICAL_URL_PROPERTY).first.map { unsafe Self.line(icalproperty_get_url($0)) }
    }

    private func properties(_ kind: icalproperty_kind) -> [OpaquePointer] {
        unsafe all(icalcomponent_get_first_property(component, kind)) {
            unsafe icalcomponent_get_next_property(component, kind)
        }
    }

    private static func text(_ text: UnsafePointer<CChar>?) -> String {
        guard let text = unsafe text else { return "" }
        return unsafe String(cString: text)
    }

    /// Returns a text as one short line.
    private static func line(_ text: UnsafePointer<CChar>?) -> String {
        unsafe String(Self.text(text).map { $0.isNewline ? " " : $0 }.prefix(200))
    }
}

@safe private struct Rule {
    private(set) var value: icalrecurrencetype

    init(_ value: icalrecurrencetype) {
        unsafe self.value = value
        // A day is meant with its whole day, also for an event with a time.
        if unsafe value.until.is_date != 0 {
            unsafe self.value.until.is_date = 0
            unsafe (self.value.until.hour, self.value.until.minute, self.value.until.second) = (23, 59, 59)
        }
    }

    var isCounted: Bool { unsafe value.count > 0 }
    /// The last moment that it permits; nil: there is none.
    var until: Moment? {
        let until = unsafe Moment(value.until)
        return until.isNull ? nil : until
    }
    /// Whether it has some times each year: a day and no list of times of the day.
    var isYearly: Bool {
        let none = Int32(ICAL_RECURRENCE_ARRAY_MAX.rawValue)
        return unsafe value.freq == ICAL_YEARLY_RECURRENCE && Int32(value.by_hour.0) == none
            && Int32(value.by_minute.0) == none && Int32(value.by_second.0) == none
    }
    var isOftenerThanDaily: Bool {
        unsafe [ICAL_SECONDLY_RECURRENCE, ICAL_MINUTELY_RECURRENCE, ICAL_HOURLY_RECURRENCE].contains(value.freq)
    }
}

/// A time with its zone or without one, or a day. Its zone lives as long as its tree.
@safe private struct Moment {
    let time: icaltimetype

    init(_ time: icaltimetype) { unsafe self.time = time }

    var isNull: Bool { unsafe icaltime_is_null_time(time) != 0 }
    var isDay: Bool { unsafe time.is_date != 0 }

    /// Returns the seconds since 1970. `local` is the zone of a day, and of a time without one.
    func seconds(_ local: OpaquePointer) -> time_t {
        func clock(_ seconds: time_t) -> time_t {
            unsafe icaltime_as_timet(icaltime_from_timet_with_zone(seconds, 0, zone))
        }
        let zone = unsafe time.zone ?? local
        let (shown, found) = unsafe (icaltime_as_timet(time), icaltime_as_timet_with_zone(time, zone))
        // Of a time that is there twice when clocks change, or not at all, RFC 5545 (section 3.3.5) means the one of the
        // clock before the change; libical does not.
        let before = found - 86_400
        let earlier = shown - (clock(before) - before)
        return clock(earlier) == shown || clock(found) != shown ? earlier : found
    }

    /// Returns what clocks of its zone show at a moment.
    func atSeconds(_ seconds: time_t) -> Moment {
        unsafe Moment(icaltime_from_timet_with_zone(seconds, time.is_date, time.zone))
    }

    func adding(days: Int) -> Moment {
        var time = unsafe time
        unsafe icaltime_adjust(&time, CInt(days), 0, 0, 0)
        return unsafe Moment(time)
    }

    /// Whether there is such a day, and such a time.
    var isOfCalendar: Bool {
        // Of a month that there is not, libical does not return the days.
        unsafe 1...12 ~= time.month && 1...icaltime_days_in_month(time.month, time.year) ~= time.day
            && 0...23 ~= time.hour && 0...59 ~= time.minute && 0...60 ~= time.second
    }

    /// Returns whether it is the same moment or, if one of them is a day, on it.
    func isOn(_ other: Moment) -> Bool {
        unsafe isDay || other.isDay
            ? icaltime_compare_date_only(time, other.time) == 0 : icaltime_compare(time, other.time) == 0
    }

    static func > (a: Moment, b: Moment) -> Bool { unsafe icaltime_compare(a.time, b.time) > 0 }
}
#endif
