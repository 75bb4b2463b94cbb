import WidgetKit

struct HourEntry: TimelineEntry {
    let date: Date
    let hour: Int
}

/// A provider as many apps have it: an entry for each of the next five hours.
struct HourProvider: TimelineProvider {
    let start: Date

    func placeholder(in context: Context) -> HourEntry {
        HourEntry(date: start, hour: -1)
    }

    func getSnapshot(in context: Context, completion: @escaping (HourEntry) -> ()) {
        let entry = HourEntry(date: start, hour: 0)
        completion(entry)
    }

    func getTimeline(in context: Context, completion: @escaping (Timeline<Entry>) -> ()) {
        var entries: [HourEntry] = []
        for hourOffset in 0..<5 {
            let entryDate = start.addingTimeInterval(Double(hourOffset) * 3600)
            let entry = HourEntry(date: entryDate, hour: hourOffset)
            entries.append(entry)
        }
        let timeline = Timeline(entries: entries, policy: .atEnd)
        completion(timeline)
    }
}
