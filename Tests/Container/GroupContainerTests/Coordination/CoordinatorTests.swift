import TestSupport
import Testing

@testable import GroupContainer

@Suite(.timeLimit(.minutes(2)))
struct `Async closures of coordinate` {
    private let sample: SampleContainer

    init() throws { sample = try SampleContainer() }

    @Test func `an async closure holds its lock while it awaits, and its changes are recorded`() async throws {
        let tester = sample.coordinator()
        let other = sample.coordinator()
        let answer = try await tester.coordinate(.writing("a"), .writing("b")) { held in
            let first = try await held.perform { try $0.write(bytes: [1], to: "a") }
            await Task.yield()
            await #expect(throws: CoordinationError.self) {
                try await Task.detached { try await other.write(bytes: [9], to: "a", timeout: .zero) }.value
            }
            return try await held.perform { access in
                try access.write(bytes: access.readBytes("a") + [2], to: "b")
                return first
            }
        }
        #expect(answer == .written(1))
        #expect(try await tester.readBytes("b") == [1, 2])
        #expect(try await other.write(bytes: [9], to: "a", timeout: .zero) == .written(3))
        #expect(try sample.isQuiet())
    }

    @Test func `a request in an async closure for what it holds is a deadlock at once, and a read of it is granted`()
        async throws
    {
        let tester = sample.coordinator()
        _ = try await tester.write(bytes: [1], to: "d/a")
        try await tester.coordinate(.writing("d", .forDeleting)) { (held) async throws in
            let error = await #expect(throws: CoordinationError.self) {
                try await tester.write(bytes: [2], to: "d", timeout: nil)
            }
            #expect(error?.code == .deadlock)
            #expect(try await tester.readBytes("d/a", timeout: nil) == [1])
            let nested = try await held.perform { _ in try tester.blocking.readBytes("d/a", timeout: nil) }
            #expect(nested == [1])
        }
        #expect(try sample.isQuiet())
    }

    @Test func `an async closure that throws, or is cancelled, ends its lock and its access`() async throws {
        let tester = sample.coordinator()
        var kept: HeldAccess?
        await #expect(throws: CancellationError.self) {
            try await tester.coordinate(.writing("a")) { (held) async throws -> Void in throw CancellationError() }
        }
        kept = try await tester.coordinate(.writing("a")) { (held) async throws in held }
        let error = await #expect(throws: CoordinationError.self) {
            try await kept?.perform { try $0.write(bytes: [1], to: "a") }
        }
        #expect(error?.code == .invalidArgument)
        let task = Task {
            try await tester.coordinate(.writing("a")) { (_: HeldAccess) async throws -> Void in
                while true {
                    try Task.checkCancellation()
                    await Task.yield()
                }
            }
        }
        #expect(try await eventually { try !sample.holding().isEmpty })
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(try await tester.write(bytes: [1], to: "a", timeout: .zero) == .written(1))
        #expect(try sample.isQuiet())
    }

    @Test func `a snapshot can be read in an async closure after its lock was released`() async throws {
        let tester = sample.coordinator()
        _ = try await tester.write(bytes: [1], to: "a")
        try await tester.coordinate(.reading("a", .forUploading)) { (held) async throws in
            #expect(try await tester.write(bytes: [2], to: "a", timeout: .zero) == .written(2))
            #expect(try await held.perform { try $0.readBytes("a") } == [1])
        }
        #expect(try sample.temporary.staged().isEmpty)
    }
}

@Suite struct `Operations of a transaction's access` {
    private let sample: SampleContainer

    init() throws { sample = try SampleContainer() }

    @Test func `a transaction's access reads items and generations as they are, until it changes them`() throws {
        let tester = sample.coordinator().blocking
        _ = try tester.write(bytes: [1], to: "a")
        let result = try tester.transaction(.writing("a"), .writing("b"), .writing("c", .forReplacing)) {
            (access) throws in
            #expect(try access.generation(of: "a") == 1)
            #expect(try access.readVersion("a").generation == 1)
            #expect(try access.item("b") == nil)
            #expect(try access.write(bytes: [1, 2], to: "b") == .staged)
            #expect(try access.item("b")?.size == 2)
            let error = #expect(throws: CoordinationError.self) { try access.generation(of: "b") }
            #expect(error?.code == .invalidArgument)
            #expect(throws: CoordinationError.self) { try access.setMode(0o600, of: "a") }
            #expect(try access.readBytes("b") == [1, 2])
        }
        #expect(result.generation == 2)
        #expect(try tester.readBytes("b") == [1, 2])
    }
}
