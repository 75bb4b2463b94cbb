import GroupCommands
import GroupContainer
import GroupSystemCalls
import NoteShared
import WidgetCommands
import Widgets

// The widget of the note: shows what the app saved when it left, whichever way. In a note that is a file, tasks are
// ticked off, ticked ones are removed, and a line with the present time is added.

struct NoteWidget: WidgetProvider {
    static let kind = "note"
    let store: NoteStore
    var interests: [WidgetInterest] { [.path("Library/note.txt"), .defaults(NoteStore.suite)] }
    var placeholder: WidgetView? { WidgetView(title: "Note", lines: [.init("…", .secondary)]) }

    private static let (addTime, removeDone) = ("add-time", "remove-done")

    func snapshot(in context: WidgetContext) async throws -> WidgetView {
        let rows = context.environment.maximumSize.rows
        let text = try store.read() ?? ""
        let lines = NoteText(Array(text.utf8)).lines
        // A press changes items, and the defaults are none.
        let canChange = store.way == .file
        var buttons: [WidgetView.Line] = []
        if canChange {
            buttons.append(.init("Add the time", control: .button(Self.addTime)))
            let done = lines.count { $0.task?.isDone == true }
            // In a compact view, the text needs the room more.
            if done > 0, context.environment.displayMode == .expanded || lines.count + 2 <= rows {
                buttons.append(.init("Remove \(done) done", control: .button(Self.removeDone)))
            }
        }
        // At least one line of the text is shown, whatever the room.
        let shown = lines.prefix(max(1, rows - buttons.count)).map { line -> WidgetView.Line in
            guard canChange, let task = line.task else { return .init(String(line.text.prefix(1_000))) }
            return .init(
                task.title, task.isDone ? .secondary : .normal, control: .toggle(task.id, isOn: task.isDone))
        }
        let nothing: [WidgetView.Line] = [.init("nothing noted", .secondary)]
        return WidgetView(title: "Note", lines: (shown.isEmpty ? nothing : shown) + buttons)
    }

    func items(for action: WidgetAction) -> [AccessIntent] { [.writing(NoteStore.path)] }

    func perform(_ action: WidgetAction, on access: Access) throws {
        // The way changes under the lock that this press has.
        if store.way != .file { throw PressRefusal("the note is not in its file any more") }
        var note = NoteText(try access.readBytesIfPresent(NoteStore.path) ?? [])
        switch (action.id, action.isOn) {
        case (Self.addTime, nil):
            let time = localTime(Array("%Y-%m-%d %H:%M".utf8), secondsSince1970: wallNanoseconds() / 1_000_000_000)
            note.append(String(decoding: time ?? [], as: UTF8.self))
        case (Self.removeDone, nil):
            if note.removeDone() == 0 { throw PressRefusal("nothing in the note is done") }
        case (let id, let isDone?):
            if !note.setDone(isDone, id) { throw PressRefusal("'\(id)' is not in the note") }
        default: throw PressRefusal("the note has no button '\(action.id)'")
        }
        try access.write(bytes: note.bytes, to: NoteStore.path)
    }
}

WidgetCommand.main(
    name: "note-widget", summary: "Shows the note that the app saved, and changes it at a press.",
    group: "group.com.example.note", isPressable: true
) { _, container in NoteWidget(store: try NoteStore(container)) }
