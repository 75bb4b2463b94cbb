/// How quickly one change follows the other, in nanoseconds.
enum Pace {
    case none
    /// A pause of about this length after each change.
    case pause(Int64)
    /// A change at each interval of this length.
    case steady(Int64)

    /// Parses none, pause:NANOSECONDS or steady:NANOSECONDS.
    init?(_ text: String) {
        let words = text.split(separator: ":", omittingEmptySubsequences: false)
        switch (words.first, words.dropFirst().first.flatMap { Int64($0) }) {
        case ("none", nil): self = .none
        case ("pause", let length?) where length > 0: self = .pause(length)
        case ("steady", let length?) where length > 0: self = .steady(length)
        default: return nil
        }
    }
}
