import Foundation
import TestSupport
import Testing

/// The effect of an update of the package on running processes.
@Suite(.tags(.process)) struct `An executable that is replaced while it runs` {
    private let container: TemporaryContainer

    init() async throws { container = try TemporaryContainer() }

    /// Copies one of our executables to a name of the test's, in place of an earlier copy. Another process makes the
    /// copy: a child of this process that is started meanwhile would have it open for writing, and then it could not be
    /// executed.
    private func install(_ name: String, of program: String) async throws -> String {
        let path = "\(container.directory)/\(name)"
        let script = "cp \"$2\" \"$3.new\" && mv \"$3.new\" \"$3\""
        let outcome = try await container.shell(script, BuildDirectory.resolve(program), path)
        try #require(outcome.status == 0, "\(outcome)")
        return path
    }

    // fault: replaced-executable
    @Test func `a process of a replaced executable stays a member`() async throws {
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

    // fault: replaced-executable
    @Test func `a process of a replaced executable keeps its locks and its name`() async throws {
        let program = try await install("holder", of: "groupctl")
        let old = try await LockHolder(of: "item", in: container, purpose: "the-holder", program: program)
        _ = try await install("holder", of: "groupctl")
        let refused = try await container.start(
            program, ["write", container.path, "--timeout", "0", "item"], input: "other"
        ).finish()
        let named = "process \(old.command.identifier) (the-holder, '\(program) "
        #expect(refused.status == 75 && refused.errors.contains(named), "\(refused)")
        #expect(try await old.release().status == 0)
        #expect(try container.content("item") == "new\n")
    }
}
