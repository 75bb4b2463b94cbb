/// Which folder each watch is of. A watch stays with its folder when that is moved; the table follows.
///
/// The location of a watch may be stale, where events were lost; whoever lists a folder sets it right. So it is only
/// ever taken for where to look.
struct WatchTable: Equatable, Sendable {
    struct Folder: Equatable, Sendable {
        /// Nil: the root.
        var location: ItemLocation?
        var inode: UInt64
    }

    private var folders: [Int32: Folder] = [:]
    private var watches: [ItemLocation?: Int32] = [:]
    /// Of folders that were renamed away to nobody knows where.
    private var detached = Set<Int32>()

    var numbers: [Int32] { Array(folders.keys) }

    subscript(watch: Int32) -> Folder? { folders[watch] }

    mutating func set(_ watch: Int32, _ folder: Folder) {
        if let before = folders[watch], before.location != folder.location, watches[before.location] == watch {
            watches[before.location] = nil
        }
        detached.remove(watch)
        folders[watch] = folder
        watches[folder.location] = watch
    }

    mutating func end(_ watch: Int32) {
        guard let folder = folders.removeValue(forKey: watch) else { return }
        detached.remove(watch)
        if watches[folder.location] == watch { watches[folder.location] = nil }
    }

    /// A folder was renamed away, with those in it: their watches, which are of nowhere until it is known where they
    /// went. Linear in the number of watches.
    mutating func detach(_ top: ItemLocation) -> [Int32] {
        let tree = folders.filter { _, folder in
            guard let location = folder.location else { return false }
            return location == top || location.isBelow(top)
        }.keys
        for watch in tree {
            if let folder = folders[watch], watches[folder.location] == watch { watches[folder.location] = nil }
        }
        detached.formUnion(tree)
        return Array(tree)
    }

    /// Where the folder went whose watches were detached. Linear in their number.
    mutating func attach(_ tree: [Int32], from origin: ItemLocation, to goal: ItemLocation) {
        for watch in tree where detached.contains(watch) {
            guard let folder = folders[watch], let location = folder.location else { continue }
            let place = location == origin ? goal : location.moved(from: origin, to: goal)
            if let place { set(watch, Folder(location: place, inode: folder.inode)) }
        }
    }

    /// It left the container: the watches that nobody has found anywhere since.
    mutating func remove(_ tree: [Int32]) -> [Int32] {
        let gone = tree.filter { detached.contains($0) }
        for watch in gone { end(watch) }
        return gone
    }
}
