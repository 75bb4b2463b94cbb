// The widgets of the tests for NotificationCenter, and an app's calls, in a process of their own:
//
//     today       a widget of the class TodayViewController, which shows the item Library/today.txt
//     hide        sets that the widget of the kind "today" has no content
import NotificationCenter

switch CommandLine.arguments.dropFirst().first {
case "today":
    try await TodayViewController().runAsWidget(ofKind: "today") { WidgetView(lines: [.init($0.text)]) }
case "hide": NCWidgetController().setHasContent(false, forWidgetWithBundleIdentifier: "today")
default: exit(64)
}
