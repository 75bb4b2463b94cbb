import SystemCalls

/// Reads the journal on from a place, as changes that match. Keeps nothing but the place: a slow consumer costs no
/// memory.
struct ChangeReader: Sendable {
    let member: Member
    private let patterns: [Glob]
    private(set) var position: LogPosition
    /// The cursor was of another history: says so before anything else.
    private var isLost = false

    init(_ member: Member, since origin: ChangeOrigin, matching patterns: [String]) throws(CoordinationError) {
        self.member = member
        self.patterns = patterns.map { Glob(Array($0.utf8)) }
        switch origin {
        case .start: position = try member.journal.log.start()
        case .now: position = try member.journal.log.end()
        case .cursor(let cursor):
            if let place = try member.journal.position(of: cursor) {
                position = place
            } else {
                position = try member.journal.log.end()
                isLost = true
            }
        }
    }

    var cursor: Cursor { member.journal.cursor(at: position) }

    /// Nil at the end.
    mutating func next() throws(CoordinationError) -> Change? {
        if isLost {
            isLost = false
            return Change(rescanAt: cursor, time: wallNanoseconds())
        }
        while let entry = try member.journal.entry(behind: position) {
            position = entry.position
            if let change = Change(entry, cursor: cursor), matches(change) { return change }
        }
        return nil
    }

    var hasMore: Bool { isLost || member.journal.log.hasMore(behind: position) }

    private func matches(_ change: Change) -> Bool {
        if patterns.isEmpty { return true }
        var places = [change.path.bytes]
        if case .moved(let from) = change.kind { places.append(from.bytes) }
        return patterns.contains { pattern in
            // What was in a folder that went has no records of its own.
            places.contains { pattern.matches($0) || (change.takesFolder && pattern.couldMatchBelow($0)) }
        }
    }
}
