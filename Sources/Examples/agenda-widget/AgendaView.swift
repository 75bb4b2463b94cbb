import AgendaShared
import Foundation
import Widgets

/// The view of the next occurrences at a moment: with a heading for each day or, in few rows, the day in each line.
struct AgendaView {
    let zone: TimeZone
    let rows: Int
    let isExpanded: Bool
    /// A line about what is left out.
    let note: String?

    private static let weekdays = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"]
    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]

    /// Returns the view at a moment. `coming` are sorted, and have not ended then.
    func view(of coming: [Occurrence], at now: Date) -> WidgetView {
        let room = max(1, rows - (note == nil ? 0 : 1))
        let today = WallTime(now, in: zone).day
        var lines: [WidgetView.Line] = []
        var heading: Int?
        for occurrence in coming {
            let day = max(today, WallTime(occurrence.start, in: zone).day)
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

    private func line(_ occurrence: Occurrence, _ day: Int, _ today: Int, _ now: Date) -> WidgetView.Line {
        let isNow = occurrence.start <= now && !occurrence.isAllDay
        let title = occurrence.title.isEmpty ? "(no title)" : occurrence.title
        return .init(
            time(occurrence, day, today, isNow), isNow ? .prominent : .normal, url: occurrence.url,
            columns: occurrence.place.isEmpty ? [title] : [title, occurrence.place])
    }

    private func time(_ occurrence: Occurrence, _ day: Int, _ today: Int, _ isNow: Bool) -> String {
        let before = isExpanded || day == today ? "" : short(day, today) + " "
        if occurrence.isAllDay { return before.isEmpty ? "all day" : String(before.dropLast()) }
        let end = WallTime(occurrence.end, in: zone)
        let until = end.day == day ? clock(end) : "\(short(end.day, today)) \(clock(end))"
        if isNow { return "now–\(until)" }
        let start = clock(WallTime(occurrence.start, in: zone))
        return before + (isExpanded && occurrence.end > occurrence.start ? "\(start)–\(until)" : start)
    }

    private func clock(_ time: WallTime) -> String {
        let (hour, minute) = (time.second / 3_600, time.second / 60 % 60)
        return (hour < 10 ? "0" : "") + "\(hour):" + (minute < 10 ? "0" : "") + "\(minute)"
    }

    private func name(of day: Int, _ today: Int) -> String {
        let name = Self.weekdays[WallTime(day: day).weekday] + " " + date(day, today)
        return day == today ? "Today, \(name)" : day == today + 1 ? "Tomorrow, \(name)" : name
    }

    /// Returns the day of the week for the next six days, else the date.
    private func short(_ day: Int, _ today: Int) -> String {
        0..<7 ~= day - today ? Self.weekdays[WallTime(day: day).weekday] : date(day, today)
    }

    private func date(_ day: Int, _ today: Int) -> String {
        let (year, month, dayOfMonth) = WallTime(day: day).parts
        let text = "\(dayOfMonth) \(Self.months[month - 1])"
        return year == WallTime(day: today).parts.year ? text : "\(text) \(year)"
    }
}
