// What the blocks of docs/guide/porting.md use.
import NotificationCenter
import WidgetKit

final class TodayCounter: NCWidgetProviding {
    var open = 0

    required init() {}
}

struct Entry: TimelineEntry {
    var date: Date
    var title: String
}

struct Provider: TimelineProvider {
    func placeholder(in context: Context) -> Entry { Entry(date: Date(), title: "") }
    func getSnapshot(in context: Context, completion: @escaping @Sendable (Entry) -> Void) {}
    func getTimeline(in context: Context, completion: @escaping @Sendable (WidgetKit.Timeline<Entry>) -> Void) {}
}
