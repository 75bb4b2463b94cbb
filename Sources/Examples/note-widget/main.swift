import GroupCommands
import GroupContainer
import NoteShared
import WidgetCommands
import Widgets

// The widget of the note: shows what the app saved when it left, whichever way.

struct NoteWidget: WidgetProvider {
    static let kind = "note"
    var interests: [WidgetInterest] { [.path("Library/note.txt"), .defaults(NoteStore.suite)] }
    var placeholder: WidgetView? { WidgetView(title: "Note", lines: [.init("…", .secondary)]) }

    func snapshot(in context: WidgetContext) async throws -> WidgetView {
        let text = try NoteStore(context.container).read()
        guard let text, !text.isEmpty else {
            return WidgetView(title: "Note", lines: [.init("nothing noted", .secondary)])
        }
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        let most = context.environment.maximumSize.rows
        return WidgetView(title: "Note", lines: lines.prefix(most).map { .init(String($0)) })
    }
}

WidgetCommand.main(
    name: "note-widget", summary: "Shows the note that the app saved.", group: "group.com.example.note",
    provider: NoteWidget())
