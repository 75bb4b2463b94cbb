import GroupLocking
import GroupSystemCalls

/// Locks that are held between calls, for code that cannot put its work into one closure: a program in another
/// language, an object that lives as long as a window. Each change under them is visible and final at once.
///
///     let locks = try container.coordinator(purpose: "editor").blocking.lock(.writing("draft.txt"))
///     let text = try locks.perform { try $0.readBytes("draft.txt") }
///     try locks.perform { try $0.write(bytes: text + more, to: "draft.txt") }
///     try locks.unlock()
///
/// Several threads may use them, one at a time. They end with `unlock()`, with the last reference to this object, or
/// with the process. The kernel names this process as their holder meanwhile, so hold them for as short as you can.
///
/// A thread that blocks cannot end the locks that it has taken. So another blocking request of that thread throws
/// `deadlock` at once if it would wait for them, directly or through other processes, until another thread has used
/// them. A request of a task waits: other tasks may end the locks meanwhile.
public final class HeldLocks: Sendable {
    private let coordinator: BlockingCoordinator
    private let held: HeldAccess
    /// The thread that has taken the locks, or the caller that it worked for; nil in a task.
    private let caller: UInt64?

    init(_ coordinator: BlockingCoordinator, _ held: HeldAccess) {
        self.coordinator = coordinator
        self.held = held
        let isInTask = unsafe withUnsafeCurrentTask { task in unsafe task != nil }
        caller = isInTask ? nil : KeptLocks.keep(held.frame.lock)
    }

    deinit { try? unlock() }

    /// Records that the thread that has taken the locks does not keep them any more.
    private func forget() { if let caller { KeptLocks.forget(held.frame.lock, of: caller) } }

    /// Runs work with the items, on the calling thread, one call at a time. A request that the work makes for what is
    /// held is nested: reading is granted, and a change is the error `deadlock`. Errors: those of `work`;
    /// `invalidArgument` after `unlock()`
    @discardableResult
    public func perform<Answer>(_ work: (Access) throws -> Answer) throws -> Answer {
        if let caller, caller != Caller.current { forget() }
        return try held.performBlocking(work)
    }

    /// Ends the locks; a second call does nothing. Durable changes that were made under them are on the disk when this
    /// returns. Error: `notDurable`, after which the locks have ended, too
    public func unlock() throws {
        forget()
        try coordinator.end(held)
    }
}

extension BlockingCoordinator {
    /// Locks all items, or throws with none locked; the locks are held until `HeldLocks.unlock()`. Errors: those of
    /// `Coordinator.coordinate`
    public func lock(
        _ intents: AccessIntent..., durability: Durability = .durable, timeout: Duration? = Coordinator.lockTimeout
    ) throws -> HeldLocks {
        try lock(intents, durability: durability, timeout: timeout)
    }

    /// Locks an array of items. See the variadic form.
    public func lock(
        _ intents: [AccessIntent], durability: Durability = .durable, timeout: Duration? = Coordinator.lockTimeout
    ) throws -> HeldLocks {
        let held = try begin(
            intents, durability: durability, operation: "lock", timeout: timeout, orUntil: cancellation)
        return HeldLocks(self, held)
    }
}
