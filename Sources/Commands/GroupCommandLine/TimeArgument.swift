import GroupBytes

/// The error for a word that is not a time.
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
        case .empty: "the time is empty; a time is like \(TimeArgument.forms)"
        case .malformed(let word): "'\(Self.shown(word))' is not a time; a time is like \(TimeArgument.forms)"
        case .negative(let word): "'\(Self.shown(word))' is negative; a time is like \(TimeArgument.forms)"
        case .tooLarge(let word): "'\(Self.shown(word))' is too long; the longest time is 292 years"
        }
    }

    private static func shown(_ word: String) -> String { PipeText.escaped(Array(word.utf8)) }
}

/// Times as every command accepts them: `5s`, `2m`, `1h`, `30d`, `250ms`, `0.5` (seconds).
package enum TimeArgument {
    /// How a time is written, for help and errors.
    package static let forms = "5s, 2m, 1h, 30d or 250ms; a plain number is in seconds"

    private static let attosecondsPerSecond: Int128 = 1_000_000_000_000_000_000

    /// The units, in the order in which they are tried: `ms` before `s`, because a text in `ms` also ends in `s`; the
    /// empty one last.
    private static let units: [(suffix: String, attoseconds: Int128)] = [
        ("ms", attosecondsPerSecond / 1_000), ("s", attosecondsPerSecond), ("m", 60 * attosecondsPerSecond),
        ("h", 3_600 * attosecondsPerSecond), ("d", 86_400 * attosecondsPerSecond), ("", attosecondsPerSecond),
    ]

    /// The longest time: deadlines are counted in an `Int64` of nanoseconds.
    private static let longest = Int128(Int64.max / 1_000_000_000 - 1) * attosecondsPerSecond

    /// Returns the time of a text. Digits are converted without a `Double`, in which 0.1 would be another time.
    /// Fractions of an attosecond are dropped.
    package static func parse(_ text: String) throws(TimeArgumentError) -> Duration {
        guard !text.isEmpty else { throw .empty }
        guard !text.hasPrefix("-") else { throw .negative(text) }
        guard let unit = units.first(where: { text.hasSuffix($0.suffix) }) else { throw .malformed(text) }
        let number = text.utf8.dropLast(unit.suffix.utf8.count)
        let parts = number.split(separator: UInt8(ascii: "."), maxSplits: 1, omittingEmptySubsequences: false)
        var digits: [[Int128]] = []
        for part in parts {
            let values = part.map { Int128($0) - 0x30 }
            guard !values.isEmpty, values.allSatisfy({ 0...9 ~= $0 }) else { throw .malformed(text) }
            digits.append(values)
        }
        var whole: Int128 = 0
        for digit in digits[0] {
            whole = whole * 10 + digit
            guard whole * unit.attoseconds < longest + unit.attoseconds else { throw .tooLarge(text) }
        }
        var attoseconds = whole * unit.attoseconds
        var weight = unit.attoseconds
        for digit in digits.dropFirst().joined() {
            weight /= 10
            attoseconds += digit * weight
        }
        guard attoseconds < longest + attosecondsPerSecond else { throw .tooLarge(text) }
        let (seconds, rest) = attoseconds.quotientAndRemainder(dividingBy: attosecondsPerSecond)
        return Duration(secondsComponent: Int64(seconds), attosecondsComponent: Int64(rest))
    }
}
