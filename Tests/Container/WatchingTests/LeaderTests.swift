import Foundation
import Glibc
import GroupContainer
import TestSupport
import Testing

@Suite(.ownThreads, .timeLimit(.minutes(2)), .tags(.process, .namespaces))
struct `Leaders of a container` {
    private func leaders(_ container: TemporaryContainer) async throws -> [pid_t] {
        try await JSONStatus(of: container).members.filter(\.leader).map(\.pid)
    }

    @Test func `of many followers one is the leader, and each gets every change once`() async throws {
        let container = try TemporaryContainer()
        #expect(try await leaders(container) == [])
        var watchers: [RunningProcess] = []
        for _ in 0..<5 { watchers.append(try container.start("watch-group", ["--verbose", container.path])) }
        for watcher in watchers { #expect(try await watcher.readLine(from: .errors)?.hasPrefix("watching") == true) }
        let elected = try await leaders(container)
        #expect(elected.count == 1 && watchers.map(\.identifier).contains(elected.first ?? 0), "\(elected)")
        // Each follower gets every change, and once.
        try await WatchedContainer.run("mkdir one; mkdir two", in: container)
        for watcher in watchers { #expect(try await watcher.readLines(2) == ["created\tone", "created\ttwo"]) }
    }

    @Test func `a leader opens its inotify queue before its locks, so that a kill frees the queue first`() async throws
    {
        let watched = try await WatchedContainer()
        let directory = "/proc/\(watched.watcher.identifier)/fd"
        var places: [String: [Int]] = [:]
        for name in try FileManager.default.contentsOfDirectory(atPath: directory) {
            let target = try FileManager.default.destinationOfSymbolicLink(atPath: "\(directory)/\(name)")
            places[target.split(separator: "/").last.map(String.init) ?? "", default: []].append(Int(name) ?? -1)
        }
        let queue = try #require(places["anon_inode:inotify"]?.first)
        let locks = (places["lock"] ?? []) + (places["members"] ?? [])
        #expect(!locks.isEmpty && locks.allSatisfy { $0 > queue }, "\(places)")
    }

    @Test(arguments: [SIGTERM, SIGKILL])
    func `a leader that ends while changes go on is replaced, and no change is lost`(signal: Int32) async throws {
        let watched = try await WatchedContainer()
        let follower = try await watched.container.watching("--json", "--since", "start")
        #expect(try await leaders(watched.container) == [watched.watcher.identifier])
        let loop = try watched.container.start(
            "sh",
            [
                "-c",
                """
                cd "$1"; n=0
                while [ $n -lt 150 ]; do n=$((n + 1))
                mkdir d$n; echo $n > d$n/a; echo $n > d$n/b; mv d$n/a d$n/c; echo more >> d$n/b
                [ $((n % 3)) = 0 ] && mv d$n e$n; [ $((n % 5)) = 0 ] && rm -rf d$n; done
                """, "sh", watched.container.path,
            ])
        // In the middle of the changes.
        for _ in 0..<100 { try await watched.next() }
        watched.watcher.signal(signal)
        #expect(try await watched.watcher.end() == 128 + signal)
        // The loop's status is that of its last condition.
        _ = try await loop.finish()
        var tree = StreamedTree()
        for _ in try await watched.container.done("changes", "--since", "start").lines {
            if let line = try await follower.readLine() { tree.apply(try JSONChange(line)) }
        }
        let differences = try await tree.differences(from: StreamedTree.onDisk(watched.container))
        #expect(differences == [])
        #expect(tree.faults == [])
        #expect(try await leaders(watched.container) == [follower.identifier])
    }

    // fault: leader-stopped
    @Test func `a leader that is stopped is replaced, and adds nothing when it wakes`() async throws {
        let watched = try await WatchedContainer("printf 1 > f")
        let follower = try await watched.container.watching("--json", "--since", "start")
        #expect(try await leaders(watched.container) == [watched.watcher.identifier])
        try #require(watched.watcher.stop())
        defer { watched.watcher.signal(SIGCONT) }
        try await WatchedContainer.run("mv f g; mkdir d; : > d/h", in: watched.container)
        var tree = StreamedTree()
        // No other process does anything: the follower itself notices.
        while tree.items["d/h"] == nil || tree.items["g"] == nil {
            let line = try #require(try await follower.readLine())
            tree.apply(try JSONChange(line))
        }
        #expect(try await leaders(watched.container) == [follower.identifier])
        try await WatchedContainer.run("mkdir later", in: watched.container)
        watched.watcher.signal(SIGCONT)
        // The old leader gets all its events now; each of these changes is reported already.
        try await WatchedContainer.run("mkdir last", in: watched.container)
        let changes = try await watched.settle()
        #expect(changes.filter { $0.kind == "created" }.map(\.path) == ["d", "d/h", "later", "last"])
        #expect(try await leaders(watched.container) == [follower.identifier])
    }

    // fault: no-inotify
    @Test(arguments: ["max_inotify_instances", "max_inotify_watches"])
    func `a leader without inotify compares every so often, and reports that once`(limit: String) async throws {
        let container = try TemporaryContainer()
        try await WatchedContainer.run("mkdir -p a/b c", in: container)
        let script = "echo 0 > /proc/sys/user/\(limit) && exec \"$0\" --json --since start \"$1\""
        let watcher = try container.start(
            "unshare", ["-Ur", "sh", "-c", script, BuildDirectory.resolve("watch-group"), container.path])
        var tree = StreamedTree()
        var reasons: [String] = []
        func read(until isDone: (StreamedTree) -> Bool) async throws {
            while !isDone(tree) {
                let change = try JSONChange(try #require(try await watcher.readLine()))
                if change.kind == "degraded" { reasons.append(change.reason ?? "") } else { tree.apply(change) }
            }
        }
        try await read { $0.items.count == 3 }
        try await WatchedContainer.run("mv a d; : > d/b/f", in: container)
        try await read { $0.items["d/b/f"] != nil && $0.items["a"] == nil }
        try await WatchedContainer.run("rm -r c", in: container)
        try await read { $0.items["c"] == nil }
        #expect(reasons.count == 1)
        #expect(reasons.first?.contains("'sysctl user.\(limit)=") == true, "\(reasons)")
        let differences = try await tree.differences(from: StreamedTree.onDisk(container))
        #expect(differences == [])
        let late = try container.watch("--json", "--count", "1")
        let reported = try JSONChange(try #require(try await late.readLine()))
        #expect(reported.kind == "degraded" && reported.reason == reasons.first, "a later follower gets it, too")
        let listing = try container.watch("--json", "--count", "1", "--since", "snapshot")
        let first = try JSONChange(try #require(try await listing.readLine()))
        #expect(first.kind == "degraded" && first.reason == reasons.first, "and one that begins with a snapshot")
    }

    @Test func `a leader without inotify compares more directories than one turn takes`() async throws {
        let container = try TemporaryContainer()
        let count = 300
        try await WatchedContainer.run(
            "for n in $(seq \(count)); do mkdir $n; echo 1 >$n/f; done", in: container)
        let script = "echo 0 > /proc/sys/user/max_inotify_instances && exec \"$0\" --include '*/f' --since now \"$1\""
        let watcher = try container.start(
            "unshare", ["-Ur", "sh", "-c", script, BuildDirectory.resolve("watch-group"), container.path])
        #expect(try await watcher.readLine()?.hasPrefix("degraded") == true)
        #expect(try await watcher.readLines(count).allSatisfy { $0.hasPrefix("created") })
        try await WatchedContainer.run("for n in $(seq \(count)); do echo 2 >>$n/f; done", in: container)
        let lines = try await watcher.readLines(count)
        #expect(Set(lines) == Set((1...count).map { "modified\t\($0)/f" }))
    }

    @Test func `a leader that gets an inotify instance later watches with it`() async throws {
        let container = try TemporaryContainer()
        try await WatchedContainer.run("mkdir d", in: container)
        let script = """
            echo 0 > /proc/sys/user/max_inotify_instances
            (read -r line; echo 10 > /proc/sys/user/max_inotify_instances) <"$2" &
            exec "$0" --verbose --since now "$1"
            """
        let fifo = container.directory + "/fifo"
        #expect(try await container.shell("mkfifo \"$2\"", fifo).status == 0)
        let watcher = try container.start(
            "unshare", ["-Ur", "sh", "-c", script, BuildDirectory.resolve("watch-group"), container.path, fifo])
        while let line = try await watcher.readLine(), !line.hasPrefix("degraded") {}
        #expect(try await container.shell("echo go >\"$2\"", fifo).status == 0)
        while let line = try await watcher.readLine(from: .errors), !line.contains("everything is watched again") {}
        try await WatchedContainer.run(": >d/f", in: container)
        while let line = try await watcher.readLine(), line != "created\td/f" {}
    }

    @Test(.needsRoot) func `a container that becomes readable again is compared`() async throws {
        let container = try TemporaryContainer()
        try await WatchedContainer.run("mkdir -p a/b; echo 1 >a/f", in: container)
        let watcher = try container.start(
            "unshare", ["-U", BuildDirectory.resolve("watch-group"), "--verbose", "--since", "start", container.path])
        while let line = try await watcher.readLine(), line != "created\ta/f" {}
        try await WatchedContainer.run("chmod 000 .; echo new >a/f; mkdir z; chmod 000 a; touch a/b", in: container)
        while let line = try await watcher.readLine(), !line.hasPrefix("degraded") {}
        try await WatchedContainer.run("chmod 755 a; chmod 700 .", in: container)
        var lines: Set<String> = []
        while !lines.isSuperset(of: ["modified\ta/f", "created\tz"]), let line = try await watcher.readLine() {
            lines.insert(line)
        }
        while let line = try await watcher.readLine(from: .errors), !line.contains("everything is watched again") {}
        #expect(!lines.contains { $0.hasPrefix("degraded\ta/f") }, "\(lines)")
    }

    #if InotifyTools
    @Test(.needs("python3")) func `a leader with a thousand descriptors names their limit, and not another one`()
        async throws
    {
        let container = try TemporaryContainer()
        let script = """
            import os, resource, sys
            resource.setrlimit(resource.RLIMIT_NOFILE, (2000, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))
            for _ in range(1100): os.set_inheritable(os.open("/dev/null", os.O_RDONLY), True)
            os.execv(sys.argv[1], ["watch-group", "--count", "1", "--since", "now", sys.argv[2]])
            """
        let outcome = try await container.start(
            "python3", ["-c", script, BuildDirectory.resolve("watch-group"), container.path]
        ).finish()
        #expect(outcome.text.contains("inotify needs a number below 1000"), "\(outcome)")
        #expect(!outcome.text.contains("sysctl"), "\(outcome)")
    }
    #endif

    @Test func `a directory that becomes readable again is read`() async throws {
        let container = try TemporaryContainer()
        try await WatchedContainer.run("mkdir -p open closed/d; : >closed/d/f; chmod 000 closed", in: container)
        // Without capabilities, the owner may no more than the mode says.
        let watcher = try container.start(
            "unshare", ["-U", BuildDirectory.resolve("watch-group"), "--verbose", "--since", "start", container.path])
        var lines: [String] = []
        while let line = try await watcher.readLine(), !line.hasPrefix("degraded") { lines.append(line) }
        #expect(!lines.contains("created\tclosed/d"))
        try await WatchedContainer.run("chmod 755 closed; : >closed/g", in: container)
        lines = []
        while lines.filter({ $0.hasPrefix("created\tclosed/") }).count < 3, let line = try await watcher.readLine() {
            lines.append(line)
        }
        #expect(lines.contains("created\tclosed/d/f") && lines.contains("created\tclosed/g"), "\(lines)")
        try await WatchedContainer.run(": >closed/d/h", in: container)
        lines = []
        while lines.last != "created\tclosed/d/h", let line = try await watcher.readLine() { lines.append(line) }
        // The new mode of the directory is found with what is in it, or after that.
        #expect(
            lines.last == "created\tclosed/d/h" && Set(lines.dropLast()).isSubset(of: ["touched\tclosed"]), "\(lines)")
        while let line = try await watcher.readLine(from: .errors), !line.contains("everything is watched again") {}
    }

    // fault: no-inotify
    @Test(arguments: ["max_inotify_instances", "max_inotify_watches"])
    func `a leader without inotify compares at once when the changes are requested`(limit: String) async throws {
        let container = try TemporaryContainer()
        let script = "echo 0 > /proc/sys/user/\(limit) && exec \"$0\" --json --since start \"$1\""
        let watcher = try container.start(
            "unshare", ["-Ur", "sh", "-c", script, BuildDirectory.resolve("watch-group"), container.path])
        _ = try #require(try await watcher.readLine())
        for number in 0..<40 {
            try await WatchedContainer.run("mkdir d\(number)", in: container)
            let reported = try container.groupctl("changes", "--since", "start")
            #expect(reported.text.contains("created\td\(number)\n"), "\(reported)")
        }
    }

    // fault: queue-overflow
    @Test func `a leader that was stopped until its queue overflowed reports every change`() async throws {
        let limit = (try? String(contentsOfFile: "/proc/sys/fs/inotify/max_queued_events", encoding: .utf8))
            .flatMap { Int($0.trimmingCharacters(in: .whitespacesAndNewlines)) }
        // Two events a file, so half of it would do.
        let count = 20_000
        try #require((limit ?? 16_384) < 2 * count)
        let watched = try await WatchedContainer("mkdir d gone; printf x > f; : > gone/g")
        try #require(watched.watcher.stop())
        try await WatchedContainer.run(
            "cd d; seq \(count) | xargs touch; cd ..; printf last > f; rm -r gone; mkdir -p new/deep; : > new/deep/h",
            in: watched.container)
        watched.watcher.signal(SIGCONT)
        let reported = try await watched.settle().map(\.summary)
        #expect(Set(reported.filter { $0.hasPrefix("created d/") }).count == count)
        #expect(reported.count == count + 6, "\(reported.filter { !$0.hasPrefix("created d/") })")
        #expect(try await watched.reported(by: ": > new/deep/i").withoutRepetitions == ["created new/deep/i"])
    }

    // fault: own-writes
    @Test func `a leader never reports a coordinated change a second time`() async throws {
        let watched = try await WatchedContainer()
        let writer = try Container(path: watched.container.path).coordinator(purpose: "writer").blocking
        for number in 0..<500 {
            _ = try writer.write(bytes: Array("\(number)".utf8), to: "notes-\(number % 7)", durability: .relaxed)
        }
        let changes = try await watched.settle()
        #expect(changes.count == 500)
        #expect(changes.allSatisfy { $0.coordinated && $0.by?.purpose == "writer" })
        #expect(changes.map(\.path) == (0..<500).map { "notes-\($0 % 7)" })
    }

    @Test func `coordinated and external changes of one file are reported in their order`() async throws {
        let watched = try await WatchedContainer()
        for number in 0..<20 {
            try await watched.container.done(
                "write", "f", "--relaxed", input: String(repeating: "c", count: number + 1))
            try await WatchedContainer.run("printf foreign >> f", in: watched.container)
        }
        let changes = try await watched.settle()
        #expect(changes.filter(\.coordinated).count == 20)
        #expect(changes.last?.coordinated == false && changes.last?.size == 27)
    }
}
