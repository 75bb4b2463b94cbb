// Imports nothing: no file, clock or process.

/// What a presenter is asked. Made anew from the documentation, so that the model does not share a fault with the code.
package struct Questions: OptionSet, Hashable, Sendable, CustomStringConvertible {
    package let rawValue: UInt32
    package init(rawValue: UInt32) { self.rawValue = rawValue }

    package static let reader = Questions(rawValue: 1)
    package static let writer = Questions(rawValue: 2)
    package static let save = Questions(rawValue: 4)
    package static let deletion = Questions(rawValue: 8)
    package static let all: Questions = [.reader, .writer, .save, .deletion]

    private static let names: [(Questions, String)] = [
        (.reader, "reader"), (.writer, "writer"), (.save, "save"), (.deletion, "deletion"),
    ]

    /// Parses `reader+save`.
    package init(_ text: some StringProtocol) {
        self = []
        for word in text.split(separator: "+") {
            if let found = Self.names.first(where: { $0.1 == word }) { formUnion(found.0) }
        }
    }

    package var description: String {
        let words = Self.names.filter { contains($0.0) }.map(\.1)
        return words.isEmpty ? "-" : words.joined(separator: "+")
    }

    /// Whether the presenter lets go of its item, and reacquires it.
    package var relinquishes: Bool { !isDisjoint(with: [.reader, .writer]) }
}

/// An item that a request names, and what the request does with it.
package struct Intent: Hashable, Sendable, CustomStringConvertible {
    package enum Kind: String, Sendable {
        case read, write, merge, delete, move, replace
        /// Reads what is on the disk: presenters do not save.
        case readDisk = "read-disk"
    }

    package var kind: Kind
    package var path: String

    package init(_ kind: Kind, _ path: String) { (self.kind, self.path) = (kind, path) }

    /// Parses `write:d/a`.
    init?(_ text: some StringProtocol) {
        guard let colon = text.firstIndex(of: ":"), let kind = Kind(rawValue: String(text[..<colon])) else {
            return nil
        }
        self.init(kind, String(text[text.index(after: colon)...]))
    }

    package var description: String { "\(kind.rawValue):\(path)" }

    /// Whether the request excludes others that read the item.
    package var isWriting: Bool { ![.read, .readDisk].contains(kind) }

    /// Whether a directory is meant with everything below it.
    package var isStructural: Bool { [.delete, .move, .replace].contains(kind) }

    var asks: Questions {
        switch kind {
        case .read: [.reader, .save]
        case .readDisk: .reader
        case .write, .move: .writer
        case .merge: [.writer, .save]
        case .delete, .replace: [.writer, .deletion]
        }
    }
}

/// Where the items of a request are, and how far the request reaches.
struct Reach: Sendable {
    var intents: [Intent]
    /// The items' places, in the order of the intents.
    var places: [String]
    /// Whether one of the items that are moved, removed or replaced is a directory.
    var hasDirectory: Bool

    /// Returns what the presenter of a place is asked: a presenter of a directory presents everything below it.
    func questions(to presented: String) -> Questions {
        var questions: Questions = []
        for (intent, place) in zip(intents, places) {
            let isWhole = hasDirectory && intent.isStructural
            if place == presented || place.isBelow(presented) || isWhole && presented.isBelow(place) {
                questions.formUnion(intent.asks)
            }
        }
        if questions.contains(.writer) { questions.remove(.reader) }
        return questions
    }

    /// Returns whether an item is locked by the request.
    func covers(_ item: String) -> Bool {
        zip(intents, places).contains { intent, place in
            place == item || hasDirectory && intent.isStructural && item.isBelow(place)
        }
    }

    /// Returns whether two requests cannot have their access at the same time.
    func excludes(_ other: Reach) -> Bool {
        func meet(_ one: Reach, _ two: Reach) -> Bool {
            zip(one.intents, one.places).contains { intent, place in
                zip(two.intents, two.places).contains { otherIntent, otherPlace in
                    let isWhole = one.hasDirectory && intent.isStructural
                    return (place == otherPlace || isWhole && otherPlace.isBelow(place))
                        && (intent.isWriting || otherIntent.isWriting)
                }
            }
        }
        return meet(self, other) || meet(other, self)
    }
}

extension String {
    func isBelow(_ directory: String) -> Bool { hasPrefix(directory + "/") }

    /// Returns the place after a move of this item, or of a directory around it; nil where it stays.
    func following(_ origin: String, to place: String) -> String? {
        if self == origin { return place }
        return isBelow(origin) ? place + dropFirst(origin.count) : nil
    }
}
