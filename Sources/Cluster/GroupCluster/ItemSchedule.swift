// Imports nothing: no file, clock or process.

/// The items of the cluster that cannot be brought to the disk now: when each is tried again, and which of them the rest
/// of the cluster's changes wait for.
///
///     ready ── in use, without content, without room ──▶ waiting ── its time, or its content, has come ──▶ ready
///
/// What was changed after an item is changed here after it, so values, messages and locks wait for a waiting item. An
/// item that waits for longer is passed: they wait for it no more. It stays passed while it is tried again, until an
/// entry changes it or everything is on the disk.
///
/// Times are nanoseconds of a clock of the caller.
package struct ItemSchedule: Equatable, Sendable {
    private var times: [ItemName: Int64] = [:]
    private var passed: Set<ItemName> = []
    private var loading: Set<[UInt8]> = []
    /// The index that the fold had when the cluster did not have a content.
    private var missing: [[UInt8]: UInt64] = [:]

    package init() {}

    /// The items that wait.
    package var waiting: Set<ItemName> { Set(times.keys) }

    /// The time at which the next item is tried again; nil where none waits.
    package var next: Int64? { times.values.min() }

    /// Lets an item wait until a time; the rest waits for it unless it is passed.
    package mutating func wait(_ item: ItemName, until time: Int64, isPassed: Bool) {
        times[item] = time
        if isPassed { passed.insert(item) }
    }

    /// Lets an item be tried at once, as an entry has changed it.
    package mutating func changed(_ item: ItemName) {
        times[item] = nil
        passed.remove(item)
    }

    /// Lets the items be tried whose time has come.
    package mutating func release(at now: Int64) {
        if times.isEmpty { return }
        times = times.filter { $0.value > now }
    }

    /// Notes that nothing is left to be brought to the disk.
    package mutating func ended() { if !passed.isEmpty { passed = [] } }

    /// Returns whether everything that the cluster has is on the disk but what is passed, and what that keeps from its
    /// place. `stale` are the items that are not on the disk yet; `isSending` is whether items of an entry in flight
    /// keep others from theirs.
    package func isCaughtUp(stale: some Sequence<ItemName>, isSending: Bool) -> Bool {
        let isAwaited = isSending || times.keys.contains { !passed.contains($0) }
        return !isAwaited || stale.allSatisfy { passed.contains($0) }
    }

    // MARK: Contents

    /// Notes that a content is to be loaded. Returns false if it is being loaded, or the cluster did not have it at
    /// this index of the fold.
    package mutating func beginLoading(_ digest: [UInt8], at index: UInt64) -> Bool {
        missing[digest] != index && loading.insert(digest).inserted
    }

    /// Notes that the load of a content is over.
    package mutating func endedLoading(_ digest: [UInt8]) { loading.remove(digest) }

    /// Lets the items be tried that a content was awaited for.
    package mutating func arrived(_ digest: [UInt8], for isItem: (ItemName) -> Bool) {
        missing[digest] = nil
        times = times.filter { !isItem($0.key) }
    }

    /// Notes that the cluster does not have a content: it was replaced since, and the fold is behind, or it is gone.
    package mutating func isMissing(_ digest: [UInt8], at index: UInt64, for isItem: (ItemName) -> Bool) {
        missing[digest] = index
        pass(isItem)
    }

    /// Passes the waiting items that `isItem` accepts.
    package mutating func pass(_ isItem: (ItemName) -> Bool) { passed.formUnion(times.keys.filter(isItem)) }
}
