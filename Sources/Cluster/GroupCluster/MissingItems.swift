// Imports nothing: no file, clock or process.

/// The items that were not found at their paths, until it is certain that they are gone.
///
/// Such an item was removed, or renamed by a change that the journal does not have yet. What tells is a *barrier*, which
/// is answered once everything that happened before it is in the journal:
///
///     seen ── not at its path ──▶ missing ── a barrier that was sent later is answered, and the journal read ──▶ gone
///       ▲                          │   ▲
///       └── found, by its inode ───┤   └── a record has moved it on, and it is not there either: it is missing anew
///                                  ▼
///
/// Nothing below a directory is gone as long as that directory may be found again.
package struct MissingItems: Equatable, Sendable {
    /// When each item was looked for last, in numbers of such looks.
    private var looks: [LocalItem: UInt64] = [:]
    /// The number of the last look: what a barrier that is sent now is later than.
    package private(set) var lastLook: UInt64 = 0

    package init() {}

    package var isEmpty: Bool { looks.isEmpty }
    package var items: some Collection<LocalItem> { looks.keys }
    package func contains(_ item: LocalItem) -> Bool { looks[item] != nil }

    /// Notes that an item was looked for, and not found.
    package mutating func insert(_ item: LocalItem) {
        lastLook += 1
        looks[item] = lastLook
    }

    /// Notes that an item was found, or that it is known to be gone.
    package mutating func remove(_ item: LocalItem) { looks[item] = nil }

    /// Returns whether an item, or a directory around it, is missing.
    package func mayBeElsewhere(_ item: LocalItem, in tree: LocalTree) -> Bool {
        !looks.isEmpty && (contains(item) || tree.ancestors(item).contains(where: contains))
    }

    /// Returns the items that are gone: a barrier was sent after `look`, it is answered, and the journal was read after
    /// that. `mayBeChanging` returns whether a change of an item may have reached the disk and not the journal.
    package func gone(
        barrierAfter look: UInt64, in tree: LocalTree, mayBeChanging: (LocalItem) -> Bool
    ) -> [LocalItem] {
        func isGone(_ item: LocalItem) -> Bool {
            guard let last = looks[item] else { return true }
            return last <= look && !mayBeChanging(item)
        }
        return looks.keys.filter { isGone($0) && tree.ancestors($0).allSatisfy(isGone) }.sorted()
    }
}
