// Imports nothing: no file, clock or process.

/// Decides whether removals of items on this machine are sent to the others.
///
/// A file system that was unmounted, or a directory that was removed by mistake, must not empty the other machines. If
/// more than half of the items are gone, of at least eight, and no coordinated change has removed them, their removals
/// are withheld until a person accepts them. Everything else goes on.
///
///     open ── most items are gone ──▶ withholding ── most of them are back ──▶ open
///       ▲                                  └── a person accepts ──▶ accepted
///       └── the removals are folded ──────────────────────────────────┘
package struct RemovalGuard: Equatable, Sendable {
    package enum State: Equatable, Sendable {
        case open
        /// Removals are withheld. The number is that of all items when this began, so items that other machines add do
        /// not end it.
        case withholding(of: Int)
        case accepted
    }
    package enum Event: Equatable, Sendable {
        case began
        case ended
    }

    package private(set) var state: State
    /// The items that coordinated changes have removed, until the removals are sent. Such a removal is intended.
    package private(set) var meant: Set<LocalItem>
    /// Whether this state differs from the stored one.
    package private(set) var isUnstored = false

    /// The number of items below which nothing is withheld.
    private static let fewest = 8

    package init(_ state: State = .open, meant: Set<LocalItem> = []) { (self.state, self.meant) = (state, meant) }

    package var isWithholding: Bool { if case .withholding = state { true } else { false } }

    /// Notes the items that a coordinated change removes.
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

    /// Whether a check may change the state though no more items are gone.
    package var needsCheck: Bool { state != .open }

    /// Counts the items that are gone, and returns how that changes the state.
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

    /// Lets the removals be sent. Returns false if none are withheld.
    package mutating func accept() -> Bool {
        if !isWithholding { return false }
        set(.accepted)
        return true
    }

    /// Returns whether an item is gone and its removal is withheld.
    package func withholds(_ local: LocalItem, _ mirror: ClusterMirror, _ disk: LocalTree) -> Bool {
        isWithholding && disk[local] == nil && mirror.items[local] != nil && !meant.contains(local)
    }

    /// Returns the number of removals that are withheld.
    package func withheldCount(_ mirror: ClusterMirror, _ disk: LocalTree) -> Int {
        isWithholding ? goneCount(mirror, disk) : 0
    }

    private func goneCount(_ mirror: ClusterMirror, _ disk: LocalTree) -> Int {
        mirror.base.values.count { disk[$0.local] == nil && !meant.contains($0.local) }
    }

    private mutating func set(_ state: State) { (self.state, isUnstored) = (state, true) }

    /// Notes that this state is stored.
    package mutating func stored() { isUnstored = false }
}
