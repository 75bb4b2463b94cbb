import Dispatch
import Foundation

/// A state that one thread changes, and for which others wait, blocking or in tasks. A waiter looks at the state when it
/// begins and after each change, and is asleep in between.
final class Awaited<State>: @unchecked Sendable {
    /// Guards everything below it.
    private let lock = NSCondition()
    private var state: State
    /// The number of changes so far.
    private var version: UInt64 = 0
    private var tasks: [CheckedContinuation<Void, Never>] = []

    init(_ state: State) { self.state = state }

    /// Looks at the state, or takes something out of it, without waking the waiters.
    func withState<Answer>(_ body: (inout State) throws -> Answer) rethrows -> Answer {
        try lock.withLock { try body(&state) }
    }

    /// Changes the state, and wakes the waiters.
    func change<Answer>(_ body: (inout State) -> Answer) -> Answer {
        let (answer, waking) = lock.withLock {
            let answer = body(&state)
            version += 1
            lock.broadcast()
            defer { tasks = [] }
            return (answer, tasks)
        }
        for task in waking { task.resume() }
        return answer
    }

    /// Blocks until `find` finds something in the state, and returns it; nil at the deadline.
    func wait<Answer>(until deadline: Date, for find: (inout State) throws -> Answer?) rethrows -> Answer? {
        try lock.withLock {
            while true {
                if let found = try find(&state) { return found }
                if !lock.wait(until: deadline) { return try find(&state) }
            }
        }
    }

    /// Waits in a task until `find` finds something in the state, and returns it; nil at the deadline.
    func wait<Answer>(until deadline: Date, for find: (inout State) throws -> Answer?) async rethrows -> Answer? {
        while true {
            let (found, seen) = try lock.withLock { (try find(&state), version) }
            if let found { return found }
            if deadline.timeIntervalSinceNow <= 0 { return nil }
            await change(after: seen, until: deadline)
        }
    }

    /// Returns once there was a change after version `seen`, or at the deadline.
    private func change(after seen: UInt64, until deadline: Date) async {
        await withCheckedContinuation { task in
            let isOver = lock.withLock {
                if version == seen { tasks.append(task) }
                return version != seen
            }
            if isOver { return task.resume() }
            // Wakes this waiter at its deadline; the others look once more, and sleep again.
            DispatchQueue.global().asyncAfter(deadline: .now() + max(0, deadline.timeIntervalSinceNow)) { [weak self] in
                self?.change { _ in }
            }
        }
    }
}

/// An event that a test waited for did not come.
package struct WaitedInVain: Error, CustomStringConvertible {
    package let description: String

    package init(description: String) { self.description = description }
}

extension Date {
    /// The end of a wait that begins now.
    static func after(_ bound: Duration) -> Date {
        let (seconds, attoseconds) = bound.components
        return Date(timeIntervalSinceNow: Double(seconds) + Double(attoseconds) / 1e18)
    }
}
