import Cluster
import ClusterSupport
import GroupContainer
import GroupSystemCalls
import TestSupport
import Testing

/// group-cluster's commands over items. The test is the program that speaks with the cluster.
@Suite(.ownThreads, .timeLimit(.minutes(3)), .tags(.process))
struct `The commands of group-cluster over items` {
    let temporary: TemporaryContainer
    let container: Container
    let program: ClusterProgram

    init() throws {
        temporary = try TemporaryContainer()
        container = try temporary.open()
        program = try ClusterProgram(container)
    }

    private var coordinator: BlockingCoordinator { container.coordinator(purpose: "test").blocking }

    private func start(_ words: String..., input: String? = "") throws -> RunningProcess {
        var words = words
        words.insert(temporary.path, at: 1)
        return try RunningProcess(["group-cluster"] + words, input: input)
    }

    @Test func `each command that changes an item asks the cluster`() throws {
        try coordinator.write(bytes: Array("old\n".utf8), to: "a")
        let commands: [(words: [String], parts: [String])] = [
            (["write", "a"], ["write a"]),
            (["write", "d/b", "--if-generation", "absent"], ["createDirectory d", "write d/b"]),
            (["update", "a", "--", "tr", "o", "0"], ["write a"]),
            (["copy", "a", "b"], ["check a", "write b"]),
            (["move", "a", "b"], ["move a b"]),
            (["mkdir", "d/e"], ["createDirectory d", "createDirectory d/e"]),
            (["remove", "a"], ["remove a"]),
        ]
        for (words, parts) in commands {
            let process = try RunningProcess(
                ["group-cluster", words[0], temporary.path] + ["--json"] + words.dropFirst(), input: "new")
            let request = try program.next()
            #expect(
                request.parts.map { "\($0.action) \($0.path)" + ($0.destination.map { " \($0)" } ?? "") } == parts)
            #expect(request.processIdentifier == process.identifier && request.purpose == "group-cluster")
            let changes = parts.filter { !$0.hasPrefix("check") }
            try program.end(request.operation, .accepted, generations: changes.map { $0.hasPrefix("r") ? 0 : 9 })
            let (status, text) = try process.finish()
            #expect(status == 0 && !text.contains("unchanged"), "\(words): \(text)")
            #expect(text.contains(parts[0].hasPrefix("r") ? #""generation":null"# : #""generation":9"#), "\(text)")
        }
        #expect(try program.isEmpty())
        #expect(try coordinator.readBytes("a") == Array("old\n".utf8), "nothing was made by the commands")
    }

    @Test func `the statuses of scripts are those of the table`() throws {
        func end(_ state: ClusterRequest.State, _ words: String...) throws -> (status: Int32, text: String) {
            let process = try RunningProcess(
                ["group-cluster", "write", temporary.path, "a"] + words, input: "")
            let request = try program.next()
            if state == .sent { #expect(try program.records.beginSending(request.operation)) }
            if state != .sent { try program.end(request.operation, state) }
            let (status, text) = try process.finish()
            return (status, text.replacing(request.operation, with: "OPERATION"))
        }
        #expect(try end(.conflict).status == 4)
        let unavailable = try end(.unavailable)
        #expect(unavailable.status == 69 && unavailable.text.hasSuffix("nothing was changed; try again\n"))
        #expect(try end(.failed).status == 64)
        let unknown = try end(.sent, "-t", "0.3")
        #expect(
            unknown == (
                76,
                "group-cluster: cannot write 'a' in '\(temporary.path)': the cluster has not answered in time, and the change may be made or not: operation OPERATION; group-cluster result GROUP OPERATION shows later what became of it\n"
            ))
        let json = try end(.sent, "-t", "0.3", "--json")
        #expect(json.status == 76)
        #expect(json.text.hasPrefix(#"{"code":"unknown","#) && json.text.contains(#""pendingOperation":"OPERATION""#))
        #expect(try end(.accepted, "--exit-code").status == 0)
    }

    @Test(arguments: [
        (["write", "a", "--replicated"], "group-cluster write GROUP PATH"),
        (["read", "a", "--latest"], "group-cluster read GROUP PATH"),
        (["update", "a", "--cluster", "--", "cat"], "group-cluster update GROUP PATH --locked -- COMMAND"),
        (["move", "a", "b", "--replicated"], "group-cluster move GROUP FROM TO"),
    ])
    func `an option that groupctl had before names the command that has taken its place`(
        words: [String], instead: String
    ) throws {
        let process = try RunningProcess(["groupctl", words[0], temporary.path] + words.dropFirst(), input: "")
        let (status, text) = try process.finish()
        #expect(status == 64 && text.contains("is no more; instead: \(instead) (try"), "\(text)")
    }

    @Test func `an address that etcd cannot have is wrong usage`() throws {
        let other = try TemporaryContainer()
        let process = try RunningProcess(
            ["group-cluster", "join", other.path, "--name", "n", "--etcd", "http://a:2379,htp://b"], input: "")
        let (status, text) = try process.finish()
        #expect(status == 64 && text.contains("--etcd: 'htp://b' is no endpoint like http://127.0.0.1:2379"), "\(text)")
    }

    @Test func `a lock of the cluster is held while COMMAND runs, and its status is returned`() throws {
        let process = try start("lock", "nightly", "--", "sh", "-c", "echo $GROUP_CLUSTER_GRANT; exit 7")
        let lock = try program.nextLock()
        #expect(lock.lock == "nightly")
        try program.grant(lock.identifier, "token")
        _ = try program.wait(forLock: lock.identifier) { $0.proof == .wanted }
        try program.records.update(lock: lock.identifier) { lock in
            lock.proof = .given
            return true
        }
        let (status, text) = try process.finish()
        #expect(status == 7 && text == "token\n")
        #expect(try program.wait(forLock: lock.identifier) { $0.isGivenUp }.state == .granted)
    }

    @Test func `without a cluster, or its program, nothing is read from standard input`() throws {
        let other = try TemporaryContainer()
        let alone = try RunningProcess(["group-cluster", "write", other.path, "a"])
        #expect(try alone.finish().status == 69, "standard input is open")
        #expect(alone.text.contains("is in no cluster; have the container join one (group-cluster join)"))
        do { _ = try ClusterProgram(other.open()) }
        let ended = try RunningProcess(["group-cluster", "write", other.path, "a"])
        #expect(try ended.finish().status == 69)
        #expect(ended.text.contains("is not running; nothing was changed; start it (group-cluster join)"))
    }

    @Test func `a killed caller leaves its request, its file, and no presence`() throws {
        let process = try start("write", "a", input: "content")
        let request = try program.next()
        #expect(try Presence.isThere(ClusterRecords.caller(of: request.operation), in: container))
        process.kill()
        #expect(try !Presence.isThere(ClusterRecords.caller(of: request.operation), in: container))
        #expect(program.records.request(request.operation)?.state == .waiting)
        #expect(try program.files() == ["\(request.operation).0"])
        #expect(try program.content(request.parts[0]) == "content")
        #expect(try container.status().members.flatMap(\.locks).isEmpty)
    }

    @Test(.enabled(if: Strace.isThere))
    func `a caller that is killed while it stages leaves a file without a record, and no presence`() throws {
        let words = ["group-cluster", "write", temporary.path, "a"]
        _ = try Strace.run(words, input: "content", fault: .kill, at: .init(name: "fsync", number: 1))
        let file = try #require(try program.files().first)
        #expect(file.hasSuffix(".0") && file.utf8.count == 34)
        #expect(program.records.requests().isEmpty)
        #expect(try !Presence.isThere(ClusterRecords.caller(of: String(file.dropLast(2))), in: container))
        #expect(try container.status().members.flatMap(\.locks).isEmpty)
    }

    @Test func `a command in the cluster runs on one machine at a time, and is fenced`() throws {
        try coordinator.write(bytes: Array("7\n".utf8), to: "n")
        let first = try start("update", "n", "--locked", "--", "sh", "-c", "read n; echo $((n + 1))")
        let lock = try program.nextLock()
        let second = try start("update", "n", "--locked", "--", "cat")
        let other = try program.nextLock()
        #expect((lock.lock, other.lock) == ("n", "n"))
        #expect(program.records.requests().isEmpty)
        try program.grant(lock.identifier, "token")
        let request = try program.next()
        #expect((request.lock, request.grant) == ("n", "token"))
        #expect(try program.content(request.parts[0]) == "8\n")
        #expect(request.parts[0].before == 1 && request.parts[0].isConditional)
        try program.end(request.operation, .accepted, generations: [2])
        #expect(try first.finish().status == 0)
        #expect(try program.wait(forLock: lock.identifier) { $0.isGivenUp }.state == .granted)
        // The second is killed while it waits.
        let presence = ClusterRecords.presence(other.identifier)
        #expect(try Presence.isThere(presence, in: container))
        second.kill()
        #expect(try !Presence.isThere(presence, in: container))
        #expect(program.records.lock(other.identifier)?.isGivenUp == false)
    }

    @Test func `a command that fails in the cluster sends nothing and gives the lock back`() throws {
        let process = try start("update", "n", "--locked", "--", "sh", "-c", "exit 7")
        let lock = try program.nextLock()
        try program.grant(lock.identifier, "token")
        #expect(try process.finish().status == 7)
        #expect(try program.wait(forLock: lock.identifier) { $0.isGivenUp }.state == .granted)
        #expect(try program.isEmpty())
        let late = try start("update", "n", "--locked", "-t", "0", "--", "cat")
        _ = try program.nextLock()
        let (status, text) = try late.finish()
        #expect(status == 75)
        #expect(
            text
                == "group-cluster: cannot lock 'n' in '\(temporary.path)': the cluster has not granted the lock in time: another machine may have it; raise --timeout\n"
        )
    }
}
