import GroupContainer

/// A place in the app that its widget opens, as a URL.
package enum TodoLink: Equatable, Sendable {
    /// An entry, by its number in `todo list`.
    case entry(Int)
    /// The form for a new entry.
    case add

    package static let scheme = "todo"

    package var url: String {
        switch self {
        case .entry(let number): "\(Self.scheme)://item/\(number)"
        case .add: "\(Self.scheme)://add"
        }
    }

    /// Returns nil if the URL names no place of the app.
    package init?(url: String) {
        let prefix = "\(Self.scheme)://item/"
        if url == TodoLink.add.url {
            self = .add
        } else if url.hasPrefix(prefix), let number = Int(url.dropFirst(prefix.count)), number > 0 {
            self = .entry(number)
        } else {
            return nil
        }
    }
}
