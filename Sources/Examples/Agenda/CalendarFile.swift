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
        let deadline = ContinuousClock.now + .seconds(2)
        let events = tree.events(local: local)
        let replaced = Set(events.compactMap(\.replaces))
        var end = end
        for (number, event) in events.enumerated() {
            do throws(Fault) {
                if number >= Self.mostEvents { throw Fault("is one of more than \(Self.mostEvents)") }
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
        let text = content.map { CChar(bitPattern: $0 == 0 ? UInt8(ascii: " ") : $0) } + [0]
        guard let root = unsafe icalparser_parse_string(text) else { return nil }
        unsafe self.root = root
        if unsafe calendars.isEmpty { return nil }
    }

    deinit { unsafe icalcomponent_free(root) }

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
        let exceptions = unsafe properties(ICAL_EXDATE_PROPERTY).map { property in
            unsafe Moment(icalproperty_get_datetime_with_component(property, component))
        }
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
        let rules = unsafe properties(ICAL_RRULE_PROPERTY).map { unsafe Rule(icalproperty_get_rrule($0)) }
        for moment in rules.isEmpty ? further + [start] : further { _ = add(moment) }
        for rule in rules {
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
        if !start.isOfCalendar { throw CalendarFile.Fault("has a DTSTART that is no day") }
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

    var isOfCalendar: Bool { unsafe 1...icaltime_days_in_month(time.month, time.year) ~= time.day }

    /// Returns whether it is the same moment or, if one of them is a day, on it.
    func isOn(_ other: Moment) -> Bool {
        unsafe isDay || other.isDay
            ? icaltime_compare_date_only(time, other.time) == 0 : icaltime_compare(time, other.time) == 0
    }

    static func > (a: Moment, b: Moment) -> Bool { unsafe icaltime_compare(a.time, b.time) > 0 }
}
#endif
