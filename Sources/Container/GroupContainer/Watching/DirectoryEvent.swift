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

/// Joins the two halves of a rename.
struct RenamePairs: Equatable, Sendable {
    /// The first half: an item that was renamed away.
    struct Half: Equatable, Sendable {
        var origin: ItemLocation
        /// Earlier locations of the item, in case a directory that was renamed around it was half of an exchange.
        fileprivate(set) var others: [ItemLocation] = []
        /// The directory that was renamed away, if it has a watch.
        var directory: WatchTable.Detached?
    }

    private var halves: [UInt32: Half] = [:]

    mutating func left(_ origin: ItemLocation, _ directory: WatchTable.Detached?, cookie: UInt32) {
        halves[cookie] = Half(origin: origin, directory: directory)
    }

    /// Where the item came from; nil for one from outside.
    func origin(cookie: UInt32) -> ItemLocation? { halves[cookie]?.origin }

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

    /// Returns the halves whose other halves were about a directory that is not watched: those items have left.
    mutating func takeRest() -> [Half] {
        defer { halves = [:] }
        return halves.sorted { $0.key < $1.key }.map(\.value)
    }
}
