package import GroupBytes
package import GroupSystemCalls
import Synchronization

/// The granted access to the items of one request. The lock ends with this object, or with the process: the kernel ends
/// it then.
package final class HeldLock: Sendable {
    let request: LockRequest
    /// The outermost request that this one was made under, or this one: see `WaitGraph`.
    package let owner: WaitGraph.Owner

    /// What keeps other requests out; nil where the enclosing locks cover the request.
    package struct Grip: Sendable {
        var handle: LockFile.Handle
        /// The entries in the member table, one bit each.
        var published: UInt32
        var turn: ProcessQueue.Turn
    }
    private let grip: Grip?
    /// Slots of members that died while they waited for a part of this lock, and are to be repaired.
    package let staleSlots: [Int]
    private let hasEnded = Atomic(false)

    package var plan: LockPlan { request.plan }

    init(_ request: LockRequest, owner: WaitGraph.Owner, _ grip: Grip?, staleSlots: [Int] = []) {
        self.request = request
        self.owner = owner
        self.grip = grip
        self.staleSlots = staleSlots
    }

    deinit { end() }

    /// Ends the lock now; a second call does nothing.
    package func end() {
        if hasEnded.exchange(true, ordering: .acquiringAndReleasing) { return }
        if let grip { request.lockManager.release(grip) }
    }

    /// Whether the locks around this one cover all of it.
    package var isCovered: Bool { grip == nil }

    var isHeld: Bool { !hasEnded.load(ordering: .acquiring) }

    /// Returns a new lock that holds what this one held; ending this one has no effect from then on. Returns nil if
    /// this one holds nothing.
    package func handOver() -> HeldLock? {
        if hasEnded.exchange(true, ordering: .acquiringAndReleasing) { return nil }
        return grip.map { HeldLock(request, owner: owner, $0) }
    }

    package func covers(path: [UInt8], for mode: LockMode) -> Bool {
        plan.covers(LockPlan.Part(LockRange(path: path, key: request.lockManager.hashKey), mode))
    }
}

/// A request for items that are locked together, all or none. An item is named by its path's bytes.
package final class LockRequest: Sendable {
    /// An item, and the mode of its lock.
    package struct Item: Sendable {
        package let path: [UInt8]
        package let mode: LockMode

        package init(_ path: [UInt8], _ mode: LockMode) {
            self.path = path
            self.mode = mode
        }
    }

    let lockManager: LockManager
    let plan: LockPlan
    package let items: Few<Item>
    let purpose: [UInt8]
    /// The answer that this request is made for; nil for any other request.
    let answer: WaitGraph.Owner?

    package init(
        _ items: Few<Item>, by lockManager: LockManager, for purpose: [UInt8],
        answering answer: WaitGraph.Owner? = nil
    ) {
        self.items = items
        self.purpose = purpose
        self.lockManager = lockManager
        self.answer = answer
        plan =
            items.count == 1
            ? LockPlan(LockPlan.Part(LockRange(path: items[0].path, key: lockManager.hashKey), items[0].mode))
            : LockPlan(items.map { (LockRange(path: $0.path, key: lockManager.hashKey), $0.mode) })
    }

    /// Makes a request for one item.
    package convenience init(_ path: [UInt8], _ mode: LockMode, by lockManager: LockManager, for purpose: [UInt8]) {
        self.init(Few(Item(path, mode)), by: lockManager, for: purpose)
    }

    /// The holders of what keeps the request from being granted now, in this process or another.
    package var holders: [LockHolder] { lockManager.memberTable.holders(inTheWayOf: plan, besides: nil) }

    /// Waits for the lock, blocking the thread. A request that is cancelled in the moment of the grant gets no lock.
    package func acquireBlocking(
        until deadline: Deadline, orUntil cancellation: Cancellation? = nil
    ) throws(LockFailure) -> HeldLock {
        var acquisition = try LockAcquisition(self, for: .thread, until: deadline)
        do throws(LockFailure) {
            while let wait = try acquisition.advance() {
                try acquisition.resolve(wait.block(until: deadline, orUntil: cancellation), of: wait)
            }
            if cancellation?.isCancelled == true { throw LockFailure.cancelled }
            return acquisition.complete()
        } catch {
            acquisition.abandon()
            throw error
        }
    }

    /// Waits for the lock, suspending the task. A task that is cancelled in the moment of the grant gets no lock.
    package func acquire(until deadline: Deadline) async throws(LockFailure) -> HeldLock {
        var acquisition = try LockAcquisition(self, for: .task, until: deadline)
        do throws(LockFailure) {
            while let wait = try acquisition.advance() {
                try acquisition.resolve(await wait.suspend(until: deadline), of: wait)
            }
            if Task.isCancelled { throw LockFailure.cancelled }
            return acquisition.complete()
        } catch {
            acquisition.abandon()
            throw error
        }
    }

    /// Locks one item that no request holds or waits for, the usual case, by the shortest way: two system calls
    /// including the end of the lock, a microsecond in all. Returns nil where the general way is needed.
    package func acquireAtOnce() throws(LockFailure) -> HeldLock? {
        // Each object is read once: each access to a property would count a reference.
        let lockManager = lockManager
        let memberTable = lockManager.memberTable
        guard let part = plan.parts.only, answer == nil, LockFrame.current == nil, !KeptLocks.isAny,
            !memberTable.isContended(part),
            let slot = memberTable.slot, lockManager.forkGeneration == GroupSystemCalls.forkGeneration
        else { return nil }
        let turns = lockManager.turns
        guard let turn = turns.enterAtOnce(plan) else { return nil }
        let lockFile = lockManager.lockFile
        let handle: LockFile.Handle
        do throws(LockFileFailure) {
            handle = try lockFile.borrow()
        } catch {
            turns.leave(turn)
            throw .lockFile(error)
        }
        guard (try? handle.tryStep(part.whole)) == true else {
            lockFile.giveBackUnlocked(handle)
            turns.leave(turn)
            return nil
        }
        let owner = WaitGraph.Owner(slot: slot, number: turn.ticket.number)
        let claim = WaitGraph.Claim(
            member: slot, owner: owner.number, ticket: 0, order: 0, stage: .held, part: part)
        let entry = memberTable.publish(claim, purpose: purpose, path: items[0].path)
        return HeldLock(
            self, owner: owner,
            HeldLock.Grip(handle: handle, published: entry.map { 1 << UInt32($0) } ?? 0, turn: turn))
    }

    /// The items' paths, for errors.
    package var label: String { items.map { printable($0.path) }.joined(separator: ", ") }

    /// Returns whether the request names the item, or wants as a whole a directory that contains it.
    func names(_ path: [UInt8]) -> Bool {
        items.contains { $0.path == path || $0.mode == .tree && isPath(path, below: $0.path) }
    }

    /// Returns the path of the item that a part stands for, or of the first one where several items share the part.
    func path(of part: LockPlan.Part) -> [UInt8]? {
        if items.count == 1 { return items[0].path }
        return items.first { part.range.contains(LockRange(path: $0.path, key: lockManager.hashKey)) }?.path
    }
}

/// The locks that the calling code holds: the lock that its closure was called with, and the enclosing ones. A closure
/// that does not suspend runs on one thread from beginning to end, so its thread has the frame; an async closure's task
/// has it.
package final class LockFrame: Sendable {
    package let lock: HeldLock
    package let outer: LockFrame?

    package init(_ lock: HeldLock, outer: LockFrame?) { (self.lock, self.outer) = (lock, outer) }

    private static let local = ThreadLocal<LockFrame>()
    @TaskLocal private static var ofTask: LockFrame?

    package static var current: LockFrame? { local.value ?? ofTask }

    /// This frame as the calling code has to have it: its own one if that has this lock already, or one within its own.
    package var inCallersChain: LockFrame {
        guard let current = Self.current else { return self }
        var frame: LockFrame? = current
        while let next = frame {
            if next.lock === lock { return current }
            frame = next.outer
        }
        return LockFrame(lock, outer: current)
    }

    /// Runs a closure that does not suspend under the frame's lock.
    package static func within<Answer>(_ frame: LockFrame, _ body: () throws -> Answer) rethrows -> Answer {
        let outer = local.value
        local.value = frame
        defer { local.value = outer }
        return try body()
    }

    /// Runs an async closure under the frame's lock.
    package static func within<Answer: Sendable>(_ frame: LockFrame, _ body: () async throws -> Answer) async rethrows
        -> Answer
    {
        try await $ofTask.withValue(frame) { try await body() }
    }

    /// Whether the calling code holds locks on items, of any container.
    package static var holdsLocks: Bool {
        var frame = current
        while let next = frame {
            if next.lock.isHeld && !next.lock.plan.parts.isEmpty { return true }
            frame = next.outer
        }
        return false
    }

    /// Returns a lock manager's locks that are held by the calling code, the innermost first.
    static func held(of lockManager: LockManager) -> [HeldLock] {
        var held: [HeldLock] = []
        var frame = current
        while let next = frame {
            // A frame whose plan is empty holds no lock, so nothing can be nested in it.
            let isLock = next.lock.request.lockManager === lockManager && !next.lock.plan.parts.isEmpty
            if isLock && next.lock.isHeld { held.append(next.lock) }
            frame = next.outer
        }
        return held
    }
}
