package import GroupContainer

/// The summary of a watch on a terminal, in one line: how many changes of each kind, for how long, by which members.
package struct ChangeSummary: Sendable {
    private var kinds: [Change.Kind.Word: Int] = [:]
    private var authors: [String: Int] = [:]
    private static let mostAuthors = 4

    package init() {}

    package mutating func note(_ change: Change) {
        kinds[change.kind.word, default: 0] += 1
        if change.kind.isMarker || change.kind == .present { return }
        authors[change.author?.purpose ?? "uncoordinated", default: 0] += 1
    }

    /// Returns the line, such as `3 changes in 12 s: 2 created, 1 moved; by todo-app 2, uncoordinated 1`. `time`: in
    /// nanoseconds.
    package func line(after time: Int64) -> String {
        let changes = authors.values.reduce(0, +)
        var line = "\(changes) \(changes == 1 ? "change" : "changes") in \(Timestamp.duration(time))"
        let counts = Change.Kind.Word.allCases.compactMap { kind in kinds[kind].map { "\($0) \(kind)" } }
        if !counts.isEmpty { line += ": " + counts.joined(separator: ", ") }
        if authors.isEmpty { return line }
        let ranked = authors.sorted { ($1.value, $0.key) < ($0.value, $1.key) }
        line +=
            "; by "
            + ranked.prefix(Self.mostAuthors).map { "\(TerminalName.shown($0.key)) \($0.value)" }
            .joined(separator: ", ")
        let others = ranked.dropFirst(Self.mostAuthors).map(\.value).reduce(0, +)
        return others == 0 ? line : line + ", others \(others)"
    }
}
