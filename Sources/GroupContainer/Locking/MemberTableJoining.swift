import GroupSystemCalls

extension FileDescriptor {
    /// Of a member table's file.
    fileprivate func hasLiveMember() throws(Errno) -> Bool {
        let slots = ByteRange(
            start: MemberTableLayout.lifeByte(0),
            length: Int64(MemberTableLayout.slotCount * MemberTableLayout.slotBytes))
        return try conflict(with: .exclusive, slots) != nil
    }
}

extension SharedMap {
    /// Of a member table: the life of its file system that the last member has seen.
    fileprivate var life: FileSystemLife {
        FileSystemLife(
            boot: bytes(MemberTableLayout.boot, count: 32), device: load64(MemberTableLayout.device),
            mount: load64(MemberTableLayout.mount), session: load64(MemberTableLayout.session))
    }
}

/// The file system of a container, as this process sees it.
struct PresentLife {
    private(set) var life: FileSystemLife
    private let directory: ContainerDirectories
    private let status: FileStatus

    /// System calls: open(2), read(2)
    init(of directory: ContainerDirectories, _ status: FileStatus) throws(Errno) {
        (self.directory, self.status) = (directory, status)
        life = try directory.group.fileSystemLife(status)
    }

    /// What is mapped is as the last member has left it. No system call where it came by the same mount.
    mutating func isSame(as known: FileSystemLife) -> Bool {
        if life.isSame(as: known) { return true }
        if life.boot != known.boot || life.device != known.device || known.session == 0 { return false }
        return withSession().isSame(as: known)
    }

    mutating func withSession() -> FileSystemLife {
        if life.session == 0 { life.session = directory.group.fileSystemSession(status) }
        return life
    }
}

/// Taking a slot. Only while the container's opening byte is held, so one at a time.
extension MemberTable.Open {
    /// Whether anybody else has the container open. One call: the kernel looks for any lock on any slot.
    func hasLiveMember() throws(Errno) -> Bool { try file.hasLiveMember() }

    var incarnation: [UInt8] { map.bytes(MemberTableLayout.incarnation, count: 16) }

    /// What was mapped before a boot, or before the file system was unmounted and mounted again, may have reached the
    /// disk in part. A new incarnation says so to every log. Nobody else may be alive.
    /// False: it is the one that it was.
    func renewIncarnation(_ life: PresentLife, always: Bool) -> Bool {
        var present = life
        let known = map.life
        let isNew = incarnation.allSatisfy { $0 == 0 }
        if !always && !isNew && present.isSame(as: known) {
            // The next one that comes by this mount need not look further.
            if present.life.mount != known.mount { map.store64(MemberTableLayout.mount, present.life.mount) }
            return false
        }
        let life = present.withSession()
        if known.boot != life.boot || isNew || always {
            // Whatever the slots say is of another time; what was pending is found by comparing the tree.
            map.write(
                [UInt8](repeating: 0, count: MemberTableLayout.size - MemberTableLayout.pendingMembers),
                at: MemberTableLayout.pendingMembers)
        }
        map.store64(MemberTableLayout.ticket, 0)
        // The incarnation first: where this process ends before the rest stands there, another one is drawn.
        map.write(randomBytes(16), at: MemberTableLayout.incarnation)
        map.store64(MemberTableLayout.mount, life.mount)
        // A session that cannot be seen from here has not ended for that: who sees it still says so.
        if life.session != 0 || known.boot != life.boot || known.device != life.device {
            map.store64(MemberTableLayout.session, life.session)
        }
        map.store64(MemberTableLayout.device, life.device)
        map.write(life.boot + [UInt8](repeating: 0, count: 32 - life.boot.count), at: MemberTableLayout.boot)
        return true
    }

    /// A slot whose member is gone, locked for this one. `leftovers` are those of the slot's last member that are to be
    /// repaired before anything is written into it: the caller does that and then calls `occupy`.
    func takeFreeSlot() throws(Errno) -> (slot: Int, needsRepair: Bool)? {
        for slot in 0..<MemberTableLayout.slotCount {
            let repair = ByteRange(start: MemberTableLayout.repairByte(slot), length: 1)
            let life = ByteRange(start: MemberTableLayout.lifeByte(slot), length: 1)
            // A slot that somebody repairs is not free yet.
            guard try file.tryLock(.exclusive, repair) else { continue }
            // Asked, not locked: not for a moment must anybody think that a dead member lives, which is to be repaired
            // first.
            if try file.conflict(with: .exclusive, life) == nil {
                return (slot, map.load32(MemberTableLayout.slot(slot) + MemberTableLayout.process) != 0)
            }
            _ = try file.tryLock(.none, repair)
        }
        return nil
    }
}

extension MemberTable {
    /// For who may only read, while nobody joins: no member lives to have the logs recovered, and what was mapped
    /// before a boot, or before the file system was unmounted and mounted again, may have reached the disk in part.
    func awaitsRecovery(
        in directory: ContainerDirectories, _ status: FileStatus
    ) throws(Errno) -> (hasLiveMember: Bool, awaitsRecovery: Bool) {
        if try file.hasLiveMember() { return (true, false) }
        guard var present = try? PresentLife(of: directory, status) else { return (false, true) }
        return (false, !present.isSame(as: map.life))
    }

    /// Makes the taken slot this member's.
    func occupy(purpose: String) throws(Errno) {
        guard let seat else { return }
        let (map, slot) = (seat.map, seat.slot)
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
        noteMembership(true)
        _ = try file.tryLock(.none, ByteRange(start: MemberTableLayout.repairByte(slot), length: 1))
    }

    /// Gives the slot back; where something is pending still, it is left as that of a dead member, to be repaired.
    func leave() {
        guard let seat else { return }
        let (map, slot) = (seat.map, seat.slot)
        if map.load64(MemberTableLayout.pendingMembers + slot / 64 * 8) >> UInt64(slot % 64) & 1 == 0 {
            clearWants(of: slot)
            map.store32(MemberTableLayout.slot(slot) + MemberTableLayout.process, 0)
            noteMembership(false)
        }
        _ = try? file.tryLock(.none, ByteRange(start: MemberTableLayout.lifeByte(slot), length: 1))
    }
}
