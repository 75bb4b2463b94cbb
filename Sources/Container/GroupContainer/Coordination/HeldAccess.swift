import GroupLocking
import GroupSystemCalls

/// Access to items in an async closure, valid until that closure returns.
public struct HeldAccess: Sendable {
    /// The mutex is held while `perform` runs its work: an access is for one thread at a time, and each waiter has a
    /// thread of its own.
    private let access: Guarded<Access>
    let frame: LockFrame
    private let answering: AnsweredQuestion?

    init(_ access: sending Access, _ frame: LockFrame, _ answering: AnsweredQuestion?) {
        self.access = Guarded(access)
        self.frame = frame
        self.answering = answering
    }

    /// Runs blocking work with the items, on a thread of its own, one call at a time. Errors: those of `work`;
    /// `limitReached` where no thread can be started
    public func perform<Answer: Sendable>(
        _ work: @escaping @Sendable (Access) throws -> Answer
    ) async throws -> Answer {
        try await OwnThread.run {
            try performBlocking(work)
        }
    }

    /// The blocking form of `perform`, for an access that was begun by `BlockingCoordinator.begin`.
    package func performBlocking<Answer>(_ work: (Access) throws -> Answer) throws -> Answer {
        try within { try access.withLock { try work($0) } }
    }

    /// Runs code that does not use this access itself: requests that it makes are nested in this one.
    package func within<Answer>(_ body: () throws -> Answer) rethrows -> Answer {
        try LockFrame.within(frame.inCallersChain) { try AnsweredQuestion.within(answering, body) }
    }

    func end<Answer: Sendable>(
        _ finish: @escaping @Sendable (Access) throws -> Answer
    ) async throws -> Answer {
        try await OwnThread.run { try access.withLock { try finish($0) } }
    }
}
