import GroupLocking
import GroupBytes
import GroupLog
import GroupSystemCalls

/// Finishes what dead members left half done: a change without its record.
///
/// The inode's present path, and for a change of the mode the present mode, show whether the change happened
/// (`IntentRecord.hasHappened`). If so, the record is completed and appended, unless the journal has it already. Then
/// the member's files in staging are deleted: new content, or a removed item. The right to repair a slot is the lock on
/// its repair byte; the life byte stays free meanwhile, so that no process takes the dead member for a living one and
/// continues too early.
extension OpenContainer {
    /// Finishes the changes of dead members that touch the plan. Called with the lock granted and before the item is
    /// looked at. Takes sixteen loads where no operation is in flight. A read-only member takes the items as they are.
    func repairInFlight(touching plan: LockPlan, until deadline: Deadline) throws(CoordinationError) {
        if isReadOnly { return }
        // The bitmap has this member's own slot, too.
        let slots = memberTable.slotsWithInFlight()
        if slots.isEmpty { return }
        try finishOwn()
        let limit = Deadline(after: .seconds(30))
        for slot in slots where slot != memberTable.slot {
            while !memberTable.isAlive(slot) || isEnding(slot, holding: plan) {
                if memberTable.isAlive(slot) {
                    // The kernel releases a dying process's locks one after the other: the item's lock was released
                    // first.
                    if deadline.isOver || limit.isOver {
                        throw slotInTheWay(slot, "is ending, with an unfinished change")
                    }
                    pause(nanoseconds: 200_000)
                    continue
                }
                if memberTable.inFlight(of: slot).contains(where: { concerns($0, plan) }), !isRefused(slot) {
                    try repair(slot: slot, hasRight: false, until: deadline)
                }
                break
            }
        }
    }

    private func concerns(_ change: MemberTable.InFlightOperation, _ plan: LockPlan) -> Bool {
        change.rangeStart == MemberTable.everyItem
            || plan.parts.contains {
                $0.range.contains(LockRange(start: Int64(bitPattern: change.rangeStart), length: 1))
            }
    }

    /// Returns whether a member that seems alive is ending: this process has been granted a lock under which the member
    /// still has a change in flight. A living member releases a lock only after all changes under it are finished.
    private func isEnding(_ slot: Int, holding plan: LockPlan) -> Bool {
        let inFlight = memberTable.inFlight(of: slot)
        if inFlight.contains(where: { $0.rangeStart != MemberTable.everyItem && concerns($0, plan) }) { return true }
        guard inFlight.contains(where: { $0.rangeStart == MemberTable.everyItem }),
            let member = memberTable.member(at: slot)
        else {
            return false
        }
        return memberTable.publishedLocks(of: member).contains { access in
            access.claim.stage == .held && plan.parts.contains { access.claim.part.excludes($0) }
        }
    }

    /// Returns whether this process has found that it may not finish what the slot's dead member left.
    func isRefused(_ slot: Int) -> Bool {
        let operations = memberTable.inFlight(of: slot).map(\.operation)
        return !operations.isEmpty && refusedRepairs.withLock { $0.isSuperset(of: operations) }
    }

    private func slotInTheWay(_ slot: Int, _ why: String) -> CoordinationError {
        CoordinationError(
            .lockTimedOut, operation: "repair", item: ".group/members", reason: "the member in slot \(slot) \(why)",
            remedy: .tryAgain)
    }

    /// Repairs the slots of members that died while they waited for a lock, so that their contended flags block no
    /// other request.
    func repairDead(in slots: [Int]) {
        for slot in slots where !isRefused(slot) {
            try? repair(slot: slot, hasRight: false, until: Deadline(after: .zero))
        }
    }

    /// Repairs the slots of members that died, which frees the room that their files in staging take. Where more than
    /// 32 have joined, one call looks at 32 of them. Slots that another process repairs now are left to it.
    func repairTheLost() {
        if isReadOnly { return }
        let lost = memberTable.slotsOfTheLost()
        if lost.isEmpty { return }
        repairDead(in: lost)
        sweepLogs()
    }

    /// Finishes changes of this member that happened although their record could not be appended.
    func finishOwn() throws(CoordinationError) {
        var rest = memberTable.takeUnfinished()
        while let change = rest.last {
            do throws(CoordinationError) {
                if case .refused(let refusal) = try finish(change, nonce: memberTable.nonce, puttingAside: false) {
                    throw CoordinationError(refusal.reason, operation: "repair", item: refusal.item)
                }
            } catch {
                for change in rest { memberTable.leaveUnfinished(change.entry) }
                throw error
            }
            memberTable.clearInFlight(change.entry)
            endLock(of: change.operation)
            rest.removeLast()
            removeStaged(StagingName.of(change.operation))
            // It may have been written into the reserve, whose blocks are for the next one.
            intentFiles.forget(change.entry)
            try? directory.staging.unlink(
                StagingName.intentRecord(nonce: memberTable.nonce, entry: change.entry))
            keepReserve()
        }
    }

    /// Finishes a dead member's changes and deletes its files in staging. With `hasRight`, the caller holds the slot's
    /// repair byte. With `puttingAside`, the slot is free afterwards also where this process may not finish a change:
    /// see `RefusedRepair`.
    func repair(
        slot: Int, hasRight: Bool, puttingAside: Bool = false, until deadline: Deadline = Deadline(after: .seconds(30))
    ) throws(CoordinationError) {
        if !hasRight {
            try takeRight(to: slot, until: deadline)
            defer { giveRightBack(to: slot) }
            // The slot may have been repaired, and even taken by another member, while this process waited.
            if memberTable.isAlive(slot) { return }
            try repairLocked(slot, puttingAside: puttingAside)
        } else {
            try repairLocked(slot, puttingAside: puttingAside)
        }
    }

    private func repairLocked(_ slot: Int, puttingAside: Bool) throws(CoordinationError) {
        guard let dead = memberTable.member(at: slot) else { return memberTable.clear(slot: slot) }
        let changes = memberTable.inFlight(of: slot)
        var refused: [[UInt8]: RefusedRepair] = [:]
        // Several entries may name one operation. An operation that was refused once is not tried again.
        for change in changes where refused[change.operation] == nil {
            if case .refused(let found) = try finish(change, nonce: dead.nonce, puttingAside: puttingAside) {
                refused[change.operation] = found
            } else {
                memberTable.forget(change)
            }
        }
        if let refusal = refused.values.first {
            let isKnown = refusedRepairs.withLock { known in
                defer { known.formUnion(refused.keys) }
                return known.isSuperset(of: refused.keys)
            }
            if isKnown { return }
            return diagnostics.report(
                .memberRepaired, item: refusal.item,
                "a change of process \(dead.mark.identifier), \(dead.purpose), which died, is left to a user who may finish it: \(refusal.reason)"
            )
        }
        if !changes.isEmpty {
            diagnostics.report(
                .memberRepaired, item: "process \(dead.mark.identifier), \(dead.purpose)", count: changes.count,
                "it died in the middle of a change; what had happened was recorded")
        }
        var writer = ByteWriter()
        writer.write(dead.nonce)
        let prefix = Hexadecimal.digits(of: writer.bytes)
        sweepStaging { $0.starts(with: prefix) }
        // The dead member may have had the reserve. Its blocks are free now, and may not stay free for long.
        keepReserve()
        memberTable.clear(slot: slot)
    }

    private func finish(
        _ change: MemberTable.InFlightOperation, nonce: UInt64, puttingAside: Bool
    ) throws(CoordinationError) -> RepairEnding {
        let ending = try finishTransaction(change.operation, puttingAside: puttingAside)
        if ending != .nothing { return ending }
        let staged = StagingName.of(change.operation)
        let recordName = StagingName.intentRecord(nonce: nonce, entry: change.entry)
        let content: [UInt8]
        do throws(Errno) {
            content = try FileDescriptor.content(of: recordName, in: directory.staging, limit: IntentRecord.largest)
        } catch {
            // The intent record was removed: by a repairer that was killed afterwards, or because the change had its
            // record.
            if error == .noSuchEntry { return .nothing }
            let refusal = RefusedRepair(item: ".group/staging/\(printable(recordName))", reason: error)
            if let left = try judge(refusal, of: change.operation, puttingAside: puttingAside) { return .refused(left) }
            return .finished
        }
        // An intent record of another operation: this operation had not written its own yet.
        guard let intent = IntentRecord(decoding: content), intent.change.operation == change.operation
        else { return .nothing }
        let found = try reachableStatus(at: intent.change.presentPath)
        let origin = try intent.change.from.flatMap { (path) throws(CoordinationError) in try reachableStatus(at: path)
        }
        let inStaging = try? directory.staging.statusIfPresent(of: staged)
        guard
            intent.hasHappened(
                staged: inStaging?.inode, destination: found.map { ItemState($0, contentHash: nil) },
                origin: origin?.inode)
        else { return .nothing }
        let start = LogPosition(
            segment: intent.journalSegment, offset: Int(clamping: intent.journalOffset), sequence: 0, checksum: 0)
        movePresenters(by: intent.change)
        if try journal.contains(operation: change.operation, from: start) { return .finished }
        var record = intent.change
        if !intent.way.isRemoval {
            record.complete(with: found.map { ItemState($0, contentHash: intent.change.state?.contentHash) })
        }
        _ = try appendRepaired(record)
        return .finished
    }

    /// Returns the status of the item at a path; nil where there is no item, and where its directory is gone or not
    /// accessible to this user: a record has nothing to be completed with then.
    private func reachableStatus(at path: [UInt8]) throws(CoordinationError) -> FileStatus? {
        guard let location = try? ItemLocation(path) else { return nil }
        do throws(Errno) {
            return try openDirectory(location.parent).statusIfPresent(of: location.name)
        } catch {
            if [.noSuchEntry, .notADirectory, .tooManyLinks, .accessDenied, .notPermitted, .nameTooLong].contains(error)
            {
                return nil
            }
            throw CoordinationError(error, operation: "repair", item: printable(path))
        }
    }

    /// Removes files and trees in staging. A file that cannot be removed only takes room.
    func sweepStaging(where isOrphan: ([UInt8]) -> Bool) {
        for name in (try? directory.staging.entryNames()) ?? [] where isOrphan(name) { removeStaged(name) }
    }

    /// Removes a file or tree in staging, and notes which directory in it may not be emptied, if there is one: it takes
    /// room until its owner removes it.
    func removeStaged(_ name: [UInt8]) {
        if (try? directory.staging.removeTree(name)) != nil { return }
        guard let obstacle = directory.staging.removalObstacle(in: name) else { return }
        let path = "\(directory.absolutePath)/.group/staging/\(printable(obstacle.path))"
        let left =
            "it is left of what was removed, and takes room: user \(effectiveUser()) may not empty this directory of "
            + "user \(obstacle.owner)"
        diagnostics.report(.leftInStaging, item: path, left)
        leftInStaging.withLock { $0.append("\(path): \(left)") }
    }

    /// Takes the right to repair a slot. A repair takes moments, but its process may be stopped in the middle; the
    /// deadline limits the wait.
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
                throw slotInTheWay(slot, "has been under repair by another process for too long")
            }
            pause(nanoseconds: 200_000)
        }
    }

    private func giveRightBack(to slot: Int) {
        _ = try? memberTable.file.tryLock(.none, ByteRange(start: MemberTableLayout.repairByte(slot), length: 1))
        _ = memberTable.repairs.withLock { $0.remove(slot) }
    }
}

/// Files that members left when they died while making a log's segment: each has the full size of the segment.
extension MemberTable {
    /// Returns whether a name is that of an unfinished segment whose member is gone. False while a process takes or
    /// repairs the slot, because the state cannot be known then. System calls: fcntl(F_OFD_GETLK)
    func isAbandoned(_ bytes: [UInt8]) -> Bool {
        guard bytes.starts(with: UnfinishedName.prefix), let name = UnfinishedName(bytes) else { return false }
        if name.slot == slot { return name.nonce != nonce }
        let repair = ByteRange(start: MemberTableLayout.repairByte(name.slot), length: 1)
        do { if try file.conflict(with: .exclusive, repair) != nil { return false } } catch { return false }
        if !isAlive(name.slot) { return true }
        guard let nonce = name.nonce else { return false }
        return map.load64(MemberTableLayout.slot(name.slot) + MemberTableLayout.nonce) != nonce
    }
}

extension OpenContainer {
    /// Removes the unfinished files of dead members from all logs. This cannot wait until a suite is opened, which may
    /// never happen again after a process was killed while making the suite's next file. System calls: four for each
    /// log
    func sweepLogs() {
        for label in ["journal"] + directory.storeNames().map({ "\($0.kind.directory)/\($0.name)" }) {
            guard let log = try? directory.existingDirectory(label), let names = try? log.entryNames() else { continue }
            log.removeUnfinished(among: names, where: memberTable.isAbandoned)
        }
    }

    /// Removes the unfinished files of dead members while this member is alone, and clears the bits of all members,
    /// none of which has joined now: no later process removes files for the same dead members again.
    func sweepLogsOfTheLost() {
        sweepLogs()
        memberTable.own?.map.write(
            [UInt8](repeating: 0, count: MemberTableLayout.bitmapBytes), at: MemberTableLayout.members)
    }
}
