import GroupSystemCalls

/// The contended flags: a waiter sets the bit of its member in a bucket, and requests that come later do not overtake
/// it.
extension MemberTable {
    /// Whether any member waits for a lock. A few loads.
    var isAnythingContended: Bool {
        map.hasBits(MemberTableLayout.contendingMembers, count: MemberTableLayout.bitmapBytes)
    }

    /// Returns whether a request for the part would overtake a waiter: one that wants this part alone, or wants a
    /// directory around it, or, unless the request only reads, one that wants to read the part. A waiter that died
    /// counts until its slot is repaired.
    func isContended(_ part: LockPlan.Part) -> Bool {
        // A waiter for an item in a directory has the bucket of that item, so a whole directory counts as wanted while
        // there is any waiter.
        isAnythingContended && (part.mode == .tree || buckets(ahead: part).contains { isContended(bucket: $0) })
    }

    func buckets(ahead part: LockPlan.Part) -> [Int] {
        let readers = part.mode == .shared ? [] : [LockPlan.Part(range: part.range, mode: .shared).contendedBucket]
        return [part.range.bucket] + readers + part.range.enclosing.map(\.bucket)
    }

    func isContended(bucket: Int) -> Bool {
        map.hasBits(MemberTableLayout.contended(bucket), count: MemberTableLayout.bitmapBytes)
    }

    /// Returns the slots whose members want something in the bucket.
    func contending(bucket: Int) -> [Int] {
        map.bits(MemberTableLayout.contended(bucket), count: MemberTableLayout.bitmapBytes)
    }

    /// Returns the slots of members that died while they waited for what a request for the part lets go first.
    func staleSlots(ahead part: LockPlan.Part) -> [Int] {
        buckets(ahead: part).flatMap(contending(bucket:)).filter { $0 != slot && !isAlive($0) }
    }

    func raiseContended(bucket: Int) {
        guard let slot else { return }
        contending.withLock { contending in
            if contending.isEmpty { set(MemberTableLayout.contendingMembers, of: slot) }
            contending[bucket, default: 0] += 1
            if contending[bucket] == 1 { set(MemberTableLayout.contended(bucket), of: slot) }
        }
    }

    func lowerContended(bucket: Int) {
        guard let slot else { return }
        contending.withLock { contending in
            let left = (contending[bucket] ?? 1) - 1
            contending[bucket] = left == 0 ? nil : left
            if left == 0 { clear(MemberTableLayout.contended(bucket), of: slot) }
            if contending.isEmpty { clear(MemberTableLayout.contendingMembers, of: slot) }
        }
    }

    func clearContended(of slot: Int) {
        clear(MemberTableLayout.contendingMembers, of: slot)
        for bucket in 0..<MemberTableLayout.bucketCount { clear(MemberTableLayout.contended(bucket), of: slot) }
    }

    private func set(_ bitmap: Int, of slot: Int) {
        own?.map.setBits64(bitmap + slot / 64 * 8, 1 << UInt64(slot % 64))
    }
    private func clear(_ bitmap: Int, of slot: Int) {
        own?.map.clearBits64(bitmap + slot / 64 * 8, 1 << UInt64(slot % 64))
    }
}
