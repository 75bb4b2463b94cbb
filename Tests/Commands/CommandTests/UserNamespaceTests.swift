import Foundation
import Glibc
import TestSupport
import Testing

/// In a user namespace, the files of most users seem to belong to the user `nobody`.
@Suite(
    .tags(.process, .root, .namespaces),
    .timeLimit(.minutes(2)),
    .enabled(if: isRoot && succeeds(["unshare", "-U", "-r", "true"]), "needs root and user namespaces"))
struct `A member in a user namespace` {
    /// Twenty files of another user, as the journal has them.
    private func prepared() async throws -> TemporaryContainer {
        let container = try TemporaryContainer()
        let script = #"cd "$1" && for i in $(seq 20); do echo x > f$i || exit; done; chown 1000:1000 f*"#
        #expect(try await container.shell(script).status == 0)
        #expect(try await container.done("changes", "--since", "start").lines.count == 20)
        return container
    }

    private func start(_ program: String, _ words: [String], in container: TemporaryContainer, input: String = "")
        throws -> RunningProcess
    {
        try container.start("unshare", ["-U", "-r", BuildDirectory.resolve(program)] + words, input: input)
    }

    private func changes(_ container: TemporaryContainer, since cursor: String) async throws -> [String] {
        try await container.done("changes", "--since", cursor).lines
    }

    @Test func `a leader in a user namespace records no change of owner, and each coordinated change once`()
        async throws
    {
        let container = try await prepared()
        let cursor = try await JSONStatus(of: container).journal.cursor
        let watcher = try start("watch-group", ["--verbose", "--since", cursor, container.path], in: container)
        #expect(try await watcher.readLine(from: .errors)?.hasPrefix("watching") == true)
        #expect(try await changes(container, since: cursor) == [])
        // The item's owner is kept.
        try await container.done("write", "f1", input: "other")
        try await container.done("write", "new", input: "1")
        #expect(try await container.shell(#"chmod 600 "$1/f2""#).status == 0)
        let expected = ["modified\tf1", "created\tnew", "touched\tf2"]
        #expect(try await changes(container, since: cursor) == expected)
        #expect(try await watcher.readLines(3) == expected)
        // A process outside the namespace becomes the leader.
        let next = try await container.watching("--since", cursor)
        watcher.signal(SIGKILL)
        _ = try await watcher.finish()
        #expect(try await changes(container, since: cursor) == expected)
        next.signal(SIGTERM)
        #expect(try await next.finish().lines == expected)
        // A change between owners is detected if all members see the same owners.
        #expect(try await container.shell(#"chown 1001 "$1/f3""#).status == 0)
        #expect(try await changes(container, since: cursor) == expected + ["touched\tf3"])
    }

    @Test func `a member in a user namespace compares and sets an unchanged item`() async throws {
        let container = try await prepared()
        let cursor = try await JSONStatus(of: container).journal.cursor
        for item in ["f1", "f2"] {
            let file = container.directory + "/generation"
            let read = ["read", "--generation-file", file, container.path, item]
            #expect(try await start("groupctl", read, in: container).finish().text == "x\n")
            let generation = try String(contentsOfFile: file, encoding: .utf8).trimmingCharacters(in: .newlines)
            let write = ["write", "--if-generation", generation, container.path, item]
            let written = try await start("groupctl", write, in: container, input: "y").finish()
            #expect(written.status == 0, "\(written)")
        }
        #expect(try await changes(container, since: cursor) == ["modified\tf1", "modified\tf2"])
    }
}
