import GroupSystemCalls
import TestSupport
import Testing

@testable import GroupContainer
@testable import GroupLog

@Suite(.ownThreads) struct `Locks that are held between calls` {
    private let sample: SampleContainer
    private let coordinator: BlockingCoordinator

    init() throws {
        sample = try SampleContainer()
        coordinator = sample.coordinator().blocking
        try coordinator.write(bytes: [1], to: "a")
    }

    @Test func `they last until they are ended, and what was written under them stays`() throws {
        let locks = try coordinator.lock(.writing("a"), .reading("b"))
        #expect(try Set(sample.holding().map(\.path)) == ["a", "b"])
        let content = try locks.perform { try $0.readBytes("a") }
        try locks.perform { try $0.write(bytes: content + [2], to: "a") }
        let error = #expect(throws: CoordinationError.self) {
            try coordinator.write(bytes: [9], to: "a", timeout: .milliseconds(20))
        }
        #expect(error?.code == .lockTimedOut)
        try locks.unlock()
        try locks.unlock()
        #expect(try sample.isQuiet() && coordinator.readBytes("a") == [1, 2])
        #expect(throws: CoordinationError.self) { try locks.perform { try $0.readBytes("a") } }
    }

    @Test func `a request of the work for what is held is nested`() throws {
        let locks = try coordinator.lock(.writing("a"))
        let error = #expect(throws: CoordinationError.self) {
            try locks.perform { _ in try coordinator.write(bytes: [9], to: "a") }
        }
        #expect(error?.code == .deadlock)
        #expect(try locks.perform { _ in try coordinator.readBytes("a") } == [1])
        try locks.unlock()
    }

    /// What a thread's request for what it keeps locked fails with; nil where it succeeds.
    private func failure(
        of timeout: Duration?, after use: @escaping @Sendable (HeldLocks) throws -> Void = { _ in }
    ) throws -> CoordinationError? {
        let found = Guarded<(any Error)?>(nil)
        let isDone = Event()
        let coordinator = coordinator
        try WorkThread.start {
            do {
                let locks = try coordinator.lock(.writing("a"))
                try use(locks)
                try coordinator.write(bytes: [9], to: "a", timeout: timeout)
            } catch { found.withLock { $0 = error } }
            isDone.happen()
        }
        _ = isDone.await()
        return found.withLock { $0 as? CoordinationError }
    }

    @Test func `a thread does not wait for the lock that it keeps`() throws {
        let error = try failure(of: nil)
        #expect(error?.code == .deadlock && error?.holders.count == 1, "\(String(describing: error))")
        // A request that tries does not wait.
        #expect(try failure(of: .zero)?.code == .lockTimedOut)
        // Another one may end what it has used.
        let passedOn = try failure(of: .milliseconds(20)) { locks in
            let isUsed = Event()
            try WorkThread.start {
                _ = try? locks.perform { try $0.readBytes("a") }
                isUsed.happen()
            }
            _ = isUsed.await()
        }
        #expect(passedOn?.code == .lockTimedOut, "\(String(describing: passedOn))")
        #expect(try failure(of: nil) { try $0.unlock() } == nil)
        #expect(try sample.isQuiet())
    }

    @Test func `a task waits for a lock that its thread has taken`() throws {
        let locks = try coordinator.lock(.writing("a"))
        let error = #expect(throws: CoordinationError.self) {
            try coordinator.write(bytes: [9], to: "a", timeout: .milliseconds(20))
        }
        #expect(error?.code == .lockTimedOut)
        try locks.unlock()
    }

    @Test func `they end with the last reference to them`() throws {
        var locks: HeldLocks? = try coordinator.lock(.writing("a"))
        #expect(try sample.holding().count == 1 && locks != nil)
        locks = nil
        #expect(try sample.isQuiet())
    }

    @Test func `a change under them is on the disk when they end, unless it is relaxed`() throws {
        let locks = try coordinator.lock([.writing("a")], durability: .durable)
        try locks.perform { try $0.write(bytes: [3], to: "a") }
        try locks.unlock()
        let log = sample.container.opened.journal.log
        #expect(try log.segment(log.end().segment)?.isDurable(through: log.end().offset) == true)
    }

    @Test func `a token ends a wait for a lock, and each later one`() throws {
        let token = CancellationToken()
        let ending = sample.coordinator("waiter").blocking.ending(with: token)
        try ending.write(bytes: [2], to: "b")
        let locks = try coordinator.lock(.writing("a"))
        let ended = Guarded<CoordinationError?>(nil)
        let isDone = Event()
        try WorkThread.start {
            do { try ending.write(bytes: [9], to: "a", timeout: nil) } catch let error as CoordinationError {
                ended.withLock { $0 = error }
            } catch {}
            isDone.happen()
        }
        #expect(try eventually { try sample.isWaited(for: "a") })
        token.cancel()
        _ = isDone.await()
        #expect(ended.withLock { $0?.code } == .cancelled && token.isCancelled)
        let again = #expect(throws: CoordinationError.self) { try ending.lock(.writing("a"), timeout: nil) }
        #expect(again?.code == .cancelled)
        try locks.unlock()
        #expect(try sample.isQuiet() && coordinator.readBytes("a") == [1])
    }

    @Test func `a token ends the wait of a follower and of a listener`() throws {
        let token = CancellationToken()
        var follower = try sample.container.follow(since: .now)
        let listener = try GroupChannel(sample.container, name: "c").listener(named: "l")
        try coordinator.write(bytes: [2], to: "b")
        #expect(try follower.next(orUntil: token)?.path == "b")
        let ends = Guarded(0)
        let isDone = Event()
        let present = follower
        try WorkThread.start {
            var follower = present
            if (try? follower.next(orUntil: token)) == .some(nil) { ends.withLock { $0 += 1 } }
            if (try? listener.next(orUntil: token)) == .some(nil) { ends.withLock { $0 += 1 } }
            isDone.happen()
        }
        token.cancel()
        _ = isDone.await()
        #expect(ends.withLock { $0 } == 2)
        #expect(try follower.next(timeout: .zero) == nil)
    }
}
