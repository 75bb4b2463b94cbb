import Foundation
import GroupContainer
import TestSupport
import Testing

@Suite(.tags(.process))
struct `groupctl status and changes` {
    @Test func `status prints the members and the locks of each`() async throws {
        let container = try TemporaryContainer()
        let holder = try await LockHolder(of: "a", in: container, purpose: "the-holder")
        let watcher = try await container.watching("--purpose", "the-watcher")
        let outcome = try await container.done("status", "--json", "--purpose", "the-asker")
        let status = try JSONDecoder().decode(JSONStatus.self, from: Data(outcome.output))
        #expect(outcome.lines.count == 1)
        #expect(status.path == container.path && status.identifier == nil)
        #expect(status.container.wholeMatch(of: /[0-9a-f]{32}/) != nil)
        #expect(Set(status.members.map(\.purpose)) == ["the-holder", "the-watcher", "the-asker"])
        #expect(status.members.allSatisfy { isTimestamp($0.since) && $0.user == getuid() })
        let holding = try #require(status.members.first { $0.purpose == "the-holder" })
        #expect(holding.pid == holder.command.identifier)
        #expect(holding.locks.map(\.path) == ["a"] && holding.locks.map(\.mode) == ["writing"])
        #expect(holding.locks.map(\.state) == ["holding"] && isTimestamp(holding.locks.first?.since))
        #expect(status.members.first { $0.purpose == "the-watcher" }?.pid == watcher.identifier)
        #expect(status.members.filter { $0.purpose != "the-holder" }.allSatisfy { $0.locks.isEmpty })

        let text = try await container.done("status").text
        #expect(text.contains("the-holder  process \(holder.command.identifier), user \(getuid())"))
        #expect(text.contains("holds exclusive lock  a  for ") && !text.contains("\u{1B}"))
        #expect(try await container.done("status", "--color", "always").text.contains("\u{1B}"))
        #expect(try await holder.release().status == 0)
    }

    @Test(.timeLimit(.minutes(1))) func `status names the processes of which each waits for the next`() async throws {
        let container = try TemporaryContainer()
        func nested(_ outer: String, _ inner: String) throws -> RunningProcess {
            try container.start(
                "sh",
                [
                    "-c",
                    "exec groupctl lock \"$1\" $2 --purpose $2 -- sh -c 'echo held; read go; exec groupctl lock \"$0\" $1 --timeout 10m -- true' \"$1\" $3",
                    "sh", container.path, outer, inner,
                ])
        }
        let (one, two) = (try nested("a", "b"), try nested("b", "a"))
        for process in [one, two] { #expect(try await process.readLine() == "held") }
        for process in [one, two] { try process.send("go") }
        // A process that has started one that waits counts only after a while.
        var text = ""
        for _ in 0..<1_000 where !text.contains("perhaps a deadlock  each waits for the next: ") {
            text = try await container.done("status").text
        }
        #expect(text.contains("a (\(one.identifier))") && text.contains("b (\(two.identifier))"), "\(text)")
        one.signal(SIGTERM)
        two.signal(SIGTERM)
    }

    @Test func `status --watch prints the status again after a change, until its count or a time without one`()
        async throws
    {
        let container = try TemporaryContainer()
        let watching = try RunningProcess(
            ["groupctl", "status", container.path, "--watch", "--json", "--count", "2"])
        try watching.waitForLines(1)
        let holder = try await LockHolder(of: "a", in: container, purpose: "the-holder")
        let (status, text) = try watching.finish()
        let lines = text.split(separator: "\n")
        #expect(status == 0 && lines.count == 2)
        #expect(lines.first?.contains("the-holder") == false && lines.last?.contains("the-holder") == true)
        let silent = try RunningProcess(["groupctl", "status", container.path, "--watch", "--timeout", "0.2"])
        #expect(try await silent.finish().status == 2)
        #expect(try await holder.release().status == 0)
    }

    @Test func `status prints suites and channels, and how far behind each listener is`() async throws {
        struct Listener: Decodable, Equatable {
            var name: String
            var behind: Int
        }
        struct Log: Decodable {
            var name: String
            var bytes: Int
            var sequence: Int
            var keys: Int?
            var messages: Int?
            var listeners: [Listener]?
            var fault: String?
        }
        struct Status: Decodable {
            var suites: [Log]
            var channels: [Log]
        }
        let container = try TemporaryContainer()
        #expect(!(try await container.done("status").text.contains("suites")))
        for value in ["1", "2"] { _ = try await container.defaults("settings", "set", "k", value) }
        do {
            let channel = try GroupChannel(Container(path: container.path), name: "news")
            let listeners = try ["slow", "quick"].map { try channel.listener(named: $0) }
            for _ in 0..<3 { try channel.signal() }
            try listeners[1].acknowledge(upTo: 2)
        }
        func read() async throws -> Status {
            try await JSONDecoder().decode(Status.self, from: Data(container.done("status", "--json").output))
        }
        var status = try await read()
        #expect(status.suites.map(\.name) == ["settings"] && status.suites.map(\.keys) == [1])
        #expect(status.suites.map(\.sequence) == [2] && status.suites.map(\.bytes) == [262_144])
        #expect(status.channels.map(\.messages) == [3] && status.channels.map(\.sequence) == [3])
        #expect(
            status.channels.first?.listeners == [Listener(name: "slow", behind: 3), Listener(name: "quick", behind: 1)])
        let text = try await container.done("status").text
        #expect(text.contains("settings  1 key, 2 sets so far, 256 KiB") && text.contains("slow  3 behind, since 20"))
        // A log that cannot be read does not hide the others.
        #expect(try await container.shell("truncate -s 100 \"$1/.group/defaults/settings/1.log\"").status == 0)
        status = try await read()
        #expect(status.suites.first?.fault?.contains("settings/1.log") == true && status.channels.first?.fault == nil)
    }

    @Test func `status prints living members only`() async throws {
        let container = try TemporaryContainer()
        let watcher = try await container.watching()
        #expect(try await JSONStatus(of: container).members.count == 2)
        watcher.signal(SIGKILL)
        #expect(try await watcher.finish().status == 137)
        #expect(try await JSONStatus(of: container).members.map(\.purpose) == ["groupctl"])
    }

    @Test func `changes go on from the cursor of status`() async throws {
        let container = try TemporaryContainer()
        try await container.done("write", "a", input: "1")
        let cursor = try await JSONStatus(of: container).journal.cursor
        #expect(try await container.done("changes", "--since", cursor).output.isEmpty)
        try await container.done("write", "b", input: "1")
        try await container.done("write", "a", input: "2")
        #expect(try await container.done("changes", "--since", cursor).lines == ["created\tb", "modified\ta"])
        let status = try await JSONStatus(of: container).journal
        #expect(status.sequence == 3 && status.files == 1)
        let json = try await container.done("changes", "--since", "start", "--json").lines.map { try JSONChange($0) }
        #expect(json.map(\.sequence) == [1, 2, 3])
        #expect(json.first?.cursor == cursor && json.last?.cursor == status.cursor)
        #expect(try await container.done("changes", "--since", json[1].cursor).lines == ["modified\ta"])
    }

    @Test(arguments: ["", "garbage", "g1-", "g1-zz", "START", "12", "g1-" + String(repeating: "0", count: 63)])
    func `changes refuses a malformed cursor`(text: String) async throws {
        let container = try TemporaryContainer()
        for outcome in [
            try await container.run("changes", "--since", text), try await container.watch("--since", text).finish(),
        ] {
            #expect(outcome.status == 64, "\(outcome)")
            #expect(outcome.output.isEmpty && outcome.errors.contains("'\(text)' is neither a cursor nor start"))
        }
    }

    @Test func `changes with a cursor of another container prints one rescan`() async throws {
        let (container, other) = (try TemporaryContainer(), try TemporaryContainer())
        for _ in 0..<2 { try await other.done("write", UUID().uuidString, input: "x") }
        try await container.done("write", "a", input: "1")
        let foreign = try await JSONStatus(of: other).journal.cursor
        let outcome = try await container.done("changes", "--since", foreign, "--json")
        let change = try JSONChange(try #require(outcome.lines.first))
        #expect(outcome.lines.count == 1 && change.kind == "rescan" && change.path == "" && change.by == nil)
        #expect(change.cursor == (try await JSONStatus(of: container).journal.cursor))
        try await container.done("write", "b", input: "1")
        #expect(try await container.done("changes", "--since", change.cursor).lines == ["created\tb"])
        #expect(try await container.done("changes", "--since", foreign).lines == ["rescan\t"])
        let watcher = try await container.watching("--since", foreign, "--count", "2")
        try await container.done("write", "c", input: "1")
        #expect(try await watcher.finish().lines == ["rescan\t", "created\tc"])
    }

    @Test func `changes with a cursor from before a copy or restore prints a rescan`() async throws {
        let container = try TemporaryContainer()
        try await container.done("write", "a", input: "1")
        #expect(try await container.shell("cp -a \"$1\" \"$1.saved\"").status == 0)
        try await container.done("write", "b", input: "1")
        let cursor = try await JSONStatus(of: container).journal.cursor
        #expect(try await container.shell("rm -r \"$1\" && mv \"$1.saved\" \"$1\"").status == 0)
        try await container.done("write", "other", input: "1")
        #expect(try await container.done("changes", "--since", cursor).lines == ["rescan\t"])
    }
}
