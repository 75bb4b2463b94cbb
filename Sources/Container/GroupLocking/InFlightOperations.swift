import GroupSystemCalls

/// In-flight operations: the entries in `inFlight`, from before the rename until the record is in the journal. A member
/// that gets a lock looks here first.
extension MemberTable {
    package struct InFlightOperation: Equatable, Sendable {
        package var slot: Int
        package var entry: Int
        /// The first offset of the item's range; all ones for an operation that covers every item.
        package var rangeStart: UInt64
        package var operation: [UInt8]
    }

    /// The `rangeStart` of an operation on more than one item.
    package static let everyItem = UInt64.max

    /// Reserves an entry for an operation that is to be announced. Returns nil when all eight are taken.
    package func reserveInFlight() -> Int? {
        if own == nil { return nil }
        return entries.withLock { entries in
            let free = (0..<MemberTableLayout.inFlightCount).first { !entries.inFlight.contains($0) }
            if let free { entries.inFlight.insert(free) }
            return free
        }
    }

    /// Announces an operation in an entry that was reserved for it.
    package func announce(_ entry: Int, rangeStart: UInt64, operation: [UInt8]) {
        guard let own else { return }
        entries.withLock { _ in
            let offset = inFlightOffset(own.slot, entry)
            own.map.write(operation, at: offset + 8)
            own.map.store64(offset, rangeStart)
            own.map.setBits64(MemberTableLayout.inFlightMembers + own.slot / 64 * 8, 1 << UInt64(own.slot % 64))
        }
    }

    package func clearInFlight(_ entry: Int) {
        guard let own else { return }
        entries.withLock { entries in
            own.map.store64(inFlightOffset(own.slot, entry), 0)
            entries.inFlight.remove(entry)
            if entries.inFlight.isEmpty { clearInFlightBit(own.slot) }
        }
    }

    /// Keeps an operation that happened and has no record yet in flight until it has one.
    package func leaveUnfinished(_ entry: Int) { _ = entries.withLock { $0.unfinished.insert(entry) } }

    /// Takes this member's operations that are to be finished. A caller that cannot finish one calls `leaveUnfinished`
    /// again.
    package func takeUnfinished() -> [InFlightOperation] {
        guard let slot else { return [] }
        let taken = entries.withLock { entries in
            defer { entries.unfinished = [] }
            return entries.unfinished
        }
        return taken.isEmpty ? [] : inFlight(of: slot).filter { taken.contains($0.entry) }
    }

    private func inFlightOffset(_ slot: Int, _ entry: Int) -> Int {
        MemberTableLayout.slot(slot) + MemberTableLayout.inFlight + entry * MemberTableLayout.inFlightBytes
    }

    private func clearInFlightBit(_ slot: Int) {
        own?.map.clearBits64(MemberTableLayout.inFlightMembers + slot / 64 * 8, 1 << UInt64(slot % 64))
    }

    package var hasInFlight: Bool {
        map.hasBits(MemberTableLayout.inFlightMembers, count: MemberTableLayout.bitmapBytes)
    }

    /// Returns the slots with operations in flight. A few loads where there are none.
    package func slotsWithInFlight() -> [Int] {
        map.bits(MemberTableLayout.inFlightMembers, count: MemberTableLayout.bitmapBytes)
    }

    package func inFlight(of slot: Int) -> [InFlightOperation] {
        (0..<MemberTableLayout.inFlightCount).compactMap { entry in
            let offset = inFlightOffset(slot, entry)
            let rangeStart = map.load64(offset)
            return rangeStart == 0
                ? nil
                : InFlightOperation(
                    slot: slot, entry: entry, rangeStart: rangeStart, operation: map.bytes(offset + 8, count: 16))
        }
    }

    /// Removes an entry. Only for a process with the right to repair the slot.
    package func forget(_ change: InFlightOperation) { own?.map.store64(inFlightOffset(change.slot, change.entry), 0) }

    /// Clears a slot as if its member had left. Only for a process with the right to repair the slot.
    package func clear(slot: Int) {
        clearInFlightBit(slot)
        clearContended(of: slot)
        own?.map.store32(MemberTableLayout.slot(slot) + MemberTableLayout.process, 0)
    }
}
