import QuickActionsShared
import WidgetCommands
import Widgets

// The widget of the quick actions: four buttons that open places in the app.

struct QuickActionsWidget: WidgetProvider {
    static let kind = "quick-actions"
    /// A path that matches no item, because the view never changes.
    var interests: [WidgetInterest] { [.path("Library/quick-actions/*")] }

    func snapshot(in context: WidgetContext) async throws -> WidgetView {
        WidgetView(
            title: "Quick actions", lines: QuickAction.allCases.map { .init($0.title, .prominent, url: $0.url) })
    }
}

WidgetCommand.main(
    name: "quick-actions-widget", summary: "Four buttons that open places in the app.",
    group: "group.com.example.quick-actions", provider: QuickActionsWidget())
