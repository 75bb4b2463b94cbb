import Foundation
import GroupContainer
import NotificationCenter
import Widgets

/// A widget that shows the key "theme" of the suite "settings", and has no interests.
final class ThemeWidget: NCWidgetProviding {
    var text: String {
        guard let container = try? Container.ofWidgetHost() else { return "no container" }
        return (try? GroupDefaults(container, suite: "settings"))?.string(forKey: "theme") ?? "none"
    }
}

/// A widget with a countdown of a second that nothing else updates.
final class CountdownWidget: NCWidgetProviding {
    private let end = Date(timeIntervalSinceNow: 1)

    var view: WidgetView {
        WidgetView(lines: [end > Date() ? .init("", countdown: end) : .init("over")])
    }
}

/// A widget that looks the same until its third update.
final class PatientWidget: NCWidgetProviding {
    private var updates = 0

    func widgetPerformUpdate() async -> NCUpdateResult {
        updates += 1
        return .newData
    }

    var text: String { updates < 3 ? "waiting" : "third" }
}

/// A widget that would show the time by a timer.
final class TickingWidget: NCWidgetProviding {
    private(set) var text = "loaded"

    func viewDidLoad() {
        _ = Timer.scheduledTimer(withTimeInterval: 1, repeats: true) { _ in }
    }

    func viewWillAppear(_ animated: Bool) { text = "appears" }

    func widgetPerformUpdateWithCompletionHandler(completionHandler: ((NCUpdateResult) -> Void)!) {
        completionHandler(.newData)
    }
}
