/// A mistake in the command line (status 64).
package struct UsageError: Error, Equatable, CustomStringConvertible {
    /// What is wrong, with the nearest known name if there is one. Words of the user are escaped for a terminal.
    package let message: String

    /// A word of the user may have any length.
    private static let longest = 1_000

    /// Where to read more: `try 'groupctl read --help'`.
    package let hint: String

    /// The GROUP of a call without the PATH that has to follow: it may be both.
    package var groupOfMissingPath: [UInt8]?

    /// The names of the command and its subcommands.
    package let commandPath: [String]

    /// Creates an error in the call of the command with these names: `["groupctl", "read"]`.
    package init(_ message: String, commandPath: [String]) {
        self.message = message.count <= Self.longest ? message : message.prefix(Self.longest) + "…"
        self.commandPath = commandPath
        self.hint = "try '\(commandPath.joined(separator: " ")) --help'"
    }

    /// The message and the hint on one line.
    package var description: String { "\(message) (\(hint))" }
}

/// Finds the name that was probably meant.
package enum NearestName {
    /// Returns the candidate that `word` begins or nearly spells, or nil if none is near.
    ///
    /// Abbreviations are not accepted, so an abbreviated name is an error, and the error names the whole.
    package static func among(_ candidates: [String], to word: String) -> String? {
        // A longer word is no misspelling of ours, and comparing takes as long as it is.
        guard !word.isEmpty, word.utf8.count <= 100 else { return nil }
        let beginnings = candidates.filter { $0.hasPrefix(word) }
        if beginnings.count == 1 { return beginnings.first }
        let ranked = candidates.map { (name: $0, distance: distance(Array($0.utf8), Array(word.utf8))) }
        guard let best = ranked.min(by: { $0.distance < $1.distance }) else { return nil }
        return best.distance <= max(1, word.utf8.count / 3) ? best.name : nil
    }

    /// Returns whether `word` is `name` with a typing error, and not merely its beginning.
    static func isMisspelling(_ word: String, of name: String) -> Bool {
        distance(Array(name.utf8), Array(word.utf8)) <= max(1, word.utf8.count / 3)
    }

    /// Returns the optimal string alignment distance, in which a swap of neighbors, the most common typing error,
    /// counts as one.
    private static func distance(_ left: [UInt8], _ right: [UInt8]) -> Int {
        var beforeLast: [Int] = []
        var last = Array(0...right.count)
        for row in left.indices {
            var current = [row + 1]
            for column in right.indices {
                let substitution = last[column] + (left[row] == right[column] ? 0 : 1)
                var best = min(substitution, last[column + 1] + 1, current[column] + 1)
                if row > 0, column > 0, left[row] == right[column - 1], left[row - 1] == right[column] {
                    best = min(best, beforeLast[column - 1] + 1)
                }
                current.append(best)
            }
            beforeLast = last
            last = current
        }
        return last[right.count]
    }
}
