import Foundation
import GroupTodayView

/// Three ordinary widgets.
enum SamplePanels {
    static let now: Int64 = 1_763_632_800_000_000_000
    static func date(_ seconds: Int64) -> Date { Date(timeIntervalSince1970: Double(now) / 1e9 + Double(seconds)) }

    static let list = Panel(
        kind: "todo-list", title: "To do", state: .active,
        view: WidgetView(lines: [.init("Milk"), .init("Bread", .good), .init("漢字 tea", .secondary)]),
        renderedAt: now, isExpandable: true, size: WidgetSize(columns: 76, rows: 3))

    static let next = Panel(
        kind: "next", title: "Departures", state: .suspended,
        view: WidgetView(lines: [.init("U2 Pankow", .prominent, countdown: date(245)), .init("S1 Wannsee")]),
        renderedAt: now, size: WidgetSize(columns: 76, rows: 2))

    static let broken = Panel(
        kind: "mail", title: "Mail", state: .notRunning, view: WidgetView(lines: [.init("3 unread")]),
        renderedAt: now - 180_000_000_000,
        note: PanelNote(.ended("ended by signal 11"), again: now + 4_000_000_000),
        size: WidgetSize(columns: 76, rows: 1))

    static let late = Panel(
        kind: "news", title: "News", state: .suspended, view: WidgetView(lines: [.init("Nothing new")]),
        renderedAt: now, note: PanelNote(.deferred(.budget), again: now + 2_400_000_000_000),
        size: WidgetSize(columns: 76, rows: 1))

    static func screen(_ columns: Int, _ rows: Int, _ panels: [Panel] = [list, next, broken, late]) -> TodayScreen {
        var screen = TodayScreen(size: WidgetSize(columns: columns, rows: rows))
        screen.take(TodayModel(panels))
        screen.know([KnownWidget(kind: "clock", title: "Clock")])
        return screen
    }
}

extension TodayScreen {
    /// Returns the screen as text, at a fixed time.
    func text(after seconds: Int64 = 0) -> String {
        "\n" + picture(at: TodayMoment(now: SamplePanels.now + seconds * 1_000_000_000)).frame.picture + "\n"
    }
}
