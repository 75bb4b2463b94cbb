package import GroupBytes
import GroupSystemCalls

/// What the member table shows of presenters: one look at these bits shows whether a request has any in its way,
/// without the table of presenters. Written under the lock of that table's entries.
extension MemberTable {
    package var hasPresenters: Bool {
        map.hasBits(MemberTableLayout.presenters, count: MemberTableLayout.presenterBytes)
    }

    /// Returns the entries of the table of presenters whose bits are set.
    package func presenterEntries() -> [Int] {
        map.bits(MemberTableLayout.presenters, count: MemberTableLayout.presenterBytes)
    }

    /// Returns whether a presenter may be in the way of what is locked: its item, or a directory around it, has one,
    /// or, for a whole directory, anything has. Seldom true without a presenter; then the table of presenters shows it.
    package func mayHavePresenter(of lock: HeldLock) -> Bool {
        if !hasPresenters { return false }
        return lock.plan.parts.contains { part in
            part.mode == .tree || ([part.range] + part.range.enclosing).contains { hasPresenter(inBucket: $0.bucket) }
        }
    }

    private func hasPresenter(inBucket bucket: Int) -> Bool {
        map.load64(MemberTableLayout.presentedBuckets + bucket / 64 * 8) >> UInt64(bucket % 64) & 1 == 1
    }

    /// Shows a presenter: first its item, then the entry. A request that fences after this sees it.
    package func showPresenter(_ entry: Int, of path: [UInt8], key: SipHash) {
        guard let own else { return }
        for bucket in Self.buckets(path, key) {
            own.map.setBits64(MemberTableLayout.presentedBuckets + bucket / 64 * 8, 1 << UInt64(bucket % 64))
        }
        own.map.setBits64(MemberTableLayout.presenters + entry / 64 * 8, 1 << UInt64(entry % 64))
        SharedMap.fence()
    }

    /// Hides presenters. `others` are the items of those that are left.
    package func hidePresenters(_ entries: [Int], leaving others: [[UInt8]], key: SipHash) {
        guard let own else { return }
        for entry in entries {
            own.map.clearBits64(MemberTableLayout.presenters + entry / 64 * 8, 1 << UInt64(entry % 64))
        }
        let left = Set(others.flatMap { Self.buckets($0, key) })
        for word in 0..<4 {
            let bits = left.reduce(UInt64(0)) { $1 / 64 == word ? $0 | 1 << UInt64($1 % 64) : $0 }
            own.map.clearBits64(MemberTableLayout.presentedBuckets + word * 8, ~bits)
        }
    }

    /// The buckets of an item: its own, and that of everything below it.
    private static func buckets(_ path: [UInt8], _ key: SipHash) -> [Int] {
        let range = LockRange(path: path, key: key)
        return [range.bucket, range.subtree.bucket]
    }
}

extension MemberTable.Open {
    /// Hides the presenters of earlier members. To be called under the container's opening byte, where no member lives.
    package func hidePresenters() {
        let count = MemberTableLayout.presentedBuckets + MemberTableLayout.presenterBytes - MemberTableLayout.presenters
        if !map.hasBits(MemberTableLayout.presenters, count: count) { return }
        map.write([UInt8](repeating: 0, count: count), at: MemberTableLayout.presenters)
    }
}
