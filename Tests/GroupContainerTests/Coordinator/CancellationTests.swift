import SystemCalls
import Testing

@testable import GroupContainer

@Suite(.timeLimit(.minutes(1)))
struct `A cancelled request` {
    @Test func `that waits ends at once and leaves nothing behind`() async throws {
        let sample = try SampleContainer()
        let tester = sample.coordinator()
        let held = HeldLease(tester, .reading("file"))
        let task = Task { try await tester.write(bytes: [1], to: "file", timeout: nil) }
        #expect(try await eventually { try sample.isWanted("file") })
        task.cancel()
        let error = await #expect(throws: CoordinationError.self) { try await task.value }
        #expect(error?.code == .cancelled && error?.item == "file" && error?.operation == "write")
        #expect(try sample.waiting().isEmpty && !sample.isWanted("file"))
        // Its turnstile is free: a later reader does not wait behind it.
        try await tester.coordinate(.reading("file"), timeout: .zero) { _ in }
        try held.end()
        #expect(try await tester.write(bytes: [2], to: "file", timeout: .zero) == .written(1))
    }

    @Test func `of several items holds none of them`() async throws {
        let sample = try SampleContainer()
        let tester = sample.coordinator()
        let held = HeldLease(tester, .writing("b"))
        let task = Task {
            try await tester.coordinate(.writing("a"), .writing("b"), .writing("c"), timeout: nil) { _ in }
        }
        #expect(try await eventually { try sample.isWanted("b") })
        task.cancel()
        let error = await #expect(throws: CoordinationError.self) { try await task.value }
        #expect(error?.code == .cancelled)
        for path in ["a", "c"] as [ItemPath] {
            #expect(try await tester.write(bytes: [1], to: path, timeout: .zero) != .unchanged)
        }
        try held.end()
    }

    @Test func `in the moment of its grant leaves no lease`() async throws {
        let sample = try SampleContainer()
        let tester = sample.coordinator()
        for turn in 0..<100 {
            let held = HeldLease(tester, .writing("file"))
            let task = Task { try await tester.coordinate(.writing("file"), timeout: nil) { _ in } }
            #expect(try await eventually { try sample.isWanted("file") })
            if turn.isMultiple(of: 2) {
                let release = Side { try held.end() }
                task.cancel()
                try release.answer()
            } else {
                try held.end()
                task.cancel()
            }
            if case .failure(let error) = await task.result {
                #expect((error as? CoordinationError)?.code == .cancelled)
            }
            try await tester.coordinate(.writing("file"), timeout: .zero) { _ in }
        }
    }

    @Test func `before it begins does no harm`() async throws {
        let sample = try SampleContainer()
        let tester = sample.coordinator()
        let held = HeldLease(tester, .writing("file"))
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
