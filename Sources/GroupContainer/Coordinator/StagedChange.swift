import Dispatch
import GroupSystemCalls

/// A change under way. Whatever its kind, it happens by one system call, a `Step`: what is new is built in staging
/// first, complete; a note in staging says which inode moves from where to where; `pending` is set; the step is taken;
/// the directories reach the disk; the record is appended; `pending` is cleared. So at every moment a killed process
/// leaves either nothing or what `Repair` can finish. After the manner of renameio and of the write-ahead intents of
/// databases. A transaction, or another kind of change, is a `Step` for `commit`.
struct StagedChange {
    let member: Member
    let purpose: String
    let durability: Durability
    let operation: [UInt8]
    private let ground: Ground
    /// Gets the name in staging of what was removed, once that may be deleted.
    private let leave: ([UInt8]) -> Void
    /// Takes the lock over, for a change that happened and has no record yet: nobody may come in between.
    private let keepLock: () -> HeldLock?

    init(
        by member: Member, purpose: String, _ durability: Durability, on ground: Ground,
        leaving leave: @escaping ([UInt8]) -> Void, keepingLock keepLock: @escaping () -> HeldLock?
    ) {
        (self.member, self.purpose, self.durability) = (member, purpose, durability)
        (self.ground, self.leave, self.keepLock) = (ground, leave, keepLock)
        operation = member.memberTable.makeOperation()
    }

    /// In staging: what moves.
    static func name(of operation: [UInt8]) -> [UInt8] { Array(Hexadecimal.encode(operation).utf8) }

    var name: [UInt8] { Self.name(of: operation) }
    var staging: FileDescriptor { _read { yield member.directory.staging } }

    /// How a change happens.
    struct Step {
        var kind: ChangeRecord.Kind
        var way: OperationRecord.Way
        var location: ItemLocation
        /// For a move: where it stands before.
        var origin: ItemLocation?
        /// What moves, before it does.
        var status: FileStatus
        /// Something may stand at the destination.
        var replacing = false
        /// What stands there before; of what stays where it is, how it was.
        var before: FileStatus?
        var contentHash: UInt64?
        /// What comes with a directory that is new; parents first. With it the record is a transaction.
        var contents: [ChangePart] = []
        /// A directory may have something in it.
        var recursively = true
        /// For errors: what is asked for.
        var operation: String

        /// Whether the lock on its item alone tells who must see that it is finished.
        var concernsOneItem: Bool { way != .fromPlaceToPlace && !status.isDirectory }
    }

    /// Takes the step and records it. Errors: `notDurable`: it is visible and recorded; those of the journal: it is
    /// visible and will be; any other: nothing was changed, and nothing is left in staging.
    func commit(_ step: Step) throws(CoordinationError) -> LogPosition {
        let label = printable(step.location.bytes)
        // Until it has its record: who waited to open one finds then that it was moved.
        let inside = try holdContainers(in: step)
        defer { extendLifetime(inside) }
        member.changeRoom.wait()
        defer { member.changeRoom.signal() }

        var record = record(of: step)
        guard let entry = member.memberTable.reservePending() else {
            discard(step)
            throw CoordinationError(
                .limitReached, item: label, operation: step.operation, cause: "too many changes at once",
                advice: "wait for some of them, and try again")
        }
        var reserve: LockFile.Handle?
        let ends = try prepare(step, record, entry, &reserve)
        defer { if let reserve { member.giveBackReserve(reserve, entry) } }
        do throws(CoordinationError) {
            try ground.lay(step.footings, step.operation)
        } catch {
            member.memberTable.clearPending(entry)
            discard(step)
            throw error
        }
        let block = step.concernsOneItem ? LockRange(step.location, key: member.hashKey).start : nil
        member.memberTable.setPending(
            entry, block: block.map(UInt64.init(bitPattern:)) ?? MemberTable.everyItem, operation: operation)

        do throws(Errno) {
            try ends.take(step)
        } catch {
            member.memberTable.clearPending(entry)
            discard(step)
            if error == .busy { throw .mountPoint(printable((step.origin ?? step.location).bytes), step.operation) }
            // Without an origin, or where the destination is in the way, it is the destination that is meant.
            let isDestination = error == .exists || error == .notEmpty
            let item = isDestination ? step.location : step.origin ?? step.location
            throw CoordinationError(error, item: printable(item.bytes), operation: step.operation)
        }
        if let obstacle = obstacle(to: step, ends, inside), (try? ends.takeBack(step)) != nil {
            member.memberTable.clearPending(entry)
            throw CoordinationError(obstacle, at: step.origin ?? step.location, step.operation)
        }
        // From here on the change is visible and must get its record, whatever else fails.
        var failure: Errno?
        do throws(Errno) {
            if step.way != .intoStaging {
                record.complete(with: ItemState(try ends.to.status(of: ends.toName), contentHash: step.contentHash))
            }
            if durability == .durable { try ends.synchronize(step) }
        } catch {
            failure = error
        }
        let position: LogPosition
        do {
            position = try member.journal.append(record)
        } catch {
            let kept = keepLock()
            member.unfinishedLocks.withLock { $0[operation] = kept }
            member.memberTable.leaveUnfinished(entry)
            // The note is needed still.
            if let handle = reserve { member.lockFile.giveBack(handle) }
            reserve = nil
            throw error
        }
        member.memberTable.clearPending(entry)
        if step.way == .intoStaging { leave(name) }
        if let failure {
            throw CoordinationError(
                .notDurable, item: label, operation: step.operation, cause: failure.description,
                advice: "the change is visible, but may be gone after a power cut; check the disk")
        }
        return position
    }

    /// Containers go with a directory only while nobody has them open.
    private func holdContainers(in step: Step) throws(CoordinationError) -> ContainersInside? {
        guard step.status.isDirectory, step.recursively, [.intoStaging, .fromPlaceToPlace].contains(step.way) else {
            return nil
        }
        return try ContainersInside(step.origin ?? step.location, of: member, step.operation)
    }

    /// A container that was made, and opened, since the directory was looked at.
    private func obstacle(
        to step: Step, _ ends: StepEnds, _ inside: ContainersInside?
    ) -> ContainersInside.Obstacle? {
        do throws(ContainersInside.Obstacle) {
            try inside?.checkNobodyCame(ends.toName, in: ends.to)
            return nil
        } catch {
            return error.reason == .busy ? error : nil
        }
    }

    private func record(of step: Step) -> ChangeRecord {
        let state = step.way == .intoStaging ? nil : ItemState(step.status, contentHash: step.contentHash)
        if !step.contents.isEmpty {
            let top = ChangePart(kind: step.kind, path: step.location.bytes, state: state)
            return ChangeRecord(
                transaction: [top] + step.contents, operation: operation, processIdentifier: processIdentifier(),
                purpose: Array(purpose.utf8), time: wallNanoseconds())
        }
        var record = ChangeRecord(
            step.kind, path: step.location.bytes, from: step.origin?.bytes, state: state, isCoordinated: true,
            operation: operation, processIdentifier: processIdentifier(), purpose: Array(purpose.utf8),
            time: wallNanoseconds())
        record.wasDirectory = step.way == .intoStaging && step.status.isDirectory
        return record
    }

    private func prepare(
        _ step: Step, _ record: ChangeRecord, _ entry: Int, _ reserve: inout LockFile.Handle?
    ) throws(CoordinationError) -> StepEnds {
        do throws(Errno) {
            let ends = try StepEnds.open(step, staged: name, member)
            reserve = try writeNote(record, step, entry)
            return ends
        } catch {
            member.memberTable.clearPending(entry)
            discard(step)
            throw CoordinationError(error, item: printable(step.location.bytes), operation: step.operation)
        }
    }

    private func writeNote(_ record: ChangeRecord, _ step: Step, _ entry: Int) throws(Errno) -> LockFile.Handle? {
        let tail = member.journal.log.tail()
        let note = OperationRecord(
            way: step.way, inode: step.status.inode, journalFile: tail.file, journalOffset: UInt64(tail.offset),
            change: record)
        return try member.writeNote(note, entry: entry)
    }

    /// Only before the step was taken: what stands in staging then was made there.
    private func discard(_ step: Step) {
        if step.way == .intoPlace { try? staging.removeTree(name) }
    }
}
