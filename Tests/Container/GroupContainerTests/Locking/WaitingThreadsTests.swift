import Dispatch
import GroupSystemCalls
import TestSupport
import Testing

@testable import GroupContainer
@testable import GroupLocking

/// Each test runs in a process of its own: the threads of other tests would be counted, too.
@Suite(.timeLimit(.minutes(2)), .tags(.process))
struct `Waiting tasks` {
    @Test func `tasks that wait for one item take one thread, and all get it`() async {
        await #expect(processExitsWith: .success) {
            limitLifetime()
            let most = try await crowd(of: 300, on: .writing("n")) { _ in "n" }
            #expect(most == 1)
        }
    }

    @Test func `tasks that wait for many items take 64 threads at most, and all get theirs`() async {
        await #expect(processExitsWith: .success) {
            limitLifetime()
            let most = try await crowd(of: 200, on: .writing("directory", .forMoving)) { "directory/\($0)" }
            #expect(most == 64)
        }
    }
}

extension `Waiting tasks` {
    @Test func `a closure that holds a lock can wait for another, though all wait permits are taken`() async {
        await #expect(processExitsWith: .success) {
            limitLifetime()
            let sample = try SampleContainer()
            let tester = sample.coordinator()
            _ = try await tester.write(bytes: [], to: "directory/0")
            let (crowd, item) = (
                try OtherMemberLock(sample, .writing("directory", .forMoving)),
                try OtherMemberLock(sample, .writing("b"))
            )
            async let all: Void = withThrowingTaskGroup { group in
                for number in 0..<2 * WaitPermits.limit {
                    group.addTask {
                        try await tester.coordinate(.writing("directory/\(number)"), timeout: nil) { _ in }
                    }
                }
                try await group.waitForAll()
            }
            #expect(await eventually { waitingThreads() == WaitPermits.limit })
            let nested = Side {
                try tester.blocking.coordinate(.writing("a"), timeout: patience) { _ in
                    try tester.blocking.coordinate(.writing("b"), timeout: patience) { _ in }
                }
            }
            #expect(await eventually { waitingThreads() == WaitPermits.limit + 1 })
            item.end()
            try nested.answer()
            crowd.end()
            try await all
            #expect(try sample.isQuiet())
        }
    }
}

extension `Waiting tasks` {
    @Test func `waiting tasks end by deadline and by cancellation while 300 closures block`() async {
        await #expect(processExitsWith: .success) {
            limitLifetime()
            let sample = try SampleContainer()
            let tester = sample.coordinator()
            let foreign = try OtherMemberLock(sample, .writing("held"))
            let (begun, released) = (Guarded(0), DispatchSemaphore(value: 0))
            async let all: Void = withThrowingTaskGroup { group in
                for number in 0..<300 {
                    group.addTask {
                        try await tester.coordinate(.reading("item\(number)"), timeout: nil) { _ in
                            begun.withLock { $0 += 1 }
                            released.wait()
                        }
                    }
                }
                try await group.waitForAll()
            }
            #expect(await eventually { begun.withLock { $0 } == 300 })
            let start = ContinuousClock.now
            let late = await Task {
                try await tester.coordinate(.writing("held"), timeout: .milliseconds(500)) { _ in }
            }.result
            #expect(errorCode(of: late) == .lockTimedOut)
            let cancelled = Task { try await tester.coordinate(.writing("held"), timeout: nil) { _ in } }
            #expect(await eventually { waitingThreads() == 1 })
            cancelled.cancel()
            let end = await cancelled.result
            #expect(errorCode(of: end) == .cancelled)
            // Both ended while all closures blocked; without a thread to end them, they would have ended with the
            // closures.
            #expect(ContinuousClock.now - start < .seconds(20))
            for _ in 0..<300 { released.signal() }
            try await all
            foreign.end()
        }
    }

    @Test func `tasks in line for a thread leave it when their time is over or they are cancelled`() async {
        await #expect(processExitsWith: .success) {
            limitLifetime()
            let sample = try SampleContainer()
            let tester = sample.coordinator()
            _ = try await tester.write(bytes: [], to: "directory/0")
            let foreign = try OtherMemberLock(sample, .writing("directory", .forMoving))
            async let all: Void = withThrowingTaskGroup { group in
                for number in 0..<WaitPermits.limit {
                    group.addTask {
                        try await tester.coordinate(.writing("directory/\(number)"), timeout: nil) { _ in }
                    }
                }
                try await group.waitForAll()
            }
            #expect(await eventually { waitingThreads() == WaitPermits.limit })
            let late = await #expect(throws: CoordinationError.self) {
                try await tester.coordinate(.writing("directory/late"), timeout: .milliseconds(20)) { _ in }
            }
            #expect(late?.code == .lockTimedOut)
            let cancelled = Task { try await tester.coordinate(.writing("directory/never"), timeout: nil) { _ in } }
            cancelled.cancel()
            await #expect(throws: (any Error).self) { try await cancelled.value }
            foreign.end()
            try await all
            #expect(try sample.isQuiet())
        }
    }
}

/// Returns the code of the error that ended a task.
private func errorCode(of result: Result<Void, any Error>) -> CoordinationError.Code? {
    do {
        try result.get()
        return nil
    } catch {
        return (error as? CoordinationError)?.code
    }
}

/// Starts many tasks that want what another process holds, waits until all of them wait, and returns the most threads
/// that waited for them.
private func crowd(of count: Int, on intent: AccessIntent, each: @escaping @Sendable (Int) -> ItemPath) async throws
    -> Int
{
    let sample = try SampleContainer()
    let tester = sample.coordinator()
    // Otherwise writers that make the directory would wait for it, one behind the other.
    _ = try await tester.write(bytes: [], to: "directory/0")
    let foreign = try OtherMemberLock(sample, intent)
    let (begun, done) = (Guarded(0), Guarded(0))
    async let all: Void = withThrowingTaskGroup { group in
        for number in 0..<count {
            group.addTask {
                begun.withLock { $0 += 1 }
                try await tester.run(ItemCall(operation: "test", intents: [.writing(each(number))]), .relaxed, nil) {
                    _ in
                    done.withLock { $0 += 1 }
                }
            }
        }
        try await group.waitForAll()
    }
    var most = 0
    // All tasks have begun, and the member table is full of those that wait.
    #expect(await eventually { begun.withLock { $0 } == count })
    #expect(try await eventually { try sample.waiting().count == min(count, MemberTableLayout.publishedCount) })
    #expect(
        await eventually {
            most = max(most, waitingThreads())
            return most >= min(count, intent.path == "n" ? 1 : WaitPermits.limit)
        })
    for _ in 0..<200 { most = max(most, waitingThreads()) }
    foreign.end()
    try await all
    #expect(done.withLock { $0 } == count)
    #expect(try sample.isQuiet())
    return most
}

private func waitingThreads() -> Int {
    guard let tasks = try? FileDescriptor.open(path: Array("/proc/self/task".utf8), [.reading, .directory]) else {
        return 0
    }
    return ((try? tasks.entryNames()) ?? []).filter { name in
        guard let file = try? FileDescriptor.open(name + Array("/comm".utf8), in: tasks, .reading) else { return false }
        return (try? file.readAll(limit: 64)) == Array("lock-wait\n".utf8)
    }.count
}
