import GroupCommands
import GroupContainer
import NotebookShared
import WidgetCommands
import Widgets

// The widget of the notebook: shows the notes that are not done. A commit of any program is a change of the database,
// so the widget is refreshed by it.

struct NotebookWidget: WidgetProvider {
    static let kind = "notebook"
    var interests: [WidgetInterest] { [.path("\(Notebook.path)")] }
    var placeholder: WidgetView? { WidgetView(title: "Notebook", lines: [.init("…", .secondary)]) }

    func snapshot(in context: WidgetContext) async throws -> WidgetView {
        let open = try Notebook(in: context.container).notes().filter { !$0.isDone }
        if open.isEmpty { return WidgetView(title: "Notebook", lines: [.init("nothing to do", .secondary)]) }
        let most = context.environment.maximumSize.rows
        return WidgetView(title: "Notebook", lines: open.prefix(most).map { .init($0.text) })
    }
}

WidgetCommand.main(
    name: "notebook-widget", summary: "Shows the notes that are not done.", group: "group.com.example.notebook",
    needing: [.sqlite], provider: NotebookWidget())
