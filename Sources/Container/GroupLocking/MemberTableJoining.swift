package import GroupSystemCalls

extension FileDescriptor {
    /// Returns whether any slot of a member table's file has a live member.
    fileprivate func hasLiveMember() throws(Errno) -> Bool {
        let slots = ByteRange(
            start: MemberTableLayout.lifeByte(0),
            length: Int64(MemberTableLayout.slotCount * MemberTableLayout.slotBytes))
        return try conflict(with: .exclusive, slots) != nil
    }
}

extension SharedMap {
    /// The life of the file system that the last member wrote into the member table.
    fileprivate var life: FileSystemLife {
        FileSystemLife(
            boot: bytes(MemberTableLayout.boot, count: 32), device: load64(MemberTableLayout.device),
            mount: load64(MemberTableLayout.mount), session: load64(MemberTableLayout.session))
    }

    /// Whether a slot's member is alive, or died and was not repaired.
    func isOccupied(_ slot: Int) -> Bool {
        load32(MemberTableLayout.slot(slot) + MemberTableLayout.process) != 0
    }

    /// Whether the last member of a slot was another user's, and left operations in flight. False for root, who may
    /// finish all of them.
    fileprivate func hasChangesOfAnotherUser(_ slot: Int) -> Bool {
        let bits = load64(MemberTableLayout.inFlightMembers + slot / 64 * 8)
        if bits >> UInt64(slot % 64) & 1 == 0 { return false }
        let own = effectiveUser()
        return own != 0 && load32(MemberTableLayout.slot(slot) + MemberTableLayout.user) != own
    }
}

/// The life of the file system as this process sees it.
package struct PresentLife {
    private(set) var life: FileSystemLife
    /// Finds the file system's session, which takes many system calls; 0 where it cannot be seen.
    private let session: () -> UInt64

    package init(_ life: FileSystemLife, session: @escaping () -> UInt64) {
        self.life = life
        self.session = session
    }

    /// Returns whether the mapped files are as the last member left them. No system call is made where that member came
    /// by the same mount.
    mutating func isSame(as known: FileSystemLife) -> Bool {
        if life.isSame(as: known) { return true }
        if life.boot != known.boot || life.device != known.device || known.session == 0 { return false }
        return withSession().isSame(as: known)
    }

    mutating func withSession() -> FileSystemLife {
        if life.session == 0 { life.session = session() }
        return life
    }
}

/// Taking a slot. Call these only while the container's opening byte is held, so that one process at a time takes a
/// slot.
extension MemberTable.Open {
    /// Returns whether another process has the container open. One system call: the kernel looks for any lock on any
    /// slot.
    package func hasLiveMember() throws(Errno) -> Bool { try file.hasLiveMember() }

    package var incarnation: [UInt8] { map.bytes(MemberTableLayout.incarnation, count: 16) }

    /// Begins a new incarnation if the mapped files may be incomplete. What was mapped before a boot, or before the
    /// file system was unmounted and mounted again, may have reached the disk in part; to every log a new incarnation
    /// means just that. No other member may be alive. Returns false if the incarnation stays as it was.
    package func renewIncarnation(_ life: PresentLife, always: Bool) -> Bool {
        var present = life
        let known = map.life
        let isNew = incarnation.allSatisfy { $0 == 0 }
        if !always && !isNew && present.isSame(as: known) {
            // The next member that comes by this mount need not look further.
            if present.life.mount != known.mount { map.store64(MemberTableLayout.mount, present.life.mount) }
            return false
        }
        let life = present.withSession()
        if known.boot != life.boot || isNew || always {
            // The slots are of an earlier time; operations that were in flight are found by comparing the tree.
            map.write(
                [UInt8](repeating: 0, count: MemberTableLayout.size - MemberTableLayout.inFlightMembers),
                at: MemberTableLayout.inFlightMembers)
        }
        map.store64(MemberTableLayout.ticket, 0)
        // The incarnation is written first: if this process ends before the rest is written, the next one draws
        // another.
        map.write(randomBytes(16), at: MemberTableLayout.incarnation)
        map.store64(MemberTableLayout.mount, life.mount)
        // A session that cannot be seen from here has not ended for that reason; a process that still sees it can
        // compare it.
        if life.session != 0 || known.boot != life.boot || known.device != life.device {
            map.store64(MemberTableLayout.session, life.session)
        }
        map.store64(MemberTableLayout.device, life.device)
        map.write(life.boot + [UInt8](repeating: 0, count: 32 - life.boot.count), at: MemberTableLayout.boot)
        return true
    }

    /// Notes the bits of all registered databases, which a new incarnation has lost.
    package func noteDatabases(_ bits: UInt64) { map.store64(MemberTableLayout.databases, bits) }

    /// Locks the repair byte of a slot whose member is gone and returns the slot, or nil if no slot is free. Where
    /// `needsRepair` is true, the caller repairs what the slot's last member left before anything is written into the
    /// slot. Then the caller calls `occupy`.
    package func takeFreeSlot() throws(Errno) -> (slot: Int, needsRepair: Bool)? {
        for round in Round.allCases {
            // With those of the earlier rounds: their members may have left meanwhile.
            for slot in 0..<MemberTableLayout.slotCount where self.round(of: slot).rawValue <= round.rawValue {
                if let needsRepair = try take(slot) { return (slot, needsRepair) }
            }
        }
        return nil
    }

    /// When a slot is tried. To ask the kernel about one that is taken costs a walk over the locks of all members.
    private enum Round: Int, CaseIterable {
        case left, occupied
        /// The last member was another user's and left changes in flight: this user may not be permitted to finish
        /// them.
        case otherUser
    }

    private func round(of slot: Int) -> Round {
        map.hasChangesOfAnotherUser(slot) ? .otherUser : map.isOccupied(slot) ? .occupied : .left
    }

    /// Locks the repair byte of a slot that has no living member, and returns whether the slot needs repair; nil where
    /// there is one, or another process repairs the slot.
    private func take(_ slot: Int) throws(Errno) -> Bool? {
        let repair = ByteRange(start: MemberTableLayout.repairByte(slot), length: 1)
        let life = ByteRange(start: MemberTableLayout.lifeByte(slot), length: 1)
        guard try file.tryLock(.exclusive, repair) else { return nil }
        // The lock is only tested, not taken: not for a moment may another process take a dead member, which is to be
        // repaired first, for a live one.
        if try file.conflict(with: .exclusive, life) == nil {
            return map.isOccupied(slot)
        }
        _ = try file.tryLock(.none, repair)
        return nil
    }
}

extension MemberTable {
    /// Returns whether a member is alive and, if none is, whether the logs await recovery. For a process that may only
    /// read, while no member joins: without a live member nothing has the logs recovered, and what was mapped before a
    /// boot, or before the file system was unmounted and mounted again, may have reached the disk in part.
    package func awaitsRecovery(
        _ presentLife: () throws(Errno) -> PresentLife
    ) throws(Errno) -> (hasLiveMember: Bool, awaitsRecovery: Bool) {
        if try file.hasLiveMember() { return (true, false) }
        guard var present = try? presentLife() else { return (false, true) }
        return (false, !present.isSame(as: map.life))
    }

    /// Writes this member into the slot that it took.
    package func occupy(purpose: String) throws(Errno) {
        guard let own else { return }
        let (map, slot) = (own.map, own.slot)
        let base = MemberTableLayout.slot(slot)
        _ = try file.tryLock(.exclusive, ByteRange(start: MemberTableLayout.lifeByte(slot), length: 1))
        map.write([UInt8](repeating: 0, count: MemberTableLayout.slotBytes), at: base)
        map.store64(base + MemberTableLayout.nonce, nonce)
        map.store64(base + MemberTableLayout.started, UInt64(bitPattern: wallNanoseconds()))
        let mark = ProcessMark.ofThisProcess()
        map.store64(base + MemberTableLayout.processStart, mark.started)
        map.store64(base + MemberTableLayout.pidNamespace, mark.namespace)
        map.store32(base + MemberTableLayout.user, effectiveUser())
        setPurpose(purpose)
        map.store32(base + MemberTableLayout.process, UInt32(bitPattern: mark.identifier))
        recordMembership(true)
        _ = try file.tryLock(.none, ByteRange(start: MemberTableLayout.repairByte(slot), length: 1))
    }

    /// Gives the slot back. If an operation is still in flight, the slot is left as that of a dead member, to be
    /// repaired.
    package func leave() {
        guard let own else { return }
        let (map, slot) = (own.map, own.slot)
        if map.load64(MemberTableLayout.inFlightMembers + slot / 64 * 8) >> UInt64(slot % 64) & 1 == 0 {
            clearContended(of: slot)
            map.store32(MemberTableLayout.slot(slot) + MemberTableLayout.process, 0)
            recordMembership(false)
        }
        _ = try? file.tryLock(.none, ByteRange(start: MemberTableLayout.lifeByte(slot), length: 1))
    }

    /// Records that this member has joined, or that it has left.
    private func recordMembership(_ isThere: Bool) {
        guard let own else { return }
        let (word, bit) = (MemberTableLayout.members + own.slot / 64 * 8, UInt64(1) << UInt64(own.slot % 64))
        if isThere { own.map.setBits64(word, bit) } else { own.map.clearBits64(word, bit) }
        noteStatus()
    }
}

extension MemberTable.Open {
    /// Whether a member joined and did not leave. Valid only while no other process is alive.
    package var hasLostMember: Bool { map.hasBits(MemberTableLayout.members, count: MemberTableLayout.bitmapBytes) }
}
