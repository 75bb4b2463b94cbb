import Foundation
import TestSupport
import Testing

/// The container's own files are removed or replaced while members live: no member goes on silently in files that the
/// others do not have.
@Suite(.tags(.process)) struct `A split container` {
    private static let bound = Duration.seconds(15)

    @Test func `doctor finds a replaced member table`() async throws {
        let container = try TemporaryContainer()
        // Longer than the test, however slow the machine is.
        let holder = try container.start("lock", "item", "--", "sh", "-c", "echo held; exec sleep 600")
        defer { holder.signal(SIGKILL) }
        #expect(try await holder.readLine() == "held")
        #expect(try await container.findings().isEmpty)
        _ = try await container.shell("cd \"$1/.group\" && cp -p members other && mv other members")
        let found = try await container.findings()
        #expect(found.map(\.code) == ["memberTableReplaced"] && found.first?.severity == "error", "\(found)")
        #expect(try await container.findings("--repair").contains { $0.code == "memberTableReplaced" && !$0.repaired })
    }

    @Test func `a follower ends when the .group directory is moved away`() async throws {
        let container = try TemporaryContainer()
        let follower = try await container.watching()
        _ = try await container.shell("mv \"$1/.group\" \"$1.group\"")
        let outcome = try await follower.finish(within: Self.bound)
        #expect(outcome.status == 66 && outcome.errors.contains("the container was removed"), "\(outcome)")
    }

    @Test func `a removed member table is not called a removed container`() async throws {
        let container = try TemporaryContainer()
        let follower = try await container.watching()
        _ = try await container.shell("rm \"$1/.group/members\"")
        let outcome = try await follower.finish(within: Self.bound)
        #expect(outcome.status == 65 && outcome.errors.contains(".group/members"), "\(outcome)")
    }

    @Test func `a removed format file is damage, for which create is no remedy`() async throws {
        let container = try TemporaryContainer()
        try await container.done("write", "a", input: "x")
        _ = try await container.shell("rm \"$1/.group/format\"")
        let outcome = try await container.run("read", "a")
        #expect(outcome.status == 65 && outcome.errors.contains(".group/format"), "\(outcome)")
        #expect(!outcome.errors.contains("create makes it") && outcome.errors.contains("doctor"), "\(outcome)")
    }

    @Test func `a follower of a removed journal reports damage`() async throws {
        let container = try TemporaryContainer()
        let follower = try await container.watching()
        _ = try await container.shell("rm \"$1/.group/journal/1.log\"")
        let outcome = try await follower.finish(within: Self.bound)
        #expect(outcome.status == 65 && outcome.errors.contains(".group/journal/1.log"), "\(outcome)")
    }
}
