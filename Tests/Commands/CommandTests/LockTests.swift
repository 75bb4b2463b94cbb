import Foundation
import TestSupport
import Testing

@Suite(.tags(.process))
struct `groupctl lock` {
    /// A COMMAND that waits until its gate is opened, and then prints "done".
    private func holder(_ words: String..., in container: TemporaryContainer) async throws -> RunningProcess {
        let command = try container.start(
            "groupctl",
            ["lock", container.path] + words + [
                "--", "sh", "-c", "echo $$ >&2; exec cat \"$0\"", "\(container.directory)/gate",
            ])
        _ = try await command.readLine(from: .errors)
        return command
    }

    private func makeGate(in container: TemporaryContainer) throws {
        let isMade = unsafe mkfifo("\(container.directory)/gate", 0o600) == 0
        try #require(isMade)
    }

    private func openGate(in container: TemporaryContainer) throws {
        try FileHandle(forWritingTo: URL(filePath: "\(container.directory)/gate")).close()
    }

    @Test func `a lock in a missing directory leaves the other items of that directory free`() async throws {
        let container = try TemporaryContainer()
        try makeGate(in: container)
        let command = try await holder("jobs/1", in: container)
        #expect(try await container.run("lock", "jobs/1", "--timeout", "0", "--", "true").status == 75)
        for item in ["jobs/2", "jobs/a/b"] {
            #expect(try await container.run("lock", item, "--timeout", "0", "--", "true").status == 0)
        }
        try await container.done("write", "jobs/2", "--timeout", "0", input: "x")
        try openGate(in: container)
        #expect(try await command.finish().status == 0)
    }

    @Test(arguments: [("exit 0", 0), ("exit 7", 7), ("kill -TERM $$", 143)])
    func `groupctl lock ends with its COMMAND's status`(script: String, status: Int32) async throws {
        let container = try TemporaryContainer()
        let outcome = try await container.run("lock", "a", "--", "sh", "-c", "echo ran; \(script)", input: "")
        #expect(outcome.status == status && outcome.text == "ran\n", "\(outcome)")
    }

    @Test func `groupctl lock ends with 127 or 126 for a COMMAND that cannot be run`() async throws {
        let container = try TemporaryContainer()
        let missing = try await container.run("lock", "a", "--", "/nowhere/at-all")
        #expect(missing.status == 127 && missing.errors.contains("cannot run '/nowhere/at-all'"))
        #expect(try await container.run("lock", "a", "--", "/dev/null").status == 126)
        let object = try JSONError(try await container.run("lock", "a", "--json", "--", "/nowhere/at-all"))
        #expect(object.code == "notFound" && object.cause.hasPrefix("cannot run '/nowhere/at-all'"), "\(object)")
        // The directories of PATH are no commands.
        for call in [["lock", container.path, "a"], ["present", container.path, "a"]] {
            #expect(try await container.start("groupctl", call + ["--", ""]).finish().status == 127)
        }
        #expect(try await container.start("watch-group", [container.path, "--", ""]).finish().status == 127)
        #expect(try await container.run("lock", "a").status == 64)
        #expect(try await container.run("lock", "--", "true").status == 64)
        #expect(try await container.run("lock", "a", "--conflict-exit-code", "many", "--", "true").status == 64)
    }

    @Test func `groupctl lock blocks all its items, and COMMAND has its standard input`() async throws {
        let container = try TemporaryContainer()
        try makeGate(in: container)
        let holder = try await holder("a", "b/c", in: container)
        for item in ["a", "b/c"] {
            let refused = try await container.run("write", item, "--timeout", "0", input: "x")
            #expect(refused.status == 75 && refused.errors.contains("process \(holder.identifier) (groupctl"))
        }
        #expect(try await container.run("write", "d", "--timeout", "0", input: "x").status == 0)
        #expect(
            try await container.run("lock", "a", "--timeout", "0", "--conflict-exit-code", "9", "--", "true").status
                == 9)
        #expect(try await container.run("lock", "a", "--timeout", "0", "--", "true").status == 75)
        try openGate(in: container)
        #expect(try await holder.finish().status == 0)
        #expect(try await container.run("lock", "a", "--", "cat", input: "given").text == "given")
    }

    @Test func `a lock that the command around it holds ends with the status of --conflict-exit-code`() async throws {
        let container = try TemporaryContainer()
        let inner = #""$0" lock -t 0 --conflict-exit-code 9 "$1" a -- true; echo "$?""#
        let outcome = try await container.run(
            "lock", "a", "--", "sh", "-c", inner, BuildDirectory.resolve("groupctl"), container.path)
        #expect(outcome.lines == ["9"] && outcome.errors.contains("the command that started this one"), "\(outcome)")
    }

    @Test func `groupctl lock --shared admits other readers`() async throws {
        let container = try TemporaryContainer()
        try await container.done("write", "a", input: "old")
        try makeGate(in: container)
        let holder = try await holder("--shared", "a", in: container)
        #expect(try await container.run("read", "a", "--timeout", "0").text == "old")
        #expect(try await container.run("lock", "--shared", "a", "--timeout", "0", "--", "true").status == 0)
        #expect(try await container.run("write", "a", "--timeout", "0", input: "new").status == 75)
        try openGate(in: container)
        #expect(try await holder.finish().status == 0)
        #expect(try await container.run("write", "a", "--timeout", "0", input: "new").status == 0)
    }

    // fault: holder-killed
    @Test func `a killed groupctl lock ends its COMMAND, and the next one gets the lock`() async throws {
        let container = try TemporaryContainer()
        try makeGate(in: container)
        let command = try container.start(
            "groupctl",
            [
                "lock", container.path, "a", "--", "sh", "-c", "echo $$ >&2; exec cat \"$0\"",
                "\(container.directory)/gate",
            ])
        let child = try #require(pid_t(try await command.readLine(from: .errors) ?? ""))
        let waiter = try container.start("write", "a", input: "next")
        command.signal(SIGKILL)
        #expect(try await command.finish().status == 137)
        #expect(try await waiter.finish().status == 0)
        // The child is gone, or a zombie that its new parent has not reaped yet.
        var isAlive = true
        for _ in 0..<100_000 where isAlive {
            let state = (try? String(contentsOfFile: "/proc/\(child)/stat", encoding: .utf8))?.split(separator: ")")
                .last
            isAlive = state.map { !$0.hasPrefix(" Z") } ?? false
        }
        #expect(!isAlive)
    }
}
