import Agenda
import Foundation
import Widgets

/// The view of the next occurrences at a moment: with a heading for each day or, in few rows, the day in each line.
struct AgendaView {
    let calendar: Calendar
    let rows: Int
    let isExpanded: Bool
    /// A line about what is left out.
    let note: String?

    private static let weekdays = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]

    /// Returns the view at a moment. `coming` are sorted, and have not ended then.
    func view(of coming: [Occurrence], at now: Date) -> WidgetView {
        let room = max(1, rows - (note == nil ? 0 : 1))
        let today = calendar.startOfDay(for: now)
        var lines: [WidgetView.Line] = []
        var heading: Date?
        for occurrence in coming {
            let day = max(today, calendar.startOfDay(for: occurrence.start))
            if isExpanded, day != heading {
                // No heading is the last line.
                if lines.count + 2 > room { break }
                lines.append(.init(name(of: day, today), .secondary))
                heading = day
            }
            if lines.count == room { break }
            lines.append(line(occurrence, day, today, now))
        }
        if lines.isEmpty { lines = [.init("nothing planned", .secondary)] }
        if let note { lines.append(.init(note, .warning)) }
        return WidgetView(title: "Agenda", lines: lines)
    }

    private func line(_ occurrence: Occurrence, _ day: Date, _ today: Date, _ now: Date) -> WidgetView.Line {
        let isNow = occurrence.start <= now && !occurrence.isAllDay
        let title = occurrence.title.isEmpty ? "(no title)" : occurrence.title
        return .init(
            time(occurrence, day, today, isNow), isNow ? .prominent : .normal, url: occurrence.url,
            columns: occurrence.place.isEmpty ? [title] : [title, occurrence.place])
    }

    private func time(_ occurrence: Occurrence, _ day: Date, _ today: Date, _ isNow: Bool) -> String {
        let before = isExpanded || day == today ? "" : short(day, today) + " "
        if occurrence.isAllDay { return before.isEmpty ? "all day" : String(before.dropLast()) }
        let endDay = calendar.startOfDay(for: occurrence.end)
        let end = (endDay == day ? "" : short(endDay, today) + " ") + clock(occurrence.end)
        if isNow { return "now–\(end)" }
        let start = clock(occurrence.start)
        return before + (isExpanded && occurrence.end > occurrence.start ? "\(start)–\(end)" : start)
    }

    private func clock(_ time: Date) -> String {
        let parts = calendar.dateComponents([.hour, .minute], from: time)
        return [parts.hour ?? 0, parts.minute ?? 0].map { ($0 < 10 ? "0" : "") + "\($0)" }.joined(separator: ":")
    }

    private func name(of day: Date, _ today: Date) -> String {
        let name = weekday(day) + " " + date(day, today)
        return switch days(from: today, to: day) {
        case 0: "Today, \(name)"
        case 1: "Tomorrow, \(name)"
        default: name
        }
    }

    /// Returns the day of the week for the next six days, else the date.
    private func short(_ day: Date, _ today: Date) -> String {
        0..<7 ~= days(from: today, to: day) ? weekday(day) : date(day, today)
    }

    private func days(from first: Date, to last: Date) -> Int {
        calendar.dateComponents([.day], from: first, to: last).day ?? 0
    }

    private func weekday(_ day: Date) -> String { Self.weekdays[calendar.component(.weekday, from: day) - 1] }

    private func date(_ day: Date, _ today: Date) -> String {
        let parts = calendar.dateComponents([.year, .month, .day], from: day)
        let text = "\(parts.day ?? 0) \(Self.months[(parts.month ?? 1) - 1])"
        return parts.year == calendar.component(.year, from: today) ? text : "\(text) \(parts.year ?? 0)"
    }
}
