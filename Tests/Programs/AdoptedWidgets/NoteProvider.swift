import WidgetKit

struct NoteEntry: TimelineEntry {
    let date: Date
    let text: String
}

/// A provider as many apps have it.
struct NoteProvider: TimelineProvider {
    private var text: String {
        let container = URL(fileURLWithPath: ProcessInfo.processInfo.environment["GROUP_CONTAINER"] ?? "/")
        return (try? String(contentsOf: container.appendingPathComponent("Library/note.txt"), encoding: .utf8))
            ?? "nothing"
    }

    func placeholder(in context: Context) -> NoteEntry {
        NoteEntry(date: Date(), text: "…")
    }

    func getSnapshot(in context: Context, completion: @escaping (NoteEntry) -> ()) {
        completion(NoteEntry(date: Date(), text: text))
    }

    func getTimeline(in context: Context, completion: @escaping (Timeline<Entry>) -> ()) {
        let entries = [NoteEntry(date: Date(), text: text)]
        completion(Timeline(entries: entries, policy: .atEnd))
    }
}
