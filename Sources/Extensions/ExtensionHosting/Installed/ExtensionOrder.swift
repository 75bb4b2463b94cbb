// Imports nothing: no file, clock or process.

/// The order in which a user wants the extensions offered: a text with one identifier a line. Empty lines, and those
/// that begin with '#', mean nothing.
struct ExtensionOrder: Hashable, Sendable {
    private let places: [String: Int]

    init(_ text: String) {
        var places: [String: Int] = [:]
        for line in text.split(whereSeparator: \.isNewline) {
            let name = line.drop(while: \.isWhitespace)
            let end = name.lastIndex { !$0.isWhitespace }
            guard let end, !name.hasPrefix("#") else { continue }
            let identifier = String(name[...end])
            if places[identifier] == nil { places[identifier] = places.count }
        }
        self.places = places
    }

    /// Returns whether the left extension comes before the right one: those in the text in its order, then all others by
    /// title and identifier.
    func isBefore(_ left: (title: String, identifier: String), _ right: (title: String, identifier: String)) -> Bool {
        switch (places[left.identifier], places[right.identifier]) {
        case (let left?, let right?): left < right
        case (_?, nil): true
        case (nil, _?): false
        case (nil, nil): (left.title, left.identifier) < (right.title, right.identifier)
        }
    }
}
