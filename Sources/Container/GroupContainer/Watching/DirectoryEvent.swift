// Imports nothing: no file, clock or process.

/// What the kernel reports about a watched directory.
struct DirectoryEvent: Equatable, Sendable {
    enum Kind: Equatable, Sendable {
        /// The content was written, or closed after it was open for writing.
        case content
        /// Mode, owner, dates or number of hard links changed.
        case attributes
        case created
        case removed
        /// The entry was renamed away; the `arrived` with the same number is where it went.
        case left(UInt32)
        case arrived(UInt32)
        /// The watch's last event.
        case ended
    }

    var watch: Int32
    var kind: Kind
    /// Whether the entry is a directory.
    var isDirectory: Bool
    /// The entry's name.
    var name: [UInt8]
}

/// Joins the two halves of a rename. The kernel reports both in immediate succession, but they may be read apart.
struct RenamePairs: Equatable, Sendable {
    /// The first half: an item that was renamed away.
    struct Half: Equatable, Sendable {
        var origin: ItemLocation
        /// Earlier locations of the item, in case a directory that was renamed around it was half of an exchange.
        fileprivate(set) var others: [ItemLocation] = []
        /// The directory that was renamed away, if it has a watch.
        var directory: WatchTable.Detached?
        fileprivate var round: Int
    }

    private var halves: [UInt32: Half] = [:]
    private var round = 0

    /// Whether second halves may be outstanding.
    var isWaiting: Bool { !halves.isEmpty }

    mutating func left(_ origin: ItemLocation, _ directory: WatchTable.Detached?, cookie: UInt32) {
        halves[cookie] = Half(origin: origin, directory: directory, round: round)
    }

    /// Returns the first half of a rename; nil for an item that came from outside.
    mutating func arrived(cookie: UInt32) -> Half? { halves.removeValue(forKey: cookie) }

    /// Notes that a directory around the item was moved meanwhile.
    mutating func noteMove(from origin: ItemLocation, to goal: ItemLocation) {
        for (cookie, half) in halves {
            guard let location = half.origin.moved(from: origin, to: goal) else { continue }
            halves[cookie]?.others.append(half.origin)
            halves[cookie]?.origin = location
        }
    }

    /// Notes that all events were read. Returns the halves that have been waiting since before the last call: those
    /// items have left the container.
    mutating func endRound() -> [Half] {
        let expired = halves.filter { $0.value.round < round }
        for cookie in expired.keys { halves[cookie] = nil }
        round += 1
        return expired.sorted { $0.key < $1.key }.map(\.value)
    }
}
