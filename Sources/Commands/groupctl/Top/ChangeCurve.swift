// Imports nothing: no file, clock or process.

/// How many changes there were in each of the last seconds: in all, and by their authors. Seconds are counted by a clock
/// that the caller has.
struct ChangeCurve: Hashable, Sendable {
    enum Author: Hashable, Sendable {
        case member(Int32)
        /// Members that have left.
        case formerMembers
        /// Programs that changed items without coordination.
        case others
    }

    /// The seconds that are kept, besides the one that is not over.
    static let length = 60

    /// The second that is not over.
    private(set) var second: Int64
    /// The counts of an author, each at its second's remainder by their number.
    private var counts: [Author: [UInt32]] = [:]
    private var all = [UInt32](repeating: 0, count: length + 1)

    init(at second: Int64) { self.second = second }

    mutating func add(_ count: Int = 1, by author: Author) {
        let place = Self.place(second)
        let added = UInt32(clamping: count)
        all[place] &+= added
        counts[author, default: Array(repeating: 0, count: Self.length + 1)][place] &+= added
    }

    /// Goes on to a later second. Authors without a change since are forgotten.
    mutating func advance(to second: Int64) {
        let passed = Int(clamping: second - self.second)
        if passed <= 0 { return }
        let places = (1...min(passed, Self.length + 1)).map { Self.place(second - Int64($0) + 1) }
        self.second = second
        for place in places { all[place] = 0 }
        for author in counts.keys {
            for place in places { counts[author]?[place] = 0 }
        }
        counts = counts.filter { $0.value.contains { $0 > 0 } }
    }

    /// Counts the changes of an author from now on, and those that were counted, as those of another one.
    mutating func merge(_ author: Author, into other: Author) {
        guard let moved = counts.removeValue(forKey: author) else { return }
        let present = counts[other] ?? Array(repeating: 0, count: Self.length + 1)
        counts[other] = zip(present, moved).map { $0 &+ $1 }
    }

    /// Whether there was no change in the seconds that are kept.
    var isFlat: Bool { all.allSatisfy { $0 == 0 } }
    var authors: some Collection<Author> { counts.keys }

    /// Returns the counts of the last `width` seconds that are over, the latest one last; of all authors without
    /// `author`.
    func values(of author: Author? = nil, last width: Int) -> [Int] {
        guard let values = author.map({ counts[$0] }) ?? all else { return [] }
        return (1...max(1, min(width, Self.length))).reversed().map { Int(values[Self.place(second - Int64($0))]) }
    }

    /// Returns the changes in the last second that is over.
    func rate(of author: Author? = nil) -> Int { values(of: author, last: 1).first ?? 0 }

    /// Returns the changes in all seconds that are kept.
    func sum(of author: Author) -> Int { counts[author]?.reduce(0) { $0 + Int($1) } ?? 0 }

    private static func place(_ second: Int64) -> Int {
        let rest = Int(second % Int64(length + 1))
        return rest < 0 ? rest + length + 1 : rest
    }
}

/// A curve in one row.
enum Sparkline {
    /// Returns a character for each value: a blank for 0, the highest one for `most`, and more than a blank for all
    /// others.
    static func text(_ values: [Int], most: Int, isUnicode: Bool) -> String {
        let levels = isUnicode ? unicode : ascii
        return String(
            values.map { value in
                if value <= 0 || most <= 0 { return " " }
                let height = (min(value, most) * levels.count + most - 1) / most
                return levels[max(1, height) - 1]
            })
    }

    private static let unicode: [Character] = ["▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"]
    private static let ascii: [Character] = [".", ":", "-", "=", "+", "*", "#", "@"]
}
