import Agenda
import Foundation
import GroupCommandLine
import GroupCommands
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
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = .current
        let now = context.date
        let agenda: CalendarFile
        do throws(CalendarFile.Fault) {
            agenda = try CalendarFile(
                bytes, local: calendar.timeZone, from: now, through: now + 366 * 86_400, limit: Self.most)
        } catch {
            return Self.only("\(file) \(error.description)", .warning)
        }
        let coming = agenda.occurrences
        let rows = min(context.environment.maximumSize.rows, Self.mostRows)
        let view = AgendaView(
            calendar: calendar, rows: rows, isExpanded: context.environment.displayMode == .expanded,
            note: Self.note(agenda))

        var entries: [Timeline<WidgetView>.Entry] = [.init(snapshot: view.view(of: coming, at: now))]
        var end = now
        for moment in Self.moments(coming, now, calendar) {
            end = moment
            let left = coming.filter { $0.end > moment }
            let next = view.view(of: left, at: moment)
            if next != entries.last?.snapshot { entries.append(.init(date: moment, snapshot: next)) }
            // Others may follow those that are known.
            if coming.count == Self.most && left.count <= rows { break }
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
    private static func moments(_ coming: [Occurrence], _ now: Date, _ calendar: Calendar) -> [Date] {
        let today = calendar.startOfDay(for: now)
        let midnights = (1...2).compactMap { calendar.date(byAdding: .day, value: $0, to: today) }
        let last = midnights.last ?? now
        let moments = Set(midnights + coming.flatMap { [$0.start, $0.end] }).filter { $0 > now && $0 <= last }
        return Array(moments.sorted().prefix(mostMoments))
    }

    private static func note(_ agenda: CalendarFile) -> String? {
        agenda.faults.first.map { fault in
            let events = agenda.faultCount == 1 ? "an event is" : "\(agenda.faultCount) events are"
            return "\(events) left out: \(fault)"
        }
    }

    private static func only(_ text: String, _ style: WidgetView.Style) -> Timeline<WidgetView> {
        Timeline(WidgetView(title: "Agenda", lines: [.init(text, style)]))
    }
}

WidgetCommand.main(
    name: "agenda-widget", summary: "Shows the next appointments of a calendar file.",
    group: "group.com.example.agenda", needing: [.iCalendar],
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
