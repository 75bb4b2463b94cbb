import Foundation
import TestSupport
import Testing

@Suite(.serialized)
struct `A lock` {
    // case 14
    @Test(arguments: [["read", "a"], ["write", "a"], ["update", "a", "--", "cat"]])
    func `that is held makes one try end with 75 and its holder's name`(call: [String]) async throws {
        let container = try await TemporaryContainer()
        try await container.done("write", "a", input: "old")
        let holder = try await LockHolder(of: "a", in: container, purpose: "the-holder")
        let words = [call[0], container.path, "--timeout", "0"] + call.dropFirst()

        let outcome = try await container.start("groupctl", words, input: "other").finish()
        #expect(outcome.status == 75, "\(outcome)")
        #expect(outcome.output.isEmpty)
        #expect(outcome.errors.contains("cannot \(call[0]) 'a': the lock was not granted in time"), "\(outcome)")
        #expect(outcome.errors.contains("held by the-holder (process \(holder.command.identifier), '"), "\(outcome)")

        let error = try JSONError(try await container.start("groupctl", words.insertingJSON).finish())
        #expect(error.code == "lockTimedOut" && error.item == "a" && error.operation == call[0], "\(error)")
        #expect(error.holders.map(\.pid) == [holder.command.identifier])
        #expect(error.holders.map(\.purpose) == ["the-holder"])
        #expect(isTimestamp(error.holders.first?.since))
        #expect(try container.content("a") == "old")

        #expect(try await holder.release().status == 0)
        #expect(try container.content("a") == "new\n")
    }

    @Test func `is waited for as long as was told`() async throws {
        let container = try await TemporaryContainer()
        let holder = try await LockHolder(of: "a", in: container, purpose: "the-holder")
        let start = ContinuousClock.now
        #expect(try await container.run("write", "a", "--timeout", "250ms").status == 75)
        #expect(ContinuousClock.now - start >= .milliseconds(250))
        #expect(try await holder.release().status == 0)
    }

    @Test func `of one item is in nobody's way at another`() async throws {
        let container = try await TemporaryContainer()
        let holder = try await LockHolder(of: "a", in: container, purpose: "the-holder")
        #expect(try await container.run("write", "b", "--timeout", "0", input: "x").status == 0)
        #expect(try await container.run("read", "b", "--timeout", "0").status == 0)
        #expect(try await container.run("list").status == 0)
        #expect(try await container.run("changes", "--since", "start").lines == ["created\tb"])
        #expect(try await holder.release().status == 0)
    }

    @Test func `goes to who waits for it, who is seen to wait`() async throws {
        let container = try await TemporaryContainer()
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

    // case 23
    @Test func `that readers share is refused to further ones as soon as a writer of another process waits for it`()
        async throws
    {
        let container = try await TemporaryContainer()
        try await container.done("write", "a", input: "old")
        let gate = "\(container.directory)/gate"
        #expect(try await container.shell("mkfifo \"$2\"", gate).status == 0)
        let sharer = try container.start(
            "lock", "--shared", "a", "--", "sh", "-c", "echo held; read line <\"$0\"", gate)
        #expect(try await sharer.readLine() == "held")
        #expect(try await container.run("read", "a", "--timeout", "0").status == 0, "as long as nobody waits")
        let writer = try container.start("write", "a", input: "new")
        // It is on its way there.
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

    @Test func `of a killed process is free at once, and the command under it dies too`() async throws {
        let container = try await TemporaryContainer()
        try await container.done("write", "a", input: "old")
        let holder = try await LockHolder(of: "a", in: container, purpose: "the-holder")
        holder.command.signal(SIGKILL)
        #expect(try await holder.command.end() == 128 + SIGKILL)
        let outcome = try await container.run("update", "a", "--timeout", "0", "--", "sed", "s/$/ and next/")
        #expect(outcome.status == 0, "\(outcome)")
        // It held the other end of standard error for as long as it lived; nobody opened its gate.
        _ = try await holder.command.finish()
        #expect(try container.content("a") == "old and next\n" || container.content("a") == "old and next")
        #expect(try await JSONStatus(of: container).members.count == 1)
    }

    @Test(arguments: [SIGTERM, SIGINT, SIGHUP])
    func `ends by a signal with its status, and nothing is written`(signal: Int32) async throws {
        let container = try await TemporaryContainer()
        try await container.done("write", "a", input: "old")
        let holder = try await LockHolder(of: "a", in: container, purpose: "the-holder")
        holder.command.signal(signal)
        #expect(try await holder.command.finish().status == 128 + signal)
        #expect(try container.content("a") == "old")
        #expect(try await container.run("read", "a", "--timeout", "0").status == 0)
        #expect(try await container.shell("ls \"$1/.group/staging\"").output.isEmpty)
    }

    // case 16
    @Test func `of a stopped process is not stolen: the deadline names it`() async throws {
        let container = try await TemporaryContainer()
        let holder = try await LockHolder(of: "a", in: container, purpose: "the-holder")
        try #require(holder.command.stop())
        let outcome = try await container.run("write", "a", "--timeout", "100ms", input: "stolen")
        #expect(outcome.status == 75, "\(outcome)")
        #expect(outcome.errors.contains("the-holder (process \(holder.command.identifier), stopped, '"))
        // Everybody else goes on.
        #expect(try await container.run("write", "b", "--timeout", "0", input: "x").status == 0)
        holder.command.signal(SIGCONT)
        #expect(try await holder.release().status == 0)
        #expect(try container.content("a") == "new\n")
    }

    @Test func `is held while COMMAND runs`() async throws {
        let container = try await TemporaryContainer()
        let outcome = try await container.run(
            "update", "a", "--", "groupctl", "write", container.path, "a", "--timeout", "0")
        #expect(outcome.status == 75, "COMMAND's own status is passed on: \(outcome)")
        #expect(outcome.errors.contains("held by groupctl"))
        #expect(try await container.done("list").output.isEmpty)
    }
}
