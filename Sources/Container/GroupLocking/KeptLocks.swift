import GroupSystemCalls
import Synchronization

/// The locks that callers keep between calls. A caller that blocks in a request keeps them meanwhile, so what waits for
/// one of them waits for the request. The request gets no item by them: another thread may end them at any time.
package enum KeptLocks {
    private static let count = Atomic(0)
    private static let locks = Guarded<[UInt64: [HeldLock]]>([:])

    /// Whether the caller of this thread keeps a lock.
    static var isAny: Bool { count.load(ordering: .relaxed) > 0 && !kept.isEmpty }

    /// Records that the caller of this thread keeps a lock, and returns the caller.
    package static func keep(_ lock: HeldLock) -> UInt64 {
        let caller = Caller.current
        locks.withLock { locks in
            locks[caller, default: []].append(lock)
            count.add(1, ordering: .relaxed)
        }
        return caller
    }

    /// Records that a caller does not keep a lock any more: it has ended, or was passed on. Does nothing where it was not
    /// kept.
    package static func forget(_ lock: HeldLock, of caller: UInt64) {
        locks.withLock { locks in
            guard let index = locks[caller]?.firstIndex(where: { $0 === lock }) else { return }
            locks[caller]?.remove(at: index)
            if locks[caller]?.isEmpty == true { locks[caller] = nil }
            count.subtract(1, ordering: .relaxed)
        }
    }

    /// Returns a lock manager's locks that the caller of this thread keeps.
    static func held(of lockManager: LockManager) -> [HeldLock] {
        if count.load(ordering: .relaxed) == 0 { return [] }
        return kept.filter { $0.request.lockManager === lockManager }
    }

    private static var kept: [HeldLock] {
        let caller = Caller.current
        return (locks.withLock { $0[caller] } ?? []).filter { $0.isHeld && !$0.plan.parts.isEmpty }
    }
}
