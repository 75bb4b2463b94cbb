// Imports nothing: no file, clock or process.

/// Decides whether removals of items on this machine are sent to the others.
///
/// A file system that was unmounted, or a directory that was removed by mistake, must not empty the other machines. If
/// more than half of the items are gone, of at least eight, and no coordinated change has removed them, their removals
/// are withheld. Everything else goes on.
///
///     open ── most items are gone ──▶ withholding ── all of them are back, or a person accepts ──▶ open
///
/// Fewer items than before may be gone for other reasons: another machine has removed or changed them, or a backup is
/// being restored and has come half way. So only the return of all items, or a person, ends the withholding. A person
/// accepts the items that are gone at that time, and no later loss.
package struct RemovalGuard: Equatable, Sendable {
    package enum Event: Equatable, Sendable {
        case began
        case ended
    }

    package private(set) var isWithholding: Bool
    /// The items whose removal is intended, until it is sent: coordinated changes have removed them, or a person has
    /// accepted that they are gone.
    package private(set) var meant: Set<LocalItem>
    /// Whether this state differs from the stored one.
    package private(set) var isUnstored = false

    /// The number of items below which nothing is withheld.
    private static let fewest = 8

    package init(isWithholding: Bool = false, meant: Set<LocalItem> = []) {
        self.isWithholding = isWithholding
        self.meant = meant
    }

    /// Notes the items that a coordinated change removes.
    package mutating func note(meant items: some Sequence<LocalItem>) {
        let before = meant.count
        meant.formUnion(items)
        if meant.count != before { isUnstored = true }
    }

    /// Forgets that removals were intended of items that are there again.
    package mutating func forgetPresent(_ disk: LocalTree) {
        let left = meant.filter { disk[$0] == nil }
        if left.count != meant.count { (meant, isUnstored) = (left, true) }
    }

    /// Notes that nothing is left to be sent.
    package mutating func sentAll() {
        if meant.isEmpty { return }
        (meant, isUnstored) = ([], true)
    }

    /// Counts the items that are gone, and returns how that changes the state.
    package mutating func check(_ mirror: ClusterMirror, _ disk: LocalTree) -> Event? {
        let count = missing(mirror, disk).count
        if isWithholding {
            if count > 0 { return nil }
            (isWithholding, isUnstored) = (false, true)
            return .ended
        }
        if mirror.base.count < Self.fewest || count * 2 <= mirror.base.count { return nil }
        (isWithholding, isUnstored) = (true, true)
        return .began
    }

    /// Lets the removals of the items be sent that are gone now. Returns how many these are; nil if nothing is
    /// withheld.
    package mutating func accept(_ mirror: ClusterMirror, _ disk: LocalTree) -> Int? {
        if !isWithholding { return nil }
        let missing = missing(mirror, disk)
        meant.formUnion(missing)
        (isWithholding, isUnstored) = (false, true)
        return missing.count
    }

    /// Returns whether an item is gone, and its removal is not sent.
    package func withholds(_ local: LocalItem, _ mirror: ClusterMirror, _ disk: LocalTree) -> Bool {
        isWithholding && disk[local] == nil && mirror.items[local] != nil && !meant.contains(local)
    }

    /// Returns the number of removals that are withheld.
    package func withheldCount(_ mirror: ClusterMirror, _ disk: LocalTree) -> Int {
        isWithholding ? missing(mirror, disk).count : 0
    }

    private func missing(_ mirror: ClusterMirror, _ disk: LocalTree) -> [LocalItem] {
        mirror.base.values.map(\.local).filter { disk[$0] == nil && !meant.contains($0) }
    }

    /// Notes that this state is stored.
    package mutating func stored() { isUnstored = false }
}
