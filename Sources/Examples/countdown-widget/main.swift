import CountdownShared
import FoundationEssentials
import GroupContainer
import WidgetCommands
import Widgets

// The widget of the countdown: continues while the app is not running, shows its end, and opens the app.

struct CountdownWidget: WidgetProvider {
    static let kind = "countdown"
    var interests: [WidgetInterest] { [.defaults(Countdown.suite, key: "countdown")] }

    func snapshot(in context: WidgetContext) async throws -> WidgetView {
        Self.view([.init("no countdown", .secondary)])
    }

    /// Two entries: the running countdown, and its end. A change that depends only on time needs no refresh.
    func timeline(in context: WidgetContext) async throws -> Timeline<WidgetView> {
        let defaults = try GroupDefaults(context.container, suite: Countdown.suite)
        guard let countdown = try defaults.presentCountdown() else { return Timeline(try await snapshot(in: context)) }
        let finished = Self.view([.init("finished", .good)])
        return Timeline(
            first: .init(snapshot: Self.view([.init("", .prominent, countdown: countdown.end)])),
            later: [.init(date: countdown.end, snapshot: finished)])
    }

    private static func view(_ lines: [WidgetView.Line]) -> WidgetView {
        WidgetView(title: "Countdown", lines: lines, url: "\(Countdown.scheme)://show")
    }
}

WidgetCommand.main(
    name: "countdown-widget", summary: "Continues the countdown while the app is away.",
    group: "group.com.example.countdown",
    provider: CountdownWidget())
