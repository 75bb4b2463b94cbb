/// How quickly one change follows the other, in nanoseconds.
enum Pace {
    case none
    /// So long after each, more or less.
    case pause(Int64)
    /// One every so long.
    case steady(Int64)

    /// none, pause:NANOSECONDS or steady:NANOSECONDS.
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
