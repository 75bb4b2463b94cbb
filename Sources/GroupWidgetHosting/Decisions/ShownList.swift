/// Which widgets are shown, in which order, and which of them expanded. Kinds that are not installed keep their place.
package struct ShownList: Hashable, Sendable {
    /// Nil: nobody has chosen, so all that there are, by their kinds.
    package private(set) var chosen: [String]?
    package private(set) var expanded: Set<String>

    package init(_ chosen: [String]? = nil, expanded: Set<String> = []) {
        var seen: Set<String> = []
        self.chosen = chosen?.filter { seen.insert($0).inserted }
        self.expanded = expanded
    }

    /// Of these, those that are shown.
    package func kinds(among installed: some Collection<String>) -> [String] {
        chosen.map { $0.filter(installed.contains) } ?? installed.sorted()
    }

    /// At the end. False: it is there.
    package mutating func add(_ kind: String, among installed: some Collection<String>) -> Bool {
        let present = chosen ?? installed.sorted()
        if present.contains(kind) { return false }
        chosen = present + [kind]
        return true
    }

    /// False: it is not there.
    package mutating func remove(_ kind: String, among installed: some Collection<String>) -> Bool {
        let present = chosen ?? installed.sorted()
        if !present.contains(kind) { return false }
        chosen = present.filter { $0 != kind }
        expanded.remove(kind)
        return true
    }

    /// These first, in this order; the others as they were. Kinds that are not on the list do not come on it.
    package mutating func order(_ first: [String], among installed: some Collection<String>) {
        let present = chosen ?? installed.sorted()
        self = ShownList(first.filter(present.contains) + present.filter { !first.contains($0) }, expanded: expanded)
    }

    /// False: it was so.
    package mutating func setExpanded(_ isExpanded: Bool, _ kind: String) -> Bool {
        isExpanded ? expanded.insert(kind).inserted : expanded.remove(kind) != nil
    }
}
