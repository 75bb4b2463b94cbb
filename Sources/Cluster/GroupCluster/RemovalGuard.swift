// Imports nothing: no file, clock or process.

/// Decides whether removals of items on this machine are sent to the others.
///
/// A file system that was unmounted, or a directory that was removed by mistake, must not empty the other machines. If
/// more than half of the items are gone, of at least eight, and no coordinated change has removed them, their removals
/// are withheld. Everything else goes on.
///
///     open ── most items are gone ──▶ withholding ── each of them is back, or a person accepts ──▶ open
///
/// An item that is back is withheld no more; the others still are, as a backup that is being restored may have come half
/// way. A removal within 30 s of the loss belongs to it, since a large directory is not removed at once. A later one is
/// counted apart from the loss: it is sent, unless most of what was left is gone, too.
///
/// All times are nanoseconds of one clock of the caller.
package struct RemovalGuard: Equatable, Sendable {
    package enum Event: Equatable, Sendable {
        case began
        case ended
    }

    /// The items whose removal is withheld.
    package private(set) var withheld: Set<LocalItem>
    /// The items whose removal is intended, until it is sent: coordinated changes have removed them, or a person has
    /// accepted that they are gone.
    package private(set) var meant: Set<LocalItem>
    /// Whether this state differs from the stored one.
    package private(set) var isUnstored = false
    /// When an item was last withheld; nil if this run has withheld none.
    private var withheldAt: Int64?

    /// The number of items below which nothing is withheld.
    private static let fewest = 8
    /// How long after a withheld removal another one belongs to the same loss.
    private static let duration: Int64 = 30_000_000_000

    package init(withheld: Set<LocalItem> = [], meant: Set<LocalItem> = []) {
        self.withheld = withheld
        self.meant = meant
    }

    package var isWithholding: Bool { !withheld.isEmpty }

    /// Notes the items that a coordinated change removes.
    package mutating func note(meant items: some Sequence<LocalItem>) {
        let before = meant.count
        meant.formUnion(items)
        if meant.count != before { isUnstored = true }
    }

    /// Forgets that removals were intended of items that are there again. `isThere` returns false for an item that may be
    /// gone, too: its removal stays intended until that is certain.
    package mutating func forgetPresent(_ isThere: (LocalItem) -> Bool) {
        let left = meant.filter { !isThere($0) }
        if left.count != meant.count { (meant, isUnstored) = (left, true) }
    }

    /// Notes that nothing is left to be sent.
    package mutating func sentAll() {
        if meant.isEmpty { return }
        (meant, isUnstored) = ([], true)
    }

    /// Counts the items that are gone, and returns how that changes the state.
    package mutating func check(_ mirror: ClusterMirror, _ disk: LocalTree, at now: Int64) -> Event? {
        let wasWithholding = isWithholding
        let gone = Set(missing(mirror, disk))
        let left = withheld.intersection(gone)
        let later = gone.subtracting(left)
        let others = mirror.base.count - left.count
        let belongs = isWithholding && withheldAt.map { now - $0 < Self.duration } == true
        if !later.isEmpty && (belongs || others >= Self.fewest && later.count * 2 > others) {
            withheldAt = now
            set(withheld: gone)
        } else {
            set(withheld: left)
        }
        return wasWithholding == isWithholding ? nil : isWithholding ? .began : .ended
    }

    private mutating func set(withheld new: Set<LocalItem>) {
        if new != withheld { (withheld, isUnstored) = (new, true) }
    }

    /// Lets the removals of the items be sent that are gone now. Returns how many these are; nil if nothing is
    /// withheld.
    package mutating func accept(_ mirror: ClusterMirror, _ disk: LocalTree) -> Int? {
        if !isWithholding { return nil }
        let missing = missing(mirror, disk)
        meant.formUnion(missing)
        (withheld, isUnstored) = ([], true)
        return missing.count
    }

    /// Returns whether an item is gone, and its removal is not sent.
    package func withholds(_ local: LocalItem, _ mirror: ClusterMirror, _ disk: LocalTree) -> Bool {
        withheld.contains(local) && disk[local] == nil && mirror.items[local] != nil && !meant.contains(local)
    }

    /// Returns the number of removals that are withheld.
    package func withheldCount(_ mirror: ClusterMirror, _ disk: LocalTree) -> Int {
        isWithholding ? missing(mirror, disk).count(where: withheld.contains) : 0
    }

    private func missing(_ mirror: ClusterMirror, _ disk: LocalTree) -> [LocalItem] {
        mirror.base.values.map(\.local).filter { disk[$0] == nil && !meant.contains($0) }
    }

    /// Notes that this state is stored.
    package mutating func stored() { isUnstored = false }
}
