// The widgets of the tests for NotificationCenter and WidgetKit, and an app's calls, in a process of their own:
//
//     today       a widget of the class TodayViewController, which shows the item Library/today.txt
//     theme       a widget of the class ThemeWidget, which has no interests and shows a key
//     countdown   a widget of the class CountdownWidget, which is updated by time alone
//     patient     a widget of the class PatientWidget, which is updated every second
//     ticking     a widget of the class TickingWidget, which has a timer
//     note        a widget of NoteProvider, which shows the item Library/note.txt
//     hide        sets that the widget of the kind "today" has no content
//     reload      requests a reload of the widgets of the kind "note"
//     reload-all  requests a reload of all widgets
//     list        prints the kinds and sizes of the widgets that hosts show
import NotificationCenter
import WidgetKit

switch CommandLine.arguments.dropFirst().first {
case "today":
    try await TodayViewController().runAsWidget(ofKind: "today") { WidgetView(lines: [.init($0.text)]) }
case "theme": try await ThemeWidget().runAsWidget(ofKind: "theme") { WidgetView(lines: [.init($0.text)]) }
case "countdown":
    try await CountdownWidget().runAsWidget(ofKind: "countdown", interests: [.path("none")], updatesEvery: nil) {
        $0.view
    }
case "ticking":
    try await TickingWidget().runAsWidget(ofKind: "ticking", interests: [.path("none")]) {
        WidgetView(lines: [.init($0.text)])
    }
case "patient":
    try await PatientWidget().runAsWidget(
        ofKind: "patient", interests: [.path("none")], updatesEvery: .seconds(1)
    ) { WidgetView(lines: [.init($0.text)]) }
case "note":
    try await NoteProvider().runAsWidget(ofKind: "note", interests: [.path("Library/other.txt")]) {
        WidgetView(lines: [.init($0.text)])
    }
case "hide": NCWidgetController().setHasContent(false, forWidgetWithBundleIdentifier: "today")
case "reload": WidgetCenter.shared.reloadTimelines(ofKind: "note")
case "reload-all": WidgetCenter.shared.reloadAllTimelines()
case "list":
    for widget in try await WidgetCenter.shared.currentConfigurations() { print(widget.kind, widget.family) }
default: exit(64)
}
