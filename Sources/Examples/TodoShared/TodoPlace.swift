import GroupContainer

/// Places in the app that its widget opens, as URLs.
package enum TodoPlace: Equatable, Sendable {
    /// An entry, as `todo list` counts.
    case entry(Int)
    /// Where a new entry is typed.
    case add

    package static let scheme = "todo"

    package var url: String {
        switch self {
        case .entry(let number): "\(Self.scheme)://item/\(number)"
        case .add: "\(Self.scheme)://add"
        }
    }

    /// Nil: it is no place of the app.
    package init?(url: String) {
        let prefix = "\(Self.scheme)://item/"
        if url == TodoPlace.add.url {
            self = .add
        } else if url.hasPrefix(prefix), let number = Int(url.dropFirst(prefix.count)), number > 0 {
            self = .entry(number)
        } else {
            return nil
        }
    }
}
