#if Curl
import Foundation
import GroupContainer
import TestSupport
import Testing
import Transfers
import WidgetApp

/// Transfers whose caller has ended, and the app that is started when they are over. The programs start each other, as
/// a user's do.
@Suite(.ownThreads, .timeLimit(.minutes(5)), .tags(.process, .root, .namespaces))
struct `Transfers outlive their callers` {
    private let temporary: TemporaryContainer
    private let container: Container
    private let server: FileServer
    private let directory: TemporaryDirectory
    private var environment: [String: String?] {
        // No manager of services: the program runs in a session of its own.
        FileServer.environment.merging(["XDG_RUNTIME_DIR": directory.path]) { $1 }
    }

    init() throws {
        temporary = try TemporaryContainer()
        container = try temporary.open()
        server = try FileServer()
        directory = try TemporaryDirectory()
    }

    /// Runs a program to its end.
    private func run(_ words: String..., environment further: [String: String?] = [:]) throws -> String {
        let (status, text) = try RunningProcess(
            words, input: "", environment: environment.merging(further) { $1 }
        ).finish()
        #expect(status == 0, "\(words): \(text)")
        return text
    }

    /// The transfers, seen by a process that starts no program.
    private func observed() throws -> Transfers { try Transfers(container, program: "/bin/true") }

    private func waitUntil(_ isReached: ([Transfer]) -> Bool) throws {
        let transfers = try observed()
        var changes = try transfers.records.changes()
        while !isReached(transfers.all()) {
            try #require(try changes.next(timeout: patience) != nil, "\(transfers.all())")
        }
    }

    @Test(.enabled(if: succeeds(["unshare", "-Urm", "true"]), "needs user namespaces"))
    func `group-transfer names a read-only mount`() throws {
        let script = """
            mount --bind "$1" "$1" && mount -o remount,ro,bind "$1" && exec "$2" run "$1"
            """
        let program = BuildDirectory.resolve("group-transfer")
        let words = ["unshare", "-Urm", "sh", "-c", script, "sh", temporary.path, program]
        let (status, text) = try RunningProcess(words, input: "").finish()
        #expect(status == 77 && text.contains("the file system is mounted read-only"), "\(text)")
    }

    @Test func `a download goes on after its widget was killed, and its app is started`() throws {
        _ = try run("maps", "--group", temporary.path, "install")
        _ = try run("maps", "--group", temporary.path, "want", "town", "\(server.address)/held/1/1000000")
        let widget = try RunningProcess(["maps-widget", "--group", temporary.path], environment: environment)
        try waitUntil { $0.first?.received == 500_000 }
        widget.kill()
        try server.release()
        #expect(try run("maps", "--group", temporary.path, "wait", "town") == "")
        #expect(try run("maps", "--group", temporary.path, "list") == "town\t1000000 bytes\tshown\n")
        let content = try container.coordinator(purpose: "test").blocking.readBytes("Maps/town.map")
        #expect(content == (try FileServer.content(1, 1_000_000)))
    }

    @Test func `a record that cannot be read is named in the list`() throws {
        let suite = try GroupDefaults(container, suite: TransferRecords.suite)
        try suite.set("garbage", forKey: "a record")
        let list = try RunningProcess(["group-transfer", "list", temporary.path], input: "", environment: environment)
        let (status, text) = try list.finish()
        #expect(status == 65 && text.contains("the record 'a record' cannot be read"), "\(text)")
    }

    @Test func `the command that queued a download may be killed`() throws {
        let command = try RunningProcess(
            [
                "group-transfer", "download", "--wait", temporary.path, "\(server.address)/held/1/100000", "a",
            ], environment: environment)
        try waitUntil { $0.first?.received == 50_000 }
        command.kill()
        try server.release()
        let id = try #require(try observed().all().first?.id)
        _ = try run("group-transfer", "wait", temporary.path, id)
        #expect(try container.coordinator(purpose: "test").blocking.readBytes("a").count == 100_000)
    }

    @Test func `with --json, an identifier and errors are objects`() throws {
        let words = ["group-transfer", "wait", "--json", temporary.path, "none"]
        let missing = try RunningProcess(words, input: "", environment: environment).finish()
        #expect(missing.status == 66 && missing.text.hasPrefix(#"{"code":"notFound","#), "\(missing)")
        let refused = try RunningProcess(
            [
                "group-transfer", "download", "--json", "--wait", "--give-up-after", "1", temporary.path,
                "http://127.0.0.1:1/x", "y",
            ], input: "", environment: environment
        ).finish()
        let lines = refused.text.split(separator: "\n")
        #expect(refused.status == 1 && lines.count == 2, "\(refused)")
        #expect(lines.first?.hasPrefix(#"{"id":""#) == true, "\(refused)")
        #expect(lines.last?.hasPrefix(#"{"code":"failed","#) == true, "\(refused)")
    }

    @Test func `the wait for a transfer that is tried again ends with the reason`() throws {
        _ = try run("group-transfer", "download", temporary.path, "http://127.0.0.1:1/x", "y")
        try waitUntil { $0.contains { $0.failures > 0 } }
        let id = try #require(try observed().all().first?.id)
        let (status, text) = try RunningProcess(
            ["group-transfer", "wait", "--timeout", "0", temporary.path, id], input: "", environment: environment
        ).finish()
        #expect(status == 75, "\(text)")
        #expect(
            text.contains("the transfer goes on; its last attempt failed: ") && text.contains("127.0.0.1"), "\(text)")
        #expect(try observed().cancel(id))
        try waitUntil { $0.allSatisfy { !$0.needsWork } }
    }

    @Test func `of downloads that end together, one starts the app, which gets each URL and message once`()
        throws
    {
        // The program that is started notes that, and becomes the app.
        try directory.put(
            "#!/bin/sh\necho started >>'\(directory.path)/starts'\nexec '\(BuildDirectory.path)/maps' \"$@\"\n",
            at: "app", mode: 0o700)
        do {
            _ = try AppLinks(
                container, scheme: "maps", program: directory.path + "/app",
                arguments: ["--group", temporary.path, "open"])
        }
        let names = (0..<8).map { "town\($0)" }
        for name in names {
            _ = try run(
                "maps", "--group", temporary.path, "want", name, "\(server.address)/held/\(name.last ?? "0")/10000")
        }
        _ = try RunningProcess(["maps-widget", "--once", "--group", temporary.path], environment: environment).finish()
        try waitUntil { $0.count == names.count && $0.count { $0.received == 5_000 } == 4 }
        try server.release()
        for name in names { _ = try run("maps", "--group", temporary.path, "wait", name) }
        try waitUntil { $0.allSatisfy { !$0.needsWork } }
        let starts = try String(contentsOfFile: directory.path + "/starts", encoding: .utf8)
        #expect(starts == "started\n")
        let channel = try GroupChannel(container, name: "group-container.open.maps")
        #expect(try channel.lastNumber() == UInt64(names.count))
    }

    @Test func `a download that is queued while the program ends is made`() throws {
        let path = directory.path + "/program"
        try directory.put(
            "#!/bin/sh\nunset http_proxy all_proxy ALL_PROXY\nexec '\(BuildDirectory.path)/group-transfer' \"$@\"\n",
            at: "program", mode: 0o700)
        let transfers = try Transfers(container, program: path)
        var changes = try transfers.records.changes()
        for number in 0..<200 {
            let id = try transfers.download("\(server.address)/good/1/10", to: ItemPath("\(number)"))
            while transfers.transfer(id)?.needsWork == true {
                try #require(try changes.next(timeout: patience) != nil, "\(number)")
            }
        }
    }

    @Test func `where systemd has services of the user, the program is one of them`() throws {
        let words = directory.path + "/words"
        try FileManager.default.createDirectory(
            atPath: directory.path + "/systemd/private", withIntermediateDirectories: true)
        try directory.put(
            """
            #!/bin/sh
            echo "$*" >>'\(words)'
            while [ "$1" != -- ]; do shift; done
            shift
            setsid "$@" >/dev/null 2>&1 &
            """, at: "systemd-run", mode: 0o700)
        let path = "\(directory.path):\(BuildDirectory.path):/usr/bin:/bin"
        _ = try run(
            "group-transfer", "download", "--wait", temporary.path, "\(server.address)/good/1/1000", "a",
            environment: ["PATH": path])
        let text = try String(contentsOfFile: words, encoding: .utf8)
        #expect(text.hasPrefix("--user --quiet --collect -- ") && text.hasSuffix("run \(container.path.description)\n"))
    }

    @Test func `a task follows the progress until the transfer is over`() async throws {
        let transfers = try observed()
        let id = try transfers.download("\(server.address)/held/1/100000", to: "a")
        let program = try RunningProcess(["group-transfer", "run", temporary.path], environment: environment)
        var states: [Transfer] = []
        for try await transfer in transfers.progress(of: id) {
            if transfer.received == 50_000, states.last?.received != 50_000 { try server.release() }
            states.append(transfer)
        }
        #expect(states.first?.received == 0 && states.contains { $0.received == 50_000 })
        #expect(states.last?.state == .completed && states.count { $0.state.isOver } == 1)
        for try await _ in transfers.progress(of: "none") { Issue.record("there is no such transfer") }
        #expect(program.reap() == 0)
    }

    @Test func `files of transfers without a record are removed, except those that may be in the making`() throws {
        let transfers = try observed()
        let id = try transfers.download("\(server.address)/good/1/1000", to: "a")
        try FileManager.default.createDirectory(
            atPath: temporary.path + "/.group/transfers", withIntermediateDirectories: false)
        for name in ["1.part", "2.source", "3.source", "other"] {
            try "x".write(
                toFile: temporary.path + "/.group/transfers/" + name, atomically: false, encoding: .utf8)
        }
        try FileManager.default.setAttributes(
            [.modificationDate: Date(timeIntervalSinceNow: -90_000)],
            ofItemAtPath: temporary.path + "/.group/transfers/3.source")
        _ = try run("group-transfer", "run", temporary.path)
        #expect(transfers.transfer(id)?.state == .completed)
        let left = try FileManager.default.contentsOfDirectory(atPath: temporary.path + "/.group/transfers")
        #expect(left.sorted() == ["2.source", "other"])
    }

    @Test(.enabled(if: SmallFileSystem.isPossible, "needs root and the permission to mount"))
    func `a file that the disk has no room for is one clear error, and leaves the room to others`() async throws {
        let outcome = try await SmallFileSystem(.memory).shell(
            """
            unset http_proxy all_proxy ALL_PROXY; export XDG_RUNTIME_DIR='\(directory.path)'
            groupctl create disk/c --journal-size 1M || exit 3
            for kind in good unknown; do
                group-transfer download --wait disk/c '\(server.address)'/$kind/1/30000000 big >out 2>&1
                echo "$kind $? $(tail -n 1 out)"
            done
            fill
            timeout 60 group-transfer download --wait disk/c '\(server.address)/good/1/1000' small >out 2>&1
            echo "full $? $(tail -n 1 out)"
            make_room
            group-transfer download --wait disk/c '\(server.address)/good/1/1000' small >out 2>&1
            echo "room $? $(wc -c <disk/c/small) $(ls -A disk/c/.group/transfers) $(ls disk/c)"
            """)
        #expect(outcome.status == 0, "\(outcome)")
        let lines = outcome.lines
        try #require(lines.count == 4, "\(outcome)")
        #expect(lines[0].hasPrefix("good 1 ") && lines[0].contains("the disk has room for"), "\(lines)")
        #expect(lines[1].hasPrefix("unknown 1 ") && lines[1].contains("the disk is full"), "\(lines)")
        #expect(lines[2].hasPrefix("full 1 ") && lines[2].contains("room for 0"), "\(lines)")
        #expect(lines[3] == "room 0 1000  small", "\(lines)")
    }

    @Test func `the lines of the example's page print what the page says`() throws {
        let page = try String(
            contentsOf: projectDirectory.appending(path: "docs/guide/examples/maps.md"), encoding: .utf8)
        let blocks = page.components(separatedBy: "```\n")
        let (block, expected) = (try #require(blocks.dropFirst().first), try #require(blocks.dropFirst(3).first))
        // The programs of this build, wherever it is.
        let script = block.replacing(/export PATH=.*\n/, with: "")
        let text = try run(
            "bash", "-euc", "cd '\(directory.path)'\n" + script,
            environment: [
                "PATH": "\(BuildDirectory.path):/usr/bin:/bin", "XDG_DATA_HOME": directory.path, "HOME": directory.path,
            ])
        // bash reports the killed widget when it notices that.
        let lines = text.split(separator: "\n").filter { !$0.contains(" Killed ") }
        #expect(lines.map { $0 + "\n" }.joined() == expected, "\(text)")
    }
}
#endif
