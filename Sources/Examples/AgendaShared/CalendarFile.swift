package import Foundation

/// Why a part of a calendar is left out.
package struct Fault: Error, Equatable, Sendable {
    package let reason: String
    /// The line of the file.
    package var line = 0

    init(_ reason: String) { self.reason = reason }
}

/// The events of an iCalendar file (RFC 5545), which anyone may have written. What cannot be read is left out, and named.
package struct CalendarFile: Sendable {
    package private(set) var events: [Event] = []
    /// The events that were left out; of many, the first ones.
    package private(set) var faults: [Fault] = []
    package private(set) var faultCount = 0
    /// Whether the file is a calendar at all.
    package private(set) var isCalendar = false

    /// The largest file that is read, and the most events of it.
    package static let (largest, mostEvents) = (8 << 20, 10_000)

    /// Reads a file's bytes. `local` is the zone of times without one, and of zones that this system does not know.
    package init(_ bytes: [UInt8], local: TimeZone) {
        var zones: [String: TimeZone] = [:]
        // The lines of the event that is being read, and how many components within it have begun.
        var (lines, depth): ([ContentLine]?, Int) = (nil, 0)
        for line in ContentLine.all(in: bytes.count > Self.largest ? [] : bytes) {
            let component = line.value.uppercased()
            switch (line.name, lines != nil) {
            case ("BEGIN", false):
                if component == "VCALENDAR" { isCalendar = true }
                if component == "VEVENT" { (lines, depth) = ([line], 0) }
            case ("BEGIN", true): depth += 1
            case ("END", true) where depth > 0: depth -= 1
            case ("END", true):
                add(lines ?? [], local, &zones)
                lines = nil
            case (_, true) where depth == 0: lines?.append(line)
            default: break
            }
        }
        if let line = lines?.first { leaveOut(Fault("the file ends within an event"), at: line.number) }
        replaceOccurrences()
    }

    private mutating func add(_ lines: [ContentLine], _ local: TimeZone, _ zones: inout [String: TimeZone]) {
        guard let first = lines.first else { return }
        do throws(Fault) {
            if events.count >= Self.mostEvents { throw Fault("more than \(Self.mostEvents) events") }
            events.append(try Event(lines, local, &zones))
        } catch {
            leaveOut(error, at: error.line > 0 ? error.line : first.number)
        }
    }

    private mutating func leaveOut(_ fault: Fault, at line: Int) {
        var fault = fault
        fault.line = line
        faultCount += 1
        if faults.count < 10 { faults.append(fault) }
    }

    /// An event with RECURRENCE-ID takes the place of one occurrence of the event with its UID.
    private mutating func replaceOccurrences() {
        var replaced: [String: [Moment]] = [:]
        for event in events {
            if let uid = event.uid, let moment = event.replaces { replaced[uid, default: []].append(moment) }
        }
        for index in events.indices where events[index].replaces == nil {
            if let moments = events[index].uid.flatMap({ replaced[$0] }) { events[index].except(moments) }
        }
        events.removeAll { $0.isCancelled }
    }

    /// Returns the occurrences that end after `from` and begin before `end`, the first ones first, at most `limit`.
    /// An event that repeats too often to be counted is added to `faults`.
    package mutating func occurrences(from: Date, through end: Date, limit: Int) -> [Occurrence] {
        var found: [Occurrence] = []
        var work = 1_000_000
        for event in events {
            var part = min(work, 100_000)
            let before = part
            if let some = event.occurrences(from: from, through: end, limit: limit, work: &part) {
                found += some
            } else {
                leaveOut(Fault("its repetitions take too long to count"), at: event.line)
            }
            work -= before - part
        }
        return Array(found.sorted().prefix(limit))
    }
}
