// Imports nothing: no file, clock or process.

/// The items of the cluster that cannot be applied now: the time at which each is tried again, and whether other
/// changes wait for it.
///
///     ready ── in use, no content, no room ──▶ waiting ── its time, or its content, has come ──▶ ready
///
/// A value, message or lock that was sent after an item should become visible after that item, so they wait for a
/// waiting item. An item for which they could wait long is *passed over*: an item in use, an item without room, an item
/// whose content the cluster lacks, and an item whose path is taken by something that is not mirrored. Nothing waits
/// for such an item. The item stays passed over while it is tried again, until an entry changes it or everything is
/// on the disk.
///
/// All times are nanoseconds of one clock of the caller.
package struct ItemSchedule: Equatable, Sendable {
    /// The waiting items, with the times at which each is tried again.
    private var times: [ItemName: Int64] = [:]
    /// The items for which nothing else waits.
    private var passed: Set<ItemName> = []
    /// The digests of the contents that are being loaded.
    private var loading: Set<[UInt8]> = []
    /// The index of the fold at which the cluster did not have a content.
    private var missing: [[UInt8]: UInt64] = [:]

    package init() {}

    /// The items that wait.
    package var waiting: Set<ItemName> { Set(times.keys) }

    /// The time at which the next item is tried again; nil if none waits.
    package var next: Int64? { times.values.min() }

    /// Lets an item wait until a time. Values, messages and locks wait for the item unless it is passed.
    package mutating func wait(_ item: ItemName, until time: Int64, isPassed: Bool) {
        times[item] = time
        if isPassed { passed.insert(item) }
    }

    /// Lets an item be tried at once, because an entry has changed it.
    package mutating func changed(_ item: ItemName) {
        times[item] = nil
        passed.remove(item)
    }

    /// Lets the items be tried whose time has come.
    package mutating func release(at now: Int64) {
        if times.isEmpty { return }
        times = times.filter { $0.value > now }
    }

    /// Notes that everything is on the disk.
    package mutating func ended() { if !passed.isEmpty { passed = [] } }

    /// Returns whether everything that the cluster has is on the disk, except the passed items and the items that those
    /// keep from their paths. `stale` are the items that are not on the disk yet. `isSending` is whether an entry in
    /// flight has items, which keep others from their paths.
    package func isCaughtUp(stale: some Sequence<ItemName>, isSending: Bool) -> Bool {
        let isAwaited = isSending || times.keys.contains { !passed.contains($0) }
        return !isAwaited || stale.allSatisfy { passed.contains($0) }
    }

    // MARK: Contents

    /// Notes that a content is to be loaded. Returns false if it is being loaded already, or if the cluster did not
    /// have it at this index of the fold.
    package mutating func beginLoading(_ digest: [UInt8], at index: UInt64) -> Bool {
        missing[digest] != index && loading.insert(digest).inserted
    }

    /// Notes that the load of a content is over.
    package mutating func endedLoading(_ digest: [UInt8]) { loading.remove(digest) }

    /// Lets the items be tried that wait for a content.
    package mutating func arrived(_ digest: [UInt8], for isItem: (ItemName) -> Bool) {
        missing[digest] = nil
        times = times.filter { !isItem($0.key) }
    }

    /// Notes that the cluster does not have a content. Either another content has replaced it, and the fold is behind;
    /// or it is lost.
    package mutating func isMissing(_ digest: [UInt8], at index: UInt64, for isItem: (ItemName) -> Bool) {
        missing[digest] = index
        pass(isItem)
    }

    /// Passes the waiting items for which `isItem` returns true.
    package mutating func pass(_ isItem: (ItemName) -> Bool) { passed.formUnion(times.keys.filter(isItem)) }
}
