import Foundation
import TestSupport
import Testing

@Suite(.tags(.process))
struct `A lock on an item` {
    // fault: lock-timeout
    @Test(arguments: [["read", "a"], ["write", "a"], ["update", "a", "--", "cat"]])
    func `a single attempt at a held lock ends with 75 and names the holder`(call: [String]) async throws {
        let container = try TemporaryContainer()
        try await container.done("write", "a", input: "old")
        let holder = try await LockHolder(of: "a", in: container, purpose: "the-holder")
        let words = [call[0], container.path, "--timeout", "0"] + call.dropFirst()

        let outcome = try await container.start("groupctl", words, input: "other").finish()
        #expect(outcome.status == 75, "\(outcome)")
        #expect(outcome.output.isEmpty)
        #expect(
            outcome.errors.contains(
                "cannot \(call[0]) 'a' in '\(container.path)': the \(call[0] == "read" ? "shared" : "exclusive") lock was not granted at once"
            ), "\(outcome)")
        #expect(outcome.errors.contains("process \(holder.command.identifier) (the-holder, '"), "\(outcome)")

        let error = try JSONError(try await container.start("groupctl", words.insertingJSON).finish())
        #expect(error.code == "lockTimedOut" && error.item == "a" && error.operation == call[0], "\(error)")
        #expect(error.holders.map(\.pid) == [holder.command.identifier])
        #expect(error.holders.map(\.purpose) == ["the-holder"])
        #expect(isTimestamp(error.holders.first?.since))
        #expect(try container.content("a") == "old")

        #expect(try await holder.release().status == 0)
        #expect(try container.content("a") == "new\n")
    }

    @Test func `a command waits for a held lock until its timeout`() async throws {
        let container = try TemporaryContainer()
        let holder = try await LockHolder(of: "a", in: container, purpose: "the-holder")
        let start = ContinuousClock.now
        #expect(try await container.run("write", "a", "--timeout", "250ms").status == 75)
        #expect(ContinuousClock.now - start >= .milliseconds(250))
        #expect(try await holder.release().status == 0)
    }

    @Test(arguments: [
        ["lock", "a", "--", "groupctl", "write", "GROUP", "a"],
        ["lock", "d", "a", "--", "sh", "-c", "groupctl read GROUP a"],
        ["lock", "a", "--", "groupctl", "lock", "GROUP", "b", "--", "groupctl", "write", "GROUP", "a"],
        ["update", "a", "--", "groupctl", "update", "GROUP", "a", "--", "cat"],
    ])
    func `a command that waits for the one that started it fails at once`(call: [String]) async throws {
        let container = try TemporaryContainer()
        try await container.done("write", "a", input: "old")
        let groupctl = BuildDirectory.resolve("groupctl")
        let words = call.map {
            $0.replacing("GROUP", with: container.path).replacing("groupctl", with: groupctl)
        }
        let outcome = try await container.start("groupctl", [words[0], container.path] + words[1...]).finish(
            within: .seconds(20))
        #expect(outcome.status == 75, "\(outcome)")
        #expect(outcome.errors.contains("the command that started this one holds the lock"), "\(outcome)")
        #expect(try container.content("a") == "old")
    }

    @Test func `the second of two moves of the same item does not find it`() async throws {
        let container = try TemporaryContainer()
        for (origin, goal) in [("a", "b"), ("f", "f2/f")] {
            try await container.done("write", origin, input: "old")
            let holder = try await LockHolder(of: origin, in: container, purpose: "the-holder")
            let moves = try [0, 1].map { _ in try container.start("move", origin, goal) }
            while try await JSONStatus(of: container).members.filter({ $0.locks.contains { $0.state != "held" } }).count
                < 2
            {}
            _ = try await holder.release()
            var statuses: [Int32] = []
            for move in moves {
                let outcome = try await move.finish()
                statuses.append(outcome.status)
                if outcome.status != 0 { #expect(outcome.errors.contains("'\(origin)'"), "\(outcome)") }
            }
            #expect(statuses.sorted() == [0, 66])
        }
        let same = try await container.run("move", "b", "b")
        #expect(same.status == 64 && same.errors.contains("its own path"), "\(same)")
    }

    @Test func `a command waits for others than the one that started it`() async throws {
        let container = try TemporaryContainer()
        let holder = try await LockHolder(of: "a", in: container, purpose: "the-holder")
        let words = ["b", "--", BuildDirectory.resolve("groupctl"), "write", container.path, "a", "--timeout", "100ms"]
        let outcome = try await container.start("groupctl", ["lock", container.path] + words).finish()
        #expect(outcome.status == 75 && outcome.errors.contains("was not granted within 100 ms"), "\(outcome)")
        #expect(try await holder.release().status == 0)
    }

    @Test func `a lock on one item does not block another item`() async throws {
        let container = try TemporaryContainer()
        let holder = try await LockHolder(of: "a", in: container, purpose: "the-holder")
        #expect(try await container.run("write", "b", "--timeout", "0", input: "x").status == 0)
        #expect(try await container.run("read", "b", "--timeout", "0").status == 0)
        #expect(try await container.run("list").status == 0)
        #expect(try await container.run("changes", "--since", "start").lines == ["created\tb"])
        #expect(try await holder.release().status == 0)
    }

    @Test func `a waiting command is shown by status and gets the lock on its release`() async throws {
        let container = try TemporaryContainer()
        let holder = try await LockHolder(of: "a", in: container, purpose: "the-holder")
        let waiter = try container.start("write", "a", "--purpose", "the-waiter", input: "last")
        var waiting: JSONStatus.HeldLock?
        for _ in 0..<1_000 where waiting == nil {
            let status = try await JSONStatus(of: container)
            waiting = status.members.first { $0.purpose == "the-waiter" }?.locks.first
        }
        #expect(waiting?.path == "a" && waiting?.mode == "writing" && waiting?.state == "waiting")
        #expect(try await holder.release().status == 0)
        #expect(try await waiter.finish().status == 0)
        #expect(try container.content("a") == "last")
        #expect(try await container.done("changes", "--since", "start").lines == ["created\ta", "modified\ta"])
    }

    // fault: readers-without-pause
    @Test func `new readers of a shared lock wait behind a waiting writer of another process`()
        async throws
    {
        let container = try TemporaryContainer()
        try await container.done("write", "a", input: "old")
        let gate = "\(container.directory)/gate"
        #expect(try await container.shell("mkfifo \"$2\"", gate).status == 0)
        let sharer = try container.start(
            "lock", "--shared", "a", "--", "sh", "-c", "echo held; read line <\"$0\"", gate)
        #expect(try await sharer.readLine() == "held")
        #expect(try await container.run("read", "a", "--timeout", "0").status == 0, "as long as no writer waits")
        let writer = try container.start("write", "a", input: "new")
        // The writer is about to wait.
        var refused = false
        for _ in 0..<200 where !refused {
            refused = try await container.run("read", "a", "--timeout", "0").status == 75
        }
        #expect(refused)
        #expect(try await container.run("read", "a", "--timeout", "0").status == 75, "it stays so")
        #expect(try await container.shell("echo >\"$2\"", gate).status == 0)
        #expect(try await sharer.finish().status == 0)
        #expect(try await writer.finish().status == 0)
        #expect(try await container.run("read", "a", "--timeout", "0").output == Array("new".utf8))
    }

    @Test func `the lock of a killed process is free at once, and its COMMAND is killed`() async throws {
        let container = try TemporaryContainer()
        try await container.done("write", "a", input: "old")
        let holder = try await LockHolder(of: "a", in: container, purpose: "the-holder")
        holder.command.signal(SIGKILL)
        #expect(try await holder.command.end() == 128 + SIGKILL)
        let outcome = try await container.run("update", "a", "--timeout", "0", "--", "sed", "s/$/ and next/")
        #expect(outcome.status == 0, "\(outcome)")
        // The command held the other end of standard error as long as it lived, and its gate was not opened.
        _ = try await holder.command.finish()
        #expect(try container.content("a") == "old and next\n" || container.content("a") == "old and next")
        #expect(try await JSONStatus(of: container).members.count == 1)
    }

    @Test(arguments: [SIGTERM, SIGINT, SIGHUP])
    func `a signal ends update under its lock, and nothing is written`(signal: Int32) async throws {
        let container = try TemporaryContainer()
        try await container.done("write", "a", input: "old")
        let holder = try await LockHolder(of: "a", in: container, purpose: "the-holder")
        holder.command.signal(signal)
        #expect(try await holder.command.finish().status == 128 + signal)
        #expect(try container.content("a") == "old")
        #expect(try await container.run("read", "a", "--timeout", "0").status == 0)
        #expect(try await container.shell("ls \"$1/.group/staging\"").output.isEmpty)
    }

    // fault: holder-stopped
    @Test func `the lock of a stopped process stays, and a timeout names the process`() async throws {
        let container = try TemporaryContainer()
        let holder = try await LockHolder(of: "a", in: container, purpose: "the-holder")
        try #require(holder.command.stop())
        let outcome = try await container.run("write", "a", "--timeout", "100ms", input: "stolen")
        #expect(outcome.status == 75, "\(outcome)")
        #expect(outcome.errors.contains("process \(holder.command.identifier) (the-holder, stopped, '"))
        // All other processes go on.
        #expect(try await container.run("write", "b", "--timeout", "0", input: "x").status == 0)
        holder.command.signal(SIGCONT)
        #expect(try await holder.release().status == 0)
        #expect(try container.content("a") == "new\n")
    }

    @Test func `update holds the lock while COMMAND runs`() async throws {
        let container = try TemporaryContainer()
        let outcome = try await container.run(
            "update", "a", "--", "groupctl", "write", container.path, "a", "--timeout", "0")
        #expect(outcome.status == 75, "the status is COMMAND's: \(outcome)")
        #expect(outcome.errors.contains(" (groupctl, '"))
        #expect(try await container.done("list").output.isEmpty)
    }
}
