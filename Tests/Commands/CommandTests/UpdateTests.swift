import Foundation
import TestSupport
import Testing

@Suite(.tags(.process))
struct `groupctl update` {
    @Test func `update passes the content to COMMAND and writes its output`() async throws {
        let container = try TemporaryContainer()
        #expect(try await container.run("update", "a", "--", "wc", "-c").status == 0)
        #expect(try container.content("a") == "0\n", "an absent item counts as empty")
        #expect(try await container.run("update", "a", "--", "sed", "s/^/now /").status == 0)
        #expect(try container.content("a") == "now 0\n")
        #expect(try await container.run("update", "a", "--", "tr", "0", "1").status == 0)
        #expect(try container.content("a") == "now 1\n")
        #expect(try await container.run("update", "f/g/h", "--relaxed", "--", "echo", "made").status == 0)
        #expect(try container.content("f/g/h") == "made\n")
    }

    @Test(arguments: [
        ("exit 1", 1), ("exit 7", 7), ("echo partly; exit 77", 77), ("kill -KILL $$", 137),
        ("echo x; kill -TERM $$", 143),
    ])
    func `update ends with the status of a failed COMMAND and writes nothing`(script: String, status: Int32)
        async throws
    {
        let container = try TemporaryContainer()
        try await container.done("write", "a", input: "old")
        let outcome = try await container.run("update", "a", "--", "sh", "-c", "echo why >&2; " + script)
        #expect(outcome.status == status, "\(outcome)")
        let words = "why\ngroupctl: 'sh' ended with \(status); nothing was changed\n"
        #expect(outcome.output.isEmpty && outcome.errors == words, "\(outcome)")
        #expect(try container.content("a") == "old")
        let absent = try await container.run("update", "f/b", "--", "sh", "-c", script)
        #expect(absent.status == status)
        #expect(try await container.done("list").lines == ["a"], "the parent directory is not created, either")
        #expect(try await container.done("changes", "--since", "start").lines == ["created\ta"])
        #expect(try await container.run("read", "a", "--timeout", "0").status == 0)
    }

    @Test func `update empties an item only if that is allowed`() async throws {
        let container = try TemporaryContainer()
        try await container.done("write", "a", input: "old")
        let refused = try await container.run("update", "a", "--", "true")
        #expect(refused.status == 65 && refused.errors.contains("--allow-empty"), "\(refused)")
        #expect(try container.content("a") == "old")
        try await container.done("update", "a", "--allow-empty", "--", "true")
        #expect(try container.content("a") == "")
        try await container.done("update", "a", "--", "true")
        try await container.done("update", "b", "--", "true")
    }

    @Test func `update ends with a shell's statuses for a COMMAND that cannot be run`() async throws {
        let container = try TemporaryContainer()
        let missing = try await container.run("update", "a", "--", "no-such-command")
        #expect(missing.status == 127, "\(missing)")
        let plain = try await container.run("update", "a", "--", container.path + "/.group/format")
        #expect(plain.status == 126, "\(plain)")
        #expect(missing.errors.contains("no-such-command"))
        #expect(plain.errors.contains(".group/format"))
        #expect(try await container.done("list").output.isEmpty)
    }

    @Test func `update allows a COMMAND that ignores its input, or prints before it reads`() async throws {
        let container = try TemporaryContainer()
        let content = [UInt8](repeating: UInt8(ascii: "x"), count: 1_000_000)
        try await container.done("write", "a", "--relaxed", input: content)
        #expect(try await container.run("update", "a", "--", "echo", "short").status == 0)
        #expect(try container.content("a") == "short\n")
        let both = try await container.run("update", "a", "--", "sh", "-c", "head -c 1000000 /dev/zero; cat")
        #expect(both.status == 0)
        #expect(try await container.done("read", "a").output.count == 1_000_006)
    }

    @Test func `update --exit-code ends with 3 if the content is unchanged`() async throws {
        let container = try TemporaryContainer()
        #expect(try await container.run("update", "a", "--exit-code", "--", "echo", "x").status == 0)
        #expect(try await container.run("update", "a", "--exit-code", "--", "cat").status == 3)
        #expect(try await container.run("update", "a", "--", "cat").status == 0)
        let json = try await container.done("update", "a", "--json", "--", "echo", "y")
        #expect(json.text == #"{"path":"a","outcome":"written","generation":2}"# + "\n")
        #expect(try await container.done("changes", "--since", "start").lines == ["created\ta", "modified\ta"])
    }

    @Test func `update passes words that are not UTF-8 to COMMAND unchanged`() async throws {
        let container = try TemporaryContainer()
        let word: [UInt8] = [0xFF, 0x20, 0x80]
        try await container.done("update", "a", "--", "printf", "%s", word)
        #expect(try await container.done("read", "a").output == word)
    }

    @Test func `update starts COMMAND with a shell's signal handling`() async throws {
        let container = try TemporaryContainer()
        // If SIGPIPE is ignored, yes(1) prints an error.
        let outcome = try await container.run("update", "a", "--", "sh", "-c", "yes | head -n 1")
        #expect(outcome.status == 0 && outcome.errors == "", "\(outcome)")
        #expect(try container.content("a") == "y\n")
    }
}
