// Imports nothing: no file, clock or process.

/// What the kernel says happened in a watched directory.
struct DirectoryEvent: Equatable, Sendable {
    enum Kind: Equatable, Sendable {
        /// Its content was written, or closed by one who could write.
        case content
        /// Mode, owner, dates, links.
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
    /// The entry is a directory.
    var isDirectory: Bool
    /// The entry's name.
    var name: [UInt8]
}

/// Joins the two halves of a rename. The kernel tells of both right after each other, but they may be read apart.
struct RenamePairs: Equatable, Sendable {
    /// One half: what was renamed away.
    struct Half: Equatable, Sendable {
        var origin: ItemLocation
        /// Where it was, if what was renamed around it was half of an exchange.
        fileprivate(set) var others: [ItemLocation] = []
        /// Of a directory that is known.
        var directory: WatchTable.Detached?
        fileprivate var round: Int
    }

    private var halves: [UInt32: Half] = [:]
    private var round = 0

    /// Something may be waited for.
    var isWaiting: Bool { !halves.isEmpty }

    mutating func left(_ origin: ItemLocation, _ directory: WatchTable.Detached?, cookie: UInt32) {
        halves[cookie] = Half(origin: origin, directory: directory, round: round)
    }

    /// Where it came from; nil for what came from outside.
    mutating func arrived(cookie: UInt32) -> Half? { halves.removeValue(forKey: cookie) }

    /// A directory around it was moved meanwhile.
    mutating func noteMove(from origin: ItemLocation, to goal: ItemLocation) {
        for (cookie, half) in halves {
            guard let place = half.origin.moved(from: origin, to: goal) else { continue }
            halves[cookie]?.others.append(half.origin)
            halves[cookie]?.origin = place
        }
    }

    /// Everything that could be read was read. What has been waiting since before the last time has left for good.
    mutating func endRound() -> [Half] {
        let gone = halves.filter { $0.value.round < round }
        for cookie in gone.keys { halves[cookie] = nil }
        round += 1
        return gone.sorted { $0.key < $1.key }.map(\.value)
    }
}
