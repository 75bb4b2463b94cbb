import GroupSystemCalls
import TestSupport
import Testing

@testable import GroupContainer
@testable import GroupLocking

/// The holder in the way of a request, which then waits in the queue of its process or of the kernel.
enum Obstacle: CaseIterable {
    case ownTask, otherProcess

    func hold(_ sample: SampleContainer, _ intent: AccessIntent) throws -> @Sendable () throws -> Void {
        switch self {
        case .ownTask:
            let held = LockHolding(sample.coordinator(), intent)
            return { try held.end() }
        case .otherProcess: return try OtherMemberLock(sample, intent).end
        }
    }
}

@Suite(.timeLimit(.minutes(1)))
struct `Cancelled requests` {
    @Test(arguments: Obstacle.allCases)
    func `a cancelled request that waits ends at once and leaves nothing behind`(_ obstacle: Obstacle) async throws {
        let sample = try SampleContainer()
        let tester = sample.coordinator()
        let letGo = try obstacle.hold(sample, .reading("file"))
        let task = Task { try await tester.write(bytes: [1], to: "file", timeout: nil) }
        #expect(try await eventually { try sample.isWaited(for: "file") })
        task.cancel()
        let error = await #expect(throws: CoordinationError.self) { try await task.value }
        #expect(error?.code == .cancelled && error?.item == "file" && error?.operation == "write")
        #expect(try sample.waiting().isEmpty && !sample.container.opened.memberTable.isAnythingContended)
        // The request's turnstile is free: a later reader does not wait behind it.
        try await tester.coordinate(.reading("file"), timeout: .zero) { _ in }
        try letGo()
        #expect(try await tester.write(bytes: [2], to: "file", timeout: .zero) == .written(1))
        #expect(try sample.isQuiet())
    }

    @Test(arguments: Obstacle.allCases)
    func `a cancelled request for several items holds none of them`(_ obstacle: Obstacle) async throws {
        let sample = try SampleContainer()
        let tester = sample.coordinator()
        let letGo = try obstacle.hold(sample, .writing("b"))
        let task = Task {
            try await tester.coordinate(.writing("a"), .writing("b"), .writing("c"), timeout: nil) { _ in }
        }
        #expect(try await eventually { try sample.isWaited(for: "b") })
        task.cancel()
        let error = await #expect(throws: CoordinationError.self) { try await task.value }
        #expect(error?.code == .cancelled)
        for path in ["a", "c"] as [ItemPath] {
            #expect(try await tester.write(bytes: [1], to: path, timeout: .zero) != .unchanged)
        }
        try letGo()
        #expect(try sample.isQuiet())
    }

    // fault: cancelled-at-grant
    @Test(arguments: Obstacle.allCases)
    func `a request that is cancelled in the moment of its grant leaves no lock`(_ obstacle: Obstacle) async throws {
        let sample = try SampleContainer()
        let tester = sample.coordinator()
        for turn in 0..<100 {
            let letGo = try obstacle.hold(sample, .writing("file"))
            let task = Task { try await tester.coordinate(.writing("file"), timeout: nil) { _ in } }
            #expect(try await eventually { try sample.isWaited(for: "file") })
            if turn.isMultiple(of: 2) {
                let release = Side { try letGo() }
                task.cancel()
                try release.answer()
            } else {
                try letGo()
                task.cancel()
            }
            if case .failure(let error) = await task.result {
                #expect((error as? CoordinationError)?.code == .cancelled)
            }
            try await tester.coordinate(.writing("file"), timeout: .zero) { _ in }
        }
    }

    @Test func `a request that is cancelled before it begins leaves nothing behind`() async throws {
        let sample = try SampleContainer()
        let tester = sample.coordinator()
        let held = LockHolding(tester, .writing("file"))
        let task = Task {
            unsafe withUnsafeCurrentTask { unsafe $0?.cancel() }
            return try await tester.write(bytes: [1], to: "file", timeout: nil)
        }
        let error = await #expect(throws: CoordinationError.self) { try await task.value }
        #expect(error?.code == .cancelled)
        try held.end()
        #expect(try await tester.write(bytes: [1], to: "file", timeout: .zero) == .written(1))
    }
}
