import GroupSystemCalls

/// Finishing what dead members left half done: a change without its record.
///
/// Where the inode that was to move stands says whether it happened (`IntentRecord.hasHappened`). If so, the record
/// is completed and appended, unless the journal has it already. What is in staging then goes: what was to come, or
/// what was removed. The right to repair a slot is the lock on its repair byte; the life byte stays free meanwhile, so
/// nobody takes the dead member for a living one and goes on too early.
extension Member {
    /// To be called with the lock granted and before the item is looked at. Sixteen loads where nothing is pending.
    /// Who may only read takes things as they are.
    func repairPending(touching plan: LockPlan, until deadline: Deadline) throws(CoordinationError) {
        if isReadOnly { return }
        // Its own are among them.
        let slots = memberTable.slotsWithPending()
        if slots.isEmpty { return }
        try finishOwn()
        let limit = Deadline(after: .seconds(30))
        for slot in slots where slot != memberTable.slot {
            while !memberTable.isAlive(slot) || isEnding(slot, holding: plan) {
                if memberTable.isAlive(slot) {
                    // The kernel gives a dying process's locks back one after the other: the item's lock came first.
                    if deadline.isOver || limit.isOver {
                        throw isInTheWay(slot, "ends with a change that is not finished")
                    }
                    pause(nanoseconds: 200_000)
                    continue
                }
                if memberTable.pending(of: slot).contains(where: { concerns($0, plan) }) {
                    try repair(slot: slot, hasRight: false, until: deadline)
                }
                break
            }
        }
    }

    private func concerns(_ change: MemberTable.PendingChange, _ plan: LockPlan) -> Bool {
        change.block == MemberTable.everyItem
            || plan.parts.contains {
                $0.range.contains(LockRange(start: Int64(bitPattern: change.block), length: 1))
            }
    }

    /// A member that seems to live, but has lost the lock under which it changes what the plan holds now: a living one
    /// gives it back only when nothing is pending, and says before that that it holds nothing.
    private func isEnding(_ slot: Int, holding plan: LockPlan) -> Bool {
        let pending = memberTable.pending(of: slot)
        if pending.contains(where: { $0.block != MemberTable.everyItem && concerns($0, plan) }) { return true }
        guard pending.contains(where: { $0.block == MemberTable.everyItem }), let member = memberTable.member(at: slot)
        else {
            return false
        }
        return memberTable.accesses(of: member).contains { access in
            access.claim.stage == .held && plan.parts.contains { access.claim.part.excludes($0) }
        }
    }

    private func isInTheWay(_ slot: Int, _ why: String) -> CoordinationError {
        CoordinationError(
            .lockTimedOut, item: ".group/members", operation: "repair", cause: "the member in slot \(slot) \(why)",
            advice: "try again; groupctl status shows who is there")
    }

    /// Repairs the slots of members that died while they waited for this, so that their `want` holds nobody up.
    func repairDead(wanting part: LockPlan.Part) {
        for bucket in memberTable.buckets(ahead: part) {
            for slot in memberTable.wanting(bucket: bucket) where slot != memberTable.slot && !memberTable.isAlive(slot)
            {
                try? repair(slot: slot, hasRight: false, until: Deadline(after: .zero))
            }
        }
    }

    /// Changes of this member that happened when their record could not be appended.
    func finishOwn() throws(CoordinationError) {
        var rest = memberTable.takeUnfinished()
        while let change = rest.last {
            do {
                try finish(change, nonce: memberTable.nonce)
            } catch {
                for change in rest { memberTable.leaveUnfinished(change.entry) }
                throw error
            }
            memberTable.clearPending(change.entry)
            unfinishedLocks.withLock { $0[change.operation] = nil }
            rest.removeLast()
            try? directory.staging.removeTree(StagedChange.name(of: change.operation))
        }
    }

    /// Finishes a dead member's changes and sweeps its staging. With `hasRight` the caller holds the slot's repair
    /// byte.
    func repair(
        slot: Int, hasRight: Bool, until deadline: Deadline = Deadline(after: .seconds(30))
    ) throws(CoordinationError) {
        if !hasRight {
            try takeRight(to: slot, until: deadline)
            defer { giveRightBack(to: slot) }
            // Its slot may have been repaired, and even taken by another member, while this one waited.
            if memberTable.isAlive(slot) { return }
            try repairLocked(slot)
        } else {
            try repairLocked(slot)
        }
    }

    private func repairLocked(_ slot: Int) throws(CoordinationError) {
        guard let dead = memberTable.member(at: slot) else { return memberTable.clear(slot: slot) }
        let changes = memberTable.pending(of: slot)
        for change in changes {
            try finish(change, nonce: dead.nonce)
            memberTable.forget(change)
        }
        if !changes.isEmpty {
            diagnostics.tell(
                .memberRepaired, item: "process \(dead.mark.identifier), \(dead.purpose)", count: changes.count,
                "it died in the middle of a change; what had happened was recorded")
        }
        var writer = ByteWriter()
        writer.write(dead.nonce)
        let prefix = Array(Hexadecimal.encode(writer.bytes).utf8)
        sweepStaging { $0.starts(with: prefix) }
        // It may have had the reserve, whose room is free now, and need not be for long.
        keepReserve()
        memberTable.clear(slot: slot)
        memberTable.wake(MemberTable.journalWord)
    }

    private func finish(_ change: MemberTable.PendingChange, nonce: UInt64) throws(CoordinationError) {
        if try finishTransaction(change.operation) { return }
        let staged = StagedChange.name(of: change.operation)
        let note = IntentFiles.name(nonce: nonce, entry: change.entry)
        let content = try translating(".group/staging", "repair") { () throws(Errno) -> [UInt8]? in
            do throws(Errno) {
                return try FileDescriptor.content(of: note, in: directory.staging, limit: IntentRecord.largest)
            } catch {
                // It was removed: by a repairer that was killed after it, or the change had its record.
                if error == .noSuchEntry { return nil }
                throw error
            }
        }
        // One of another operation: this one had not come so far.
        guard let content, let operation = IntentRecord(decoding: content),
            operation.change.operation == change.operation
        else { return }
        let place = try standing(at: operation.change.place)
        let origin = try operation.change.from.flatMap { (path) throws(CoordinationError) in try standing(at: path) }
        let inStaging = try? directory.staging.statusIfPresent(of: staged)
        guard
            operation.hasHappened(
                staged: inStaging?.inode, place: place.map { ItemState($0, contentHash: nil) }, origin: origin?.inode)
        else { return }
        let start = LogPosition(
            file: operation.journalFile, offset: Int(clamping: operation.journalOffset), sequence: 0, checksum: 0)
        if try journal.contains(operation: change.operation, from: start) { return }
        var record = operation.change
        if operation.way != .intoStaging {
            record.complete(with: place.map { ItemState($0, contentHash: operation.change.state?.contentHash) })
        }
        _ = try journal.append(record)
    }

    /// Where its directory is gone, or not ours to enter, there is nothing that a record could be completed with.
    private func standing(at path: [UInt8]) throws(CoordinationError) -> FileStatus? {
        guard let location = try? ItemLocation(path) else { return nil }
        do throws(Errno) {
            return try openDirectory(location.parent).statusIfPresent(of: location.name)
        } catch {
            if [.noSuchEntry, .notADirectory, .tooManyLinks, .accessDenied].contains(error) { return nil }
            throw CoordinationError(error, item: printable(path), operation: "repair")
        }
    }

    /// Removes files and trees in staging; those that are left behind cost only room.
    func sweepStaging(where isOrphan: ([UInt8]) -> Bool) {
        for name in (try? directory.staging.entryNames()) ?? [] where isOrphan(name) {
            try? directory.staging.removeTree(name)
        }
    }

    /// A repair takes moments; the member that does it may be stopped in the middle, which the deadline bounds.
    private func takeRight(to slot: Int, until deadline: Deadline) throws(CoordinationError) {
        let byte = ByteRange(start: MemberTableLayout.repairByte(slot), length: 1)
        let limit = Deadline(after: .seconds(30))
        while true {
            let isMine = memberTable.repairs.withLock { $0.insert(slot).inserted }
            if isMine {
                if (try? memberTable.file.tryLock(.exclusive, byte)) == true { return }
                _ = memberTable.repairs.withLock { $0.remove(slot) }
            }
            if deadline.isOver || limit.isOver {
                throw isInTheWay(slot, "is being repaired by another, which does not come to an end")
            }
            pause(nanoseconds: 200_000)
        }
    }

    private func giveRightBack(to slot: Int) {
        _ = try? memberTable.file.tryLock(.none, ByteRange(start: MemberTableLayout.repairByte(slot), length: 1))
        _ = memberTable.repairs.withLock { $0.remove(slot) }
    }
}

/// What members that died in the middle of making a log's file have left: as many bytes as the file was to have.
extension MemberTable {
    /// The member that has made it is gone. While a process takes the slot, or repairs it, no process can tell. System
    /// calls: fcntl(F_OFD_GETLK)
    func isAbandoned(_ name: UnfinishedName) -> Bool {
        if name.slot == slot { return name.nonce != nonce }
        let repair = ByteRange(start: MemberTableLayout.repairByte(name.slot), length: 1)
        do { if try file.conflict(with: .exclusive, repair) != nil { return false } } catch { return false }
        if !isAlive(name.slot) { return true }
        guard let nonce = name.nonce else { return false }
        return map.load64(MemberTableLayout.slot(name.slot) + MemberTableLayout.nonce) != nonce
    }

    /// This member is there, until it leaves.
    func noteMembership(_ isThere: Bool) {
        guard let seat else { return }
        let (word, bit) = (MemberTableLayout.members + seat.slot / 64 * 8, UInt64(1) << UInt64(seat.slot % 64))
        if isThere { seat.map.setBits64(word, bit) } else { seat.map.clearBits64(word, bit) }
    }
}

extension MemberTable.Open {
    /// Somebody came and did not leave. Nobody else may be alive.
    var hasLostMember: Bool { map.hasBits(MemberTableLayout.members, count: MemberTableLayout.bitmapBytes) }
}

extension Member {
    /// Removes them from all logs. Nobody may ever open a suite again whose next file a killed process was making.
    /// System calls: four for each log
    func sweepLogs() {
        for label in ["journal"] + directory.storeNames().map({ "\($0.kind.directory)/\($0.name)" }) {
            guard let log = try? directory.existingDirectory(label), let names = try? log.entryNames() else { continue }
            log.removeUnfinished(among: names, where: memberTable.isAbandoned)
        }
    }

    /// The same while this member is alone, and so nobody has to do it again.
    func sweepLogsOfTheLost() {
        sweepLogs()
        memberTable.seat?.map.write(
            [UInt8](repeating: 0, count: MemberTableLayout.bitmapBytes), at: MemberTableLayout.members)
    }
}

extension FileDescriptor {
    /// In a log's directory. System calls: unlink(2), for each
    func removeUnfinished(among names: [[UInt8]], where isAbandoned: (UnfinishedName) -> Bool) {
        for name in names where name.starts(with: UnfinishedName.prefix) {
            if let unfinished = UnfinishedName(name), isAbandoned(unfinished) { try? unlink(name) }
        }
    }
}

/// The name of a log's file before it has its number. The name says whose file it is, so that one whose maker died is
/// told from one that is still made, also where another member has the slot by now.
struct UnfinishedName: Equatable, Sendable {
    var slot: Int
    /// Nil for one of an older version.
    var nonce: UInt64?

    static let prefix = Array("new-".utf8)

    static func bytes(slot: Int, nonce: UInt64, _ distinction: [UInt8]) -> [UInt8] {
        var writer = ByteWriter()
        writer.write(nonce)
        return prefix + Array("\(slot)-\(Hexadecimal.encode(writer.bytes))-\(Hexadecimal.encode(distinction))".utf8)
    }

    /// Nil for what is none.
    init?(_ name: [UInt8]) {
        let parts = String(decoding: name, as: UTF8.self).split(separator: "-")
        guard parts.count == 3 || parts.count == 4, parts[0] == "new", let slot = Int(parts[1]),
            (0..<MemberTableLayout.slotCount).contains(slot)
        else { return nil }
        self.slot = slot
        if parts.count == 3 { return }
        guard let bytes = Hexadecimal.decode(parts[2]), bytes.count == 8 else { return nil }
        var reader = ByteReader(bytes)
        nonce = try? reader.number()
    }
}
