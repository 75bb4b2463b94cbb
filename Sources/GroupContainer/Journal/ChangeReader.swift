import SystemCalls

/// Reads the journal on from a place, as changes that match. Keeps nothing but the place, and what is left of the
/// transaction that it is in the middle of: a slow consumer costs no memory.
struct ChangeReader: Sendable {
    let member: Member
    private let patterns: [Glob]
    /// In the middle of a transaction, the place before it: who stops there gets it again, rather than half of it.
    private(set) var position: LogPosition
    /// What is to come of a transaction, the last first, and the place behind it.
    private var rest: (changes: [Change], behind: LogPosition)?
    /// The place was not to be found, or what came behind it is gone: says so before anything else.
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

    /// Nil at the end. After an error that says that the journal is damaged it goes on at the end, with a `rescan`.
    mutating func next() throws(CoordinationError) -> Change? {
        while true {
            if isLost {
                isLost = false
                return Change(rescanAt: cursor, time: wallNanoseconds())
            }
            if let change = rest?.changes.popLast() {
                if let behind = rest?.behind, rest?.changes.isEmpty == true { (position, rest) = (behind, nil) }
                return change
            }
            switch try step() {
            case .end: return nil
            case .lost: (position, isLost) = (try member.journal.log.end(), true)
            case .gap(let place): (position, isLost) = (place, true)
            case .entry(let entry):
                let cursor = member.journal.cursor(at: entry.position)
                let changes = Change.changes(in: entry, cursor: cursor, where: matches)
                if changes.count > 1 {
                    rest = (changes.reversed(), entry.position)
                } else {
                    position = entry.position
                    if let change = changes.first { return change }
                }
            }
        }
    }

    private mutating func step() throws(CoordinationError) -> Journal.Step {
        do {
            return try member.journal.step(behind: position)
        } catch {
            // Nobody can say what was there. Whoever asks again has been told.
            if error.code == .damaged, let end = try? member.journal.log.end() { (position, isLost) = (end, true) }
            throw error
        }
    }

    var hasMore: Bool { isLost || rest != nil || member.journal.log.hasMore(behind: position) }

    private func matches(_ change: Change) -> Bool {
        if patterns.isEmpty { return true }
        var places = [change.path.bytes]
        if let other = change.kind.otherPath { places.append(other.bytes) }
        return patterns.contains { pattern in
            // What was in a folder that went has no records of its own.
            places.contains { pattern.matches($0) || (change.takesFolder && pattern.couldMatchBelow($0)) }
        }
    }
}
