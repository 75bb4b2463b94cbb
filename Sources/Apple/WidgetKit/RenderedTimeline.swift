import Foundation
import Widgets

/// A provider's timeline after its entries were rendered.
struct RenderedTimeline: Sendable {
    /// The views from the present one on, with the dates from which they are shown. The present one has no date: views
    /// that look the same are then equal, also where an entry's date is the moment at which it was made.
    private(set) var entries: [Widgets.Timeline<WidgetView>.Entry] = []
    let policy: TimelinePolicy

    /// The shortest time to a refresh whose date has already come.
    private static let shortestInterval: TimeInterval = 300

    init<Entry>(_ timeline: Timeline<Entry>, at now: Date, _ view: (Entry) -> WidgetView) {
        let sorted = timeline.entries.enumerated().sorted {
            ($0.element.date, $0.offset) < ($1.element.date, $1.offset)
        }.map(\.element)
        let present = sorted.lastIndex { $0.date <= now } ?? 0
        for (place, entry) in sorted.enumerated().dropFirst(present) {
            entries.append(.init(date: place == present ? nil : entry.date, snapshot: view(entry)))
        }
        let date: Date
        switch timeline.policy.policy {
        case .never:
            policy = .never
            return
        case .atEnd: date = sorted.last?.date ?? now
        case .after(let moment): date = moment
        }
        policy = .after(date > now ? date : now.addingTimeInterval(Self.shortestInterval))
    }
}
