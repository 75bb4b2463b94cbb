import AgendaShared
import Foundation
import GroupCommandLine
import GroupContainer
import WidgetCommands
import Widgets

// The widget of a calendar file, which any program may write: the next appointments. What changes by time alone is in
// its timeline, so that its process sleeps until the file changes.

struct AgendaWidget: WidgetProvider {
    static let kind = "agenda"
    let kind: String
    let file: ItemPath
    var interests: [WidgetInterest] { [.path("\(file)")] }
    var placeholder: WidgetView? { WidgetView(title: "Agenda", lines: [.init("…", .secondary)]) }

    func snapshot(in context: WidgetContext) async throws -> WidgetView {
        try await timeline(in: context).entries[0].snapshot
    }

    /// An entry for each moment of two days at which an appointment begins or ends, or a day begins.
    func timeline(in context: WidgetContext) async throws -> Timeline<WidgetView> {
        guard let bytes = try await bytes(context.coordinator) else {
            return Self.only("there is no \(file)", .secondary)
        }
        if bytes.count > CalendarFile.largest { return Self.only("\(file) is larger than 8 MiB", .warning) }
        let zone = TimeZone.current
        let whole = CalendarFile(bytes, local: zone)
        if !whole.isCalendar { return Self.only("\(file) is not a calendar", .warning) }
        let now = context.date
        let isExpanded = context.environment.displayMode == .expanded
        let rows = min(context.environment.maximumSize.rows, Self.mostRows)
        // Few calendars need a look at the whole year.
        var (calendar, coming, areAll): (CalendarFile, [Occurrence], Bool) = (whole, [], false)
        for days in [31.0, 366] where coming.count < 2 * rows {
            calendar = whole
            coming = calendar.occurrences(from: now, through: now + days * 86_400, limit: Self.most)
            areAll = days == 366 && coming.count < Self.most
        }
        let view = AgendaView(zone: zone, rows: rows, isExpanded: isExpanded, note: Self.note(calendar))

        var entries: [Timeline<WidgetView>.Entry] = [.init(snapshot: view.view(of: coming, at: now))]
        var end = now
        for moment in Self.moments(coming, now, zone) {
            end = moment
            let left = coming.filter { $0.end > moment }
            let next = view.view(of: left, at: moment)
            if next != entries.last?.snapshot { entries.append(.init(date: moment, snapshot: next)) }
            // Others may follow those that are known.
            if !areAll && left.count <= rows { break }
        }
        return Timeline(first: entries[0], later: Array(entries.dropFirst()), policy: .after(end))
    }

    /// How many occurrences and changes of the view it knows at most.
    private static let (most, mostMoments) = (200, 60)
    /// The rows that its manifest prefers for the expanded view: more would be cut off, with the note at the end.
    private static let mostRows = 14

    /// Returns the file's content; nil if there is none. Of a file that is too large, it reads only so much that this is
    /// seen.
    private func bytes(_ coordinator: Coordinator) async throws -> [UInt8]? {
        do {
            return try await coordinator.read(file) { reader in
                var bytes: [UInt8] = []
                while bytes.count <= CalendarFile.largest, let part = try reader.read() { bytes += part }
                return bytes
            }
        } catch let error as CoordinationError where error.code == .notFound {
            return nil
        }
    }

    /// Returns the moments after `now` at which the view may change: until the midnight after the next one.
    private static func moments(_ coming: [Occurrence], _ now: Date, _ zone: TimeZone) -> [Date] {
        let today = WallTime(now, in: zone).day
        let midnights = (1...2).map { WallTime(day: today + $0).date(in: zone) }
        let last = midnights[1]
        let moments = Set(midnights + coming.flatMap { [$0.start, $0.end] }).filter { $0 > now && $0 <= last }
        return Array(moments.sorted().prefix(mostMoments))
    }

    private static func note(_ calendar: CalendarFile) -> String? {
        calendar.faults.first.map { fault in
            let events = calendar.faultCount == 1 ? "an event is" : "\(calendar.faultCount) events are"
            return "\(events) left out: line \(fault.line): \(fault.reason)"
        }
    }

    private static func only(_ text: String, _ style: WidgetView.Style) -> Timeline<WidgetView> {
        Timeline(WidgetView(title: "Agenda", lines: [.init(text, style)]))
    }
}

WidgetCommand.main(
    name: "agenda-widget", summary: "Shows the next appointments of a calendar file.",
    group: "group.com.example.agenda",
    options: [
        .value(
            "file", letter: "f", "PATH",
            help: """
                The iCalendar file in the container; the default is Library/agenda.ics. The kind of the widget of \
                another file is agenda-NAME, where NAME is the file's name before the dot.
                """)
    ]
) { arguments, _ in
    guard let path = try arguments.text("file") else {
        return AgendaWidget(kind: AgendaWidget.kind, file: "Library/agenda.ics")
    }
    // The path is a pattern of the widget's interests.
    if path.contains(where: { "*?[\\".contains($0) }) {
        throw arguments.usageError("--file takes a path without '*', '?', '[' and '\\', not '\(path)'")
    }
    let name = path.split(separator: "/").last?.prefix { $0 != "." } ?? ""
    let part = String(name.map { $0.isASCII && ($0.isLetter || $0.isNumber) ? $0 : "-" })
    return AgendaWidget(kind: "\(AgendaWidget.kind)-\(part)", file: ItemPath(path))
}
