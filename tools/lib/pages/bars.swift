// What the blocks of docs/guide/bars.md use.
import GroupContainer
import Widgets

let container: Container = undefined()

struct NextTodo: WidgetProvider {
    static let kind = "next-todo"
    var interests: [WidgetInterest] { [] }

    func snapshot(in context: WidgetContext) async throws -> WidgetView { WidgetView(lines: []) }
}
