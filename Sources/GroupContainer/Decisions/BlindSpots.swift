/// Which directories cannot be watched, and why: said once, however many there are.
struct BlindSpots: Equatable, Sendable {
    enum Reason: Equatable, Sendable {
        /// The kernel gives no inotify instance: nothing is watched.
        case noInstanceLeft
        /// The user has no watch left, for this directory and perhaps for others.
        case noWatchLeft
        /// It may not be entered or listed.
        case unreadable
    }

    /// What is to be said.
    enum News: Equatable, Sendable {
        case blind(ItemLocation?, Reason)
        /// Everything is watched again.
        case sighted
    }

    private var spots: [ItemLocation?: Reason] = [:]
    private var untold: [News] = []
    /// Limits are said once, not for each directory.
    private var toldLimit = false

    /// Something is to be compared every so often. What may not be entered could not be compared either.
    var needsComparing: Bool { spots.values.contains { $0 != .unreadable } }

    mutating func note(_ directory: ItemLocation?, _ reason: Reason) {
        if spots.updateValue(reason, forKey: directory) == reason { return }
        if reason != .unreadable {
            if toldLimit { return }
            toldLimit = true
        }
        untold.append(.blind(directory, reason))
    }

    /// It was listed, and perhaps watched.
    mutating func noteListed(_ directory: ItemLocation?, isWatched: Bool) {
        guard let reason = spots[directory], isWatched || reason == .unreadable else { return }
        spots[directory] = nil
        if !spots.isEmpty { return }
        toldLimit = false
        untold.append(.sighted)
    }

    mutating func take() -> News? { untold.isEmpty ? nil : untold.removeFirst() }
}
