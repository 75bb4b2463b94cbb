#if canImport(AppleFileCoordination)
import NotificationCenter

extension DiaryViewController {
    /// Shows the line in a host. On Apple's systems this is the controller's view.
    func run() async throws {
        try await runAsWidget(ofKind: "diary") { WidgetView(lines: [.init($0.line)]) }
    }
}
#endif
