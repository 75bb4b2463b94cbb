/// A word that should be a time and is none.
package enum TimeArgumentError: Error, Equatable, CustomStringConvertible {
    /// The word has no characters.
    case empty

    /// The word is not digits in one of the known forms.
    case malformed(String)

    /// The word begins with a minus sign.
    case negative(String)

    /// The time is beyond 292 years.
    case tooLarge(String)

    /// A sentence for the user, the word escaped for a terminal.
    package var description: String {
        switch self {
        case .empty: "empty; a time is like 2, 0.5 (seconds) or 250ms"
        case .malformed(let word): "'\(Self.shown(word))' is no time; one is like 2, 0.5 (seconds) or 250ms"
        case .negative(let word): "'\(Self.shown(word))' is negative; a time is like 2, 0.5 (seconds) or 250ms"
        case .tooLarge(let word): "'\(Self.shown(word))' is too long; the longest time is 292 years"
        }
    }

    private static func shown(_ word: String) -> String { PipeText.escaped(Array(word.utf8)) }
}

/// Times as every command takes them: `2`, `0.5` (seconds), `250ms`.
package enum TimeArgument {
    private static let attosecondsPerSecond: Int64 = 1_000_000_000_000_000_000

    /// A longer time would not fit an `Int64` of nanoseconds, which deadlines are counted in.
    private static let longestSeconds: Int64 = Int64.max / 1_000_000_000 - 1

    /// The time the text means. Digits by hand: through a `Double`, 0.1 would be another time.
    /// What is finer than an attosecond is dropped.
    package static func parse(_ text: String) throws(TimeArgumentError) -> Duration {
        guard !text.isEmpty else { throw .empty }
        guard !text.hasPrefix("-") else { throw .negative(text) }
        let isMilliseconds = text.hasSuffix("ms")
        let number = isMilliseconds ? text.dropLast(2) : text[...]
        let parts = number.utf8.split(separator: UInt8(ascii: "."), maxSplits: 1, omittingEmptySubsequences: false)
        var digits: [[Int64]] = []
        for part in parts {
            let values = part.map { Int64($0) - 0x30 }
            guard !values.isEmpty, values.allSatisfy({ 0...9 ~= $0 }) else { throw .malformed(text) }
            digits.append(values)
        }

        let unitsPerSecond: Int64 = isMilliseconds ? 1000 : 1
        let whole = try wholeUnits(digits[0], atMost: longestSeconds * unitsPerSecond, of: text)
        let attosecondsPerUnit = attosecondsPerSecond / unitsPerSecond
        var attoseconds = whole % unitsPerSecond * attosecondsPerUnit
        var weight = attosecondsPerUnit
        for digit in digits.dropFirst().joined() {
            weight /= 10
            attoseconds += digit * weight
        }
        return Duration(secondsComponent: whole / unitsPerSecond, attosecondsComponent: attoseconds)
    }

    private static func wholeUnits(
        _ digits: [Int64], atMost limit: Int64, of text: String
    ) throws(TimeArgumentError) -> Int64 {
        var total: Int64 = 0
        for digit in digits {
            // Compared before the multiplication, which could overflow.
            guard total <= (limit - digit) / 10 else { throw .tooLarge(text) }
            total = total * 10 + digit
        }
        return total
    }
}
