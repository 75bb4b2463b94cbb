import Foundation
import TestSupport
import Testing

/// What an update of the package does to those that run.
@Suite struct `An executable that is replaced while a process of it runs` {
    private let container: TemporaryContainer

    init() async throws { container = try await TemporaryContainer() }

    /// An executable of our own, under a name of the test's; made again, it takes the place of the one before. By
    /// another process: a child of this one that is started meanwhile would have it open for writing, and nobody could
    /// run it.
    private func install(_ name: String, of program: String) async throws -> String {
        let path = "\(container.directory)/\(name)"
        let script = "cp \"$2\" \"$3.new\" && mv \"$3.new\" \"$3\""
        let outcome = try await container.shell(script, BuildDirectory.resolve(program), path)
        try #require(outcome.status == 0, "\(outcome)")
        return path
    }

    // case 44
    @Test func `leaves that process a member as the new one's are`() async throws {
        let watcher = try await install("watcher", of: "watch-group")
        let old = try container.start(watcher, ["--verbose", "--count", "2", container.path])
        #expect(try await old.readLine(from: .errors)?.hasPrefix("watching") == true)
        try await container.done("write", "a", input: "1")
        #expect(try await old.readLine() == "created\ta")
        _ = try await install("watcher", of: "watch-group")
        let new = try container.start(watcher, ["--verbose", "--since", "start", "--count", "2", container.path])
        try await container.done("write", "b", input: "1")
        #expect(try await old.finish().lines == ["created\ta", "created\tb"])
        #expect(try await new.finish().lines == ["created\ta", "created\tb"])
    }

    // case 44
    @Test func `leaves its locks with it, and it is named by what it was started as`() async throws {
        let program = try await install("holder", of: "groupctl")
        let old = try await LockHolder(of: "item", in: container, purpose: "the-holder", program: program)
        _ = try await install("holder", of: "groupctl")
        let refused = try await container.start(
            program, ["write", container.path, "--timeout", "0", "item"], input: "other"
        ).finish()
        let named = "held by the-holder (process \(old.command.identifier), '\(program) "
        #expect(refused.status == 75 && refused.errors.contains(named), "\(refused)")
        #expect(try await old.release().status == 0)
        #expect(try container.content("item") == "new\n")
    }
}
