import NotificationCenter

/// A widget's class as many apps have it: it counts something, compares the number with the one that it shows, and
/// replies with the result.
class TodayCounter: NSObject, NCWidgetProviding {
    private(set) var shown: Int?
    private(set) var updates = 0
    var preferredContentSize = CGSize.zero
    private let file: URL

    init(countingLinesOf file: URL) {
        self.file = file
        super.init()
    }

    func widgetPerformUpdate(completionHandler: (@escaping (NCUpdateResult) -> Void)) {
        updates += 1
        guard let text = try? String(contentsOf: file, encoding: .utf8) else {
            completionHandler(NCUpdateResult.failed)
            return
        }
        let count = text.components(separatedBy: "\n").filter { !$0.isEmpty }.count
        if count != shown {
            shown = count
            completionHandler(NCUpdateResult.newData)
        } else {
            completionHandler(NCUpdateResult.noData)
        }
    }

    func widgetActiveDisplayModeDidChange(_ activeDisplayMode: NCWidgetDisplayMode, withMaximumSize maxSize: CGSize) {
        if activeDisplayMode == .expanded {
            preferredContentSize = CGSize(width: maxSize.width, height: 5)
        } else {
            preferredContentSize = maxSize
        }
    }
}

/// Names of Foundation keep their meaning in a file that imports the module of the same name as one of its classes.
enum FoundationNames {
    static let center = NotificationCenter.default
}
