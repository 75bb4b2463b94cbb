/// The places of the app for which its widget has buttons.
package enum QuickAction: String, CaseIterable, Sendable {
    case compose, search, scan, share

    package static let scheme = "quick-actions"
    package var url: String { "\(Self.scheme)://\(rawValue)" }

    /// Returns nil if the URL names no place of the app.
    package init?(url: String) {
        let prefix = "\(Self.scheme)://"
        guard url.hasPrefix(prefix) else { return nil }
        self.init(rawValue: String(url.dropFirst(prefix.count)))
    }

    package var title: String {
        switch self {
        case .compose: "Compose"
        case .search: "Search"
        case .scan: "Scan"
        case .share: "Share"
        }
    }
}
