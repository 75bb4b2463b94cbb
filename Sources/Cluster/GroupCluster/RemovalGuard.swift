// Imports nothing: no file, clock or process.

/// Which of the items that are gone from this machine's disk are removed on all machines.
///
/// A file system that was unmounted, or a directory that was removed by mistake, must not empty the other machines. Where more
/// than half of the items, of at least eight, are gone, and no coordinated change has removed them, such removals are
/// withheld: they are not sent before a person accepts them. Everything else goes on.
///
///     open ── most items are gone ──▶ withholding ── most of them are back ──▶ open
///       ▲                                  └── a person accepts ──▶ accepted
///       └── the removals are folded ──────────────────────────────────┘
package struct RemovalGuard: Equatable, Sendable {
    package enum State: Equatable, Sendable {
        case open
        /// Removals are withheld; there were so many items when that began. Items that other machines add meanwhile do not end it.
        case withholding(of: Int)
        case accepted
    }
    package enum Event: Equatable, Sendable {
        case began
        case ended
    }

    package private(set) var state: State
    /// Items that coordinated changes have removed, until that is sent: somebody means these removals.
    package private(set) var meant: Set<LocalItem>
    /// Whether this differs from what is stored.
    package private(set) var isUnstored = false

    private static let fewest = 8

    package init(_ state: State = .open, meant: Set<LocalItem> = []) { (self.state, self.meant) = (state, meant) }

    package var isWithholding: Bool { if case .withholding = state { true } else { false } }

    /// Notes items that a coordinated change removes.
    package mutating func note(meant items: some Sequence<LocalItem>) {
        let before = meant.count
        meant.formUnion(items)
        if meant.count != before { isUnstored = true }
    }

    /// Notes that nothing is left to be sent.
    package mutating func sentAll() {
        if meant.isEmpty { return }
        (meant, isUnstored) = ([], true)
    }

    /// Whether a check may have a result though nothing more is gone.
    package var needsCheck: Bool { state != .open }

    /// Counts what is gone. Returns what has changed by that.
    package mutating func check(_ mirror: ClusterMirror, _ disk: LocalTree) -> Event? {
        let gone = goneCount(mirror, disk)
        let isMost = mirror.base.count >= Self.fewest && gone * 2 > mirror.base.count
        switch state {
        case .open:
            if !isMost { return nil }
            set(.withholding(of: mirror.base.count))
            return .began
        case .withholding(let count):
            if gone * 2 > count { return nil }
            set(.open)
            return .ended
        case .accepted:
            if !isMost { set(.open) }
            return nil
        }
    }

    /// Lets the removals be sent. Returns false if none is withheld.
    package mutating func accept() -> Bool {
        if !isWithholding { return false }
        set(.accepted)
        return true
    }

    /// Returns whether an item is gone, and its removal is not sent.
    package func withholds(_ local: LocalItem, _ mirror: ClusterMirror, _ disk: LocalTree) -> Bool {
        isWithholding && disk[local] == nil && mirror.items[local] != nil && !meant.contains(local)
    }

    /// The number of removals that are withheld.
    package func withheldCount(_ mirror: ClusterMirror, _ disk: LocalTree) -> Int {
        isWithholding ? goneCount(mirror, disk) : 0
    }

    private func goneCount(_ mirror: ClusterMirror, _ disk: LocalTree) -> Int {
        mirror.base.values.count { disk[$0.local] == nil && !meant.contains($0.local) }
    }

    private mutating func set(_ state: State) { (self.state, isUnstored) = (state, true) }

    /// Notes that this is stored.
    package mutating func stored() { isUnstored = false }
}
