// Imports nothing: no file, clock or process.

/// What the journal has at a location and what was found there, as one look at both shows it.
///
/// A location is compared in steps. `nextStep(after:)` decides about each as a value; the reconciler carries the step
/// out, and looks anew after each one that appended a record, because the record may have been about this location,
/// too:
///
///                       ┌──────────────── a record was appended ◀───────────────┐
///                       ▼                                                        │
///     look at both ─▶ decide ─▶ prepare: compare the contents, record the ───────┤
///                       ▲       directories around, or what a directory had      │
///                       │                 │ no record                            │
///                       └─────────────────┘                                      │
///                       ├─▶ record the change ───────────────────────────────────┘
///                       └─▶ nothing to record; postpone; leave the removal to the caller
struct LocationComparison: Equatable, Sendable {
    /// Why the location is compared.
    var hint: Hint
    /// The item that the journal has, and that followers know.
    var known: ItemState?
    /// The item on the disk.
    var found: ItemState?
    /// Whether the journal has items below the location.
    var hasItemsBelow: Bool
    /// Whether the item is a database in a transaction: the end of the transaction causes no event.
    var isBeingWritten: Bool
    /// Whether a removal is recorded now. If not, the caller records it after all items were looked for elsewhere.
    var recordsRemoval: Bool

    /// What has to be in the journal before the item's own record.
    enum Preparation: Hashable, Sendable {
        /// The items below the location: the contents of a directory were removed before the directory, and may have
        /// been found a moment ago; below anything else they were made under a lock in a directory that was not
        /// recorded, or that was removed since.
        case contents
        /// The directories around the item.
        case directories
        /// The removals in a directory whose place something else has taken.
        case replacedContents
        /// The removal of the old item with its contents: they were written under a lock into this directory before the
        /// directory was recorded, and are recorded anew with it.
        case replacedItem
    }

    enum Step: Equatable, Sendable {
        case nothing
        /// Another process is in the way: the location is compared again later.
        case postpone
        case leaveRemoval
        case prepare(Preparation)
        case record(ExternalChange)
    }

    /// Returns the next step. `done`: the preparations that appended no record since the look.
    func nextStep(after done: Set<Preparation>) -> Step {
        if found == nil && known != nil && !recordsRemoval { return .leaveRemoval }
        let isDirectory = found?.type == .directory || found != nil && known?.type == .directory
        if hasItemsBelow && !isDirectory && !done.contains(.contents) { return .prepare(.contents) }
        if hasItemsBelow && found == nil && known?.type == .directory { return .postpone }
        let change = ExternalChange.decide(known: known, found: found, by: hint)
        if change == .nothing { return isBeingWritten ? .postpone : .nothing }
        guard let found else { return .record(change) }
        guard let known else { return done.contains(.directories) ? .record(change) : .prepare(.directories) }
        if known.type == .directory && (known.inode != found.inode || found.type != .directory) {
            if !done.contains(.replacedContents) { return .prepare(.replacedContents) }
            if found.type != .directory && hasItemsBelow { return .postpone }
        } else if change == .replaced && hasItemsBelow {
            return .prepare(.replacedItem)
        }
        return .record(change)
    }
}
