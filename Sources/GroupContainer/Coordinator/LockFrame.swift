import GroupSystemCalls

/// What the code that runs on this thread holds: the lock that its closure was called with, and those around it. A
/// closure runs on one thread from beginning to end, so the thread tells which requests are nested in which.
final class LockFrame {
    let lock: HeldLock
    let outer: LockFrame?

    private init(_ lock: HeldLock, outer: LockFrame?) { (self.lock, self.outer) = (lock, outer) }

    private static let local = ThreadLocal<LockFrame>()

    static var current: LockFrame? { local.value }

    static func within<Answer>(_ lock: HeldLock, _ body: () throws -> Answer) rethrows -> Answer {
        let outer = local.value
        local.value = LockFrame(lock, outer: outer)
        defer { local.value = outer }
        return try body()
    }

    /// The locks of a member that are held around here, the innermost first.
    static func held(of member: Member) -> [HeldLock] {
        var held: [HeldLock] = []
        var frame = current
        while let next = frame {
            // One without a lock, for what needs none, is nothing to be nested in.
            let isLock = next.lock.member === member && !next.lock.plan.parts.isEmpty
            if isLock && next.lock.isHeld { held.append(next.lock) }
            frame = next.outer
        }
        return held
    }
}
