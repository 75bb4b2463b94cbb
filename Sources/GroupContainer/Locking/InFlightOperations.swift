import GroupSystemCalls

/// In-flight operations: the entries in `pending`, from before the rename until the record is in the journal. A member
/// that gets a lock looks here first.
extension MemberTable {
    struct PendingChange: Equatable, Sendable {
        var slot: Int
        var entry: Int
        /// The first offset of the item's range; all ones for an operation that covers every item.
        var block: UInt64
        var operation: [UInt8]
    }

    /// The `block` of an operation on more than one item.
    static let everyItem = UInt64.max

    /// Reserves an entry for an operation that is to be announced. Returns nil when all eight are taken.
    func reservePending() -> Int? {
        if seat == nil { return nil }
        return entries.withLock { entries in
            let free = (0..<MemberTableLayout.pendingCount).first { !entries.pending.contains($0) }
            if let free { entries.pending.insert(free) }
            return free
        }
    }

    /// Announces an operation in an entry that was reserved for it.
    func setPending(_ entry: Int, block: UInt64, operation: [UInt8]) {
        guard let seat else { return }
        entries.withLock { _ in
            let place = pendingPlace(seat.slot, entry)
            seat.map.write(operation, at: place + 8)
            seat.map.store64(place, block)
            seat.map.setBits64(MemberTableLayout.pendingMembers + seat.slot / 64 * 8, 1 << UInt64(seat.slot % 64))
        }
    }

    func clearPending(_ entry: Int) {
        guard let seat else { return }
        entries.withLock { entries in
            seat.map.store64(pendingPlace(seat.slot, entry), 0)
            entries.pending.remove(entry)
            if entries.pending.isEmpty { clearPendingBit(seat.slot) }
        }
    }

    /// Keeps an operation that happened and has no record yet in flight until it has one.
    func leaveUnfinished(_ entry: Int) { _ = entries.withLock { $0.unfinished.insert(entry) } }

    /// Takes this member's operations that are to be finished. A caller that cannot finish one calls `leaveUnfinished`
    /// again.
    func takeUnfinished() -> [PendingChange] {
        guard let slot else { return [] }
        let taken = entries.withLock { entries in
            defer { entries.unfinished = [] }
            return entries.unfinished
        }
        return taken.isEmpty ? [] : pending(of: slot).filter { taken.contains($0.entry) }
    }

    private func pendingPlace(_ slot: Int, _ entry: Int) -> Int {
        MemberTableLayout.slot(slot) + MemberTableLayout.pending + entry * MemberTableLayout.pendingBytes
    }

    private func clearPendingBit(_ slot: Int) {
        seat?.map.clearBits64(MemberTableLayout.pendingMembers + slot / 64 * 8, 1 << UInt64(slot % 64))
    }

    var hasPending: Bool { map.hasBits(MemberTableLayout.pendingMembers, count: MemberTableLayout.bitmapBytes) }

    /// Returns the slots with operations in flight. A few loads where there are none.
    func slotsWithPending() -> [Int] {
        map.bits(MemberTableLayout.pendingMembers, count: MemberTableLayout.bitmapBytes)
    }

    func pending(of slot: Int) -> [PendingChange] {
        (0..<MemberTableLayout.pendingCount).compactMap { entry in
            let place = pendingPlace(slot, entry)
            let block = map.load64(place)
            return block == 0
                ? nil
                : PendingChange(slot: slot, entry: entry, block: block, operation: map.bytes(place + 8, count: 16))
        }
    }

    /// Removes an entry. Only for a process with the right to repair the slot.
    func forget(_ change: PendingChange) { seat?.map.store64(pendingPlace(change.slot, change.entry), 0) }

    /// Clears a slot as if its member had left. Only for a process with the right to repair the slot.
    func clear(slot: Int) {
        clearPendingBit(slot)
        clearWants(of: slot)
        seat?.map.store32(MemberTableLayout.slot(slot) + MemberTableLayout.process, 0)
    }
}
