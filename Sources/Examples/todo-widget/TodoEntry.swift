import TodoShared

/// An entry as a view names it: others may have changed the list when it is pressed.
struct TodoEntry: Equatable {
    let number: Int
    let title: String

    init(number: Int, title: String) {
        self.number = number
        self.title = title
    }

    /// Parses an identifier of a toggle; nil for another text.
    init?(id: String) {
        let parts = id.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, let number = Int(parts[0]) else { return nil }
        self.init(number: number, title: String(parts[1]))
    }

    var id: String { "\(number):\(title)" }

    /// Returns where the entry is now: at its number, else the only one with its title; nil if there is none.
    func index(in list: [Todo]) -> Int? {
        if list.indices.contains(number - 1), list[number - 1].title == title { return number - 1 }
        let others = list.indices.filter { list[$0].title == title }
        return others.count == 1 ? others[0] : nil
    }
}
