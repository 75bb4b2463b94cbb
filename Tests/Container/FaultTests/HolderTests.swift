import Foundation
import Glibc
import GroupContainer
import GroupSystemCalls
import TestSupport
import Testing

/// The holder of a lock dies, stops, forks, or loses its lock file.
@Suite(.ownThreads, .timeLimit(.minutes(5)), .tags(.process))
struct `Lock holders` {
    // fault: holder-killed
    @Test(arguments: ["read", "write"])
    func `a lock whose holder is killed goes to the waiter at once`(command: String) throws {
        let container = try TemporaryContainer()
        _ = try container.groupctl("write", "item", input: "old")
        let watcher = try container.open()
        let holder = try container.holder(of: "item")
        let waiter = try RunningProcess(["groupctl", command, container.path, "item"], input: "new")
        try container.waitForWaiters(1, in: watcher)
        holder.signal(SIGKILL)
        let start = monotonicNanoseconds()
        let (status, text) = try waiter.finish()
        holder.reap()
        #expect(status == 0, "\(text)")
        // The waiter's deadline is 30 s; the seconds here are what a busy machine needs to let it run.
        #expect(monotonicNanoseconds() - start < 5_000_000_000)
        #expect(container.content(of: "item") == (command == "read" ? "old" : "new"))
        #expect(try watcher.status().members.count == 1)
    }

    // fault: child-of-holder
    @Test func `a command that runs under a lock ends with the lock's killed holder`() throws {
        let container = try TemporaryContainer()
        let holder = try RunningProcess([
            "groupctl", "update", container.path, "item", "--", "sh", "-c",
            "echo $$ >&2; exec tail -f /dev/null",
        ])
        try holder.waitForText("\n")
        let command = try #require(Int32(holder.text.prefix { $0 != "\n" }))
        holder.kill()
        #expect(try container.groupctl("write", "item", "--timeout", "0", input: "new").status == 0)
        // The output ends when the last process that could write to it has ended.
        _ = try? holder.finish()
        #expect(!FileManager.default.fileExists(atPath: "/proc/\(command)/exe"))
    }

    // fault: holder-stopped
    @Test(arguments: ["read", "write"])
    func `a stopped holder keeps its lock, and the waiter's error at its deadline names it`(command: String) throws {
        let container = try TemporaryContainer()
        _ = try container.groupctl("write", "item", input: "old")
        let holder = try container.holder(of: "item")
        try #require(holder.stop())
        let (status, text) = try container.groupctl(command, "item", "--timeout", "200ms", "--json", input: "new")
        #expect(status == 75)
        #expect(text.contains(#""code":"lockTimedOut""#) && text.contains(#""item":"item""#), "\(text)")
        #expect(text.contains(#""pid":\#(holder.identifier),"purpose":"holder","since":"2"#), "\(text)")
        holder.resume()
        holder.closeInput()
        #expect(try holder.finish().text == "held\nended\n")
        // Nothing of the waiter that gave up is left behind.
        #expect(try container.groupctl("read", "item", "--timeout", "0").text == "old")
        #expect(try container.groupctl("write", "item", "--timeout", "0", input: "new").status == 0)
    }

    @Test func `a container whose member slots are all taken can still be read and listed`() throws {
        let container = try TemporaryContainer()
        _ = try container.groupctl("write", "item", input: "old")
        let known = try RunningProcess(["groupctl", "defaults", "set", container.path, "known", "key", "1"]).finish()
        #expect(known.status == 0)
        let holder = try container.holder(of: "item")
        // Every slot but the holder's is taken, as with 1,024 members.
        let memberTable = try FileDescriptor.open(
            path: Array("\(container.path)/.group/members".utf8), .readingAndWriting)
        let (first, slot) = (Int64(69_632), Int64(4_096))
        for number in 0..<Int64(1_024) {
            _ = try memberTable.tryLock(.exclusive, ByteRange(start: first + number * slot, length: 2))
        }
        let status = try container.groupctl("status")
        #expect(status.status == 0 && status.text.contains("process \(holder.identifier)"), "\(status.text)")
        #expect(try container.groupctl("list").text.contains("item"))
        let refused = try container.groupctl("write", "other", input: "new")
        #expect(
            refused.status != 0 && refused.text.contains("the container has 1024 members, which is the limit"),
            "\(refused.text)")
        for words in [
            ["defaults", "set", container.path, "s", "key", "value"],
            ["defaults", "set", container.path, "known", "key", "2"],
            ["defaults", "increment", container.path, "s", "number"],
            ["channels", "post", container.path, "c", "text"],
            ["channels", "follow", container.path, "c", "--listener", "l", "--timeout", "1s"],
        ] {
            let other = try RunningProcess(["groupctl"] + words).finish()
            #expect(
                other.status == refused.status
                    && other.text.contains("the container has 1024 members, which is the limit"),
                "\(words) \(other.status) \(other.text)")
        }
        holder.closeInput()
        #expect(try holder.finish().status == 0)
        #expect(try container.groupctl("read", "item").text == "old")
    }

    // fault: lock-file-replaced
    @Test(arguments: [true, false])
    func `a holder stays the only one when the lock file is replaced or removed by hand`(isReplaced: Bool) throws {
        let container = try TemporaryContainer()
        let lock = "\(container.path)/.group/lock"
        let holder = try container.holder(of: "item")
        let idle = try container.open()
        // One descriptor is in the pool; the second has to be opened anew.
        let coordinator = idle.coordinator(purpose: "idle").blocking
        if isReplaced { try FileManager.default.copyItem(atPath: lock, toPath: "\(lock).new") }
        try FileManager.default.removeItem(atPath: lock)
        if isReplaced { try FileManager.default.moveItem(atPath: "\(lock).new", toPath: lock) }

        let ask = { try coordinator.coordinate(.writing("item"), timeout: .zero) { _ in } }
        #expect(Self.code(of: ask) == .lockTimedOut)
        // A second lock needs a descriptor of the lock file that was there before.
        try coordinator.coordinate(.writing("other")) { _ in
            #expect(Self.code(of: ask) == .damaged)
        }
        for words in [["read", "item"], ["write", "item", "--timeout", "0"], ["status"], ["create"]] {
            var command = ["groupctl"] + words
            command.insert(container.path, at: 2)
            let run = try RunningProcess(command, input: "x").finish()
            #expect(run.status == 65 && run.text.contains("lock"), "\(words): \(run.text)")
        }
        holder.closeInput()
        #expect(try holder.finish().status == 0)
    }

    private static func code(of call: () throws -> Void) -> CoordinationError.Code? {
        do { try call() } catch { return (error as? CoordinationError)?.code }
        return nil
    }

    @Test func `a container whose lock file was replaced while no member was there is adopted`() throws {
        let container = try TemporaryContainer()
        let lock = "\(container.path)/.group/lock"
        _ = try container.groupctl("write", "item", input: "old")
        let cursor = try #require(try container.changes().last?.cursor)
        try FileManager.default.copyItem(atPath: lock, toPath: "\(lock).new")
        try FileManager.default.removeItem(atPath: lock)
        try FileManager.default.moveItem(atPath: "\(lock).new", toPath: lock)
        #expect(try container.groupctl("write", "item", input: "new").status == 0)
        #expect(try container.changes(from: .cursor(cursor)).map(\.kind).first == .rescan)
    }

    // fault: child-of-holder
    @Test(arguments: ["stays", "ends"])
    func `a holder that forks without exec keeps its lock, and its child has nothing of it`(child: String) throws {
        let container = try TemporaryContainer()
        _ = try container.groupctl("write", "item", input: "old")
        let forker = try container.member("fork-hold", "item", child)
        try forker.waitForText(child == "ends" ? "child ended" : "child forked")
        #expect(forker.text.contains("child forked\n"))
        #expect(try container.groupctl("write", "item", "--timeout", "0", input: "new").status == 75)
        forker.kill()
        // The child, where it still lives, holds neither the item nor its parent's slot.
        #expect(try container.groupctl("write", "item", "--timeout", "0", input: "new").status == 0)
        #expect(try container.open().status().members.count == 1)
        forker.closeInput()
        _ = try? forker.finish()
    }

    // fault: descriptor-closed
    @Test func `a lock stays when its process closes another descriptor of the lock file`() throws {
        let container = try TemporaryContainer()
        let holder = try container.holder(of: "item")
        try holder.send("close-lock")
        try holder.waitForText("done close-lock")
        #expect(try container.groupctl("write", "item", "--timeout", "0", input: "new").status == 75)
        holder.closeInput()
        #expect(try holder.finish().status == 0)
        #expect(try container.groupctl("write", "item", "--timeout", "0", input: "new").status == 0)
    }
}
