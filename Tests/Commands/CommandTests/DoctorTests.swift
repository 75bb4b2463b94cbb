import Foundation
import TestSupport
import Testing

@Suite(.tags(.process, .root, .namespaces)) struct `groupctl doctor` {
    private func container() async throws -> TemporaryContainer {
        let container = try TemporaryContainer()
        for name in ["first", "second", "third"] { try await container.done("write", name, input: "x") }
        return container
    }

    private func changes(_ container: TemporaryContainer) async throws -> [String] {
        try await container.done("changes", "--since", "start").lines
    }

    @Test func `a name is escaped once in a finding`() async throws {
        let container = try TemporaryContainer()
        let script = #"mkdir -p "$1/.group/defaults/$(printf 'x\033y\377')" && exec groupctl doctor "$1""#
        let outcome = try await container.shell(script)
        #expect(outcome.text.contains(#".group/defaults/x\033y\377: nothing of that name"#), "\(outcome)")
    }

    @Test func `doctor reports a container with notes only as healthy, and changes nothing`() async throws {
        let container = try await container()
        let before = try await container.shell("cd \"$1\" && find . -type f -exec sha256sum {} +").text
        let outcome = try await container.run("doctor")
        #expect(outcome.status == 0 && outcome.lines.last == "healthy", "\(outcome)")
        #expect(outcome.text.contains("note     no process follows the container"))
        #expect(outcome.text.contains("it lies on tmpfs") == TestFiles.isInMemory)
        #expect(try await container.findings().isEmpty)
        #expect(try await container.shell("cd \"$1\" && find . -type f -exec sha256sum {} +").text == before)
    }

    @Test func `doctor prints where it looked for a container, and where else one is`() async throws {
        let container = try TemporaryContainer(creating: false)
        func findings(_ environment: [String: String?] = [:]) async throws -> RunningProcess.Outcome {
            try await container.start(
                "groupctl", ["doctor", "group.example.todo"], environment: environment
            ).finish()
        }
        let nowhere = try await findings()
        #expect(nowhere.status == 1, "\(nowhere)")
        #expect(nowhere.text.contains("there is no container at \(container.directory)/home/group.example.todo"))
        #expect(nowhere.text.contains("because of GROUP_CONTAINERS_HOME"))
        _ = try await container.start("groupctl", ["create", "group.example.todo"]).finish()
        let other: [String: String?] = ["GROUP_CONTAINERS_HOME": nil, "XDG_DATA_HOME": container.directory + "/data"]
        _ = try await container.start("groupctl", ["create", "Group.Example.TODO"], environment: other).finish()
        let elsewhere = try await findings(other)
        #expect(elsewhere.text.contains("because of XDG_DATA_HOME"))
        #expect(elsewhere.text.contains("there is Group.Example.TODO"), "\(elsewhere)")
        let both = try await findings([
            "GROUP_CONTAINERS_HOME": container.directory + "/empty", "XDG_DATA_HOME": container.directory,
            "HOME": container.directory,
        ])
        #expect(both.status == 1 && both.text.contains("because of GROUP_CONTAINERS_HOME"), "\(both)")
        _ = try await container.shell("mv \"${1%/*}/home\" \"${1%/*}/group-containers\"")
        let found = try await findings([
            "GROUP_CONTAINERS_HOME": container.directory + "/empty", "XDG_DATA_HOME": container.directory,
        ])
        #expect(
            found.text.contains("one of that name stands at \(container.directory)/group-containers/group.example.todo")
        )
        #expect(try await container.start("groupctl", ["doctor", "bad name"]).finish().status == 64)
    }

    @Test func `doctor distinguishes a directory without a container from a missing one`() async throws {
        let container = try TemporaryContainer(creating: false)
        let missing = try await container.findings()
        #expect(missing.map(\.code) == ["containerMissing"] && missing.first?.item == container.path)
        _ = try await container.shell("mkdir \"$1\"")
        #expect(try await container.findings().first?.what.contains("no .group in it") == true)
    }

    // fault: flipped-bit
    @Test func `doctor finds a flipped bit, and repairs the journal`() async throws {
        let container = try await container()
        try container.flip("second", in: "journal/1.log")
        let found = try await container.findings()
        #expect(found.map(\.code) == ["journalDamaged"] && found.first?.item == ".group/journal/1.log")
        #expect(found.first?.severity == "error" && found.first?.repairable == true && found.first?.repaired == false)
        #expect(found.first?.what.contains("the record at byte ") == true)
        #expect(try await container.run("changes", "--since", "start").status == 65)
        let repaired = try await container.findings("--repair")
        #expect(repaired.map(\.code) == ["journalDamaged", "journalCut"], "\(repaired)")
        #expect(repaired.map(\.repaired) == [true, false] && repaired.first?.done?.contains("was kept") == true)
        #expect(try await container.findings().map(\.code) == ["journalCut"])
        #expect(try await changes(container).prefix(2) == ["created\tfirst", "rescan\t"])
        #expect(try await container.findings("--repair").map(\.repaired) == [false], "nothing else can be repaired")
    }

    // fault: flipped-bit
    @Test func `doctor repairs a journal while members live`() async throws {
        let container = try await container()
        let follower = try await container.watching()
        try container.flip("second", in: "journal/1.log")
        #expect(try await container.findings("--repair").first?.repaired == true)
        try await container.done("write", "new", input: "x")
        var lines: [String] = []
        while lines.last != "created\tnew", let line = try await follower.readLine() { lines.append(line) }
        #expect(lines.last == "created\tnew", "\(lines)")
        #expect(try await container.findings().map(\.code) == ["journalCut"])
    }

    // fault: empty-metadata
    @Test(arguments: ["", "truncated"]) func `doctor finds a damaged checkpoint, and writes it anew`(content: String)
        async throws
    {
        let container = try await container()
        try Data(content.utf8).write(to: URL(filePath: container.path + "/.group/checkpoint"))
        let found = try await container.findings()
        #expect(found.map(\.code) == ["checkpointDamaged"] && found.first?.severity == "warning", "\(found)")
        #expect(try await container.findings("--repair").map(\.repaired) == [true])
        #expect(try await container.findings().isEmpty)
        #expect(try await changes(container).count == 3)
    }

    // fault: empty-metadata
    @Test func `doctor finds a lost checkpoint, and writes it anew`() async throws {
        let container = try await container()
        _ = try await container.shell("mv \"$1/.group/journal/1.log\" \"$1/.group/journal/2.log\"")
        let found = try await container.findings()
        #expect(found.contains { $0.code == "journalDamaged" || $0.code == "checkpointLost" }, "\(found)")
        _ = try await container.findings("--repair")
        #expect(try await container.findings().allSatisfy { $0.severity == "note" })
        try await container.done("write", "new", input: "x")
    }

    @Test func `doctor leaves files of a newer version unchanged`() async throws {
        let container = try await container()
        let file = container.path + "/.group/format"
        try #"{"format": 99}"#.write(toFile: file, atomically: false, encoding: .utf8)
        for options in [[], ["--repair"]] {
            let outcome = try await container.start("groupctl", ["doctor", container.path, "--json"] + options).finish()
            #expect(outcome.status == 1)
            let codes = try outcome.lines.map { try JSONFinding($0).code }
            #expect(codes.first == "formatNewer", "\(outcome)")
        }
        #expect(try String(contentsOfFile: file, encoding: .utf8) == #"{"format": 99}"#)
    }

    @Test(arguments: ["format", "lock", "members"], [true, false])
    func `doctor replaces a damaged part that prevents the opening`(part: String, isGone: Bool) async throws {
        let container = try await container()
        let cursor = try await JSONStatus(of: container).journal.cursor
        let file = container.path + "/.group/" + part
        let inode = try await container.shell("stat -c %i \"$1/.group/$2\"", part).text
        try FileManager.default.removeItem(atPath: file)
        if !isGone { try FileManager.default.createDirectory(atPath: file, withIntermediateDirectories: false) }
        let code = "partDamaged"
        if isGone && part == "members" {
            // The next process creates the table anew.
            #expect(try await container.findings().map(\.code) == [code])
        } else {
            #expect([65, 66].contains(try await container.run("read", "first").status))
        }
        let found = try await container.findings()
        #expect(found.map(\.code) == [code] && found.first?.item == ".group/\(part)", "\(found)")
        let repaired = try await container.findings("--repair")
        #expect(repaired.first?.code == code && repaired.first?.repaired == true, "\(repaired)")
        #expect(try await container.findings().isEmpty)
        #expect(try await container.done("read", "first").text == "x")
        #expect(try await changes(container) == ["created\tfirst", "created\tsecond", "created\tthird"])
        let since = try await container.done("changes", "--since", cursor).lines
        // A lock file of the same inode is taken for the same one: no process can have the old one open then.
        let isSame = try await container.shell("stat -c %i \"$1/.group/$2\"", part).text == inode && part == "lock"
        #expect(since == (part == "members" || isSame ? [] : ["rescan\t"]), "another identity, other cursors")
    }

    // fault: lock-file-replaced
    @Test func `doctor does not replace a part that members use`() async throws {
        let container = try await container()
        let follower = try await container.watching()
        for (part, code) in [("format", "partDamaged"), ("lock", "lockFileReplaced")] {
            let file = container.path + "/.group/" + part
            _ = try await container.shell("mv \"$1/.group/$2\" \"$1/.group/saved\" && : > \"$1/.group/$2\"", part)
            let found = try await container.findings("--repair")
            #expect(found.contains { $0.code == code && !$0.repaired && $0.severity == "error" }, "\(found)")
            #expect(try Data(contentsOf: URL(filePath: file)).isEmpty)
            _ = try await container.shell("mv \"$1/.group/saved\" \"$1/.group/$2\"", part)
        }
        try await container.done("write", "new", input: "x")
        #expect(try await follower.readLine() == "created\tnew")
    }

    @Test func `doctor creates a missing staging directory`() async throws {
        let container = try await container()
        _ = try await container.shell("rmdir \"$1/.group/staging\"")
        #expect(try await container.findings().map(\.code) == ["partDamaged"])
        #expect(try await container.findings("--repair").map(\.repaired) == [true])
        try await container.done("write", "new", input: "x")
    }

    // fault: copied-container
    @Test func `doctor detects a copied container before its first opening`() async throws {
        let container = try await container()
        _ = try await container.shell("cp -a \"$1\" \"$1.copy\"")
        let copy = try await container.start("groupctl", ["doctor", "--json", container.path + ".copy"]).finish()
        #expect(copy.status == 0)
        #expect(try copy.lines.map { try JSONFinding($0) }.contains { $0.code == "containerCopied" && $0.repairable })
    }

    // fault: truncated-map
    @Test func `doctor finds a truncated suite, and keeps its intact part`() async throws {
        let container = try await container()
        let lines = (0..<1_000).map { "set key\($0) value\($0)\n" }.joined()
        try await container.done("defaults batch", "s", input: lines)
        let before = try await container.done("defaults list", "s").lines
        #expect(try await container.shell("truncate -s 50000 \"$1/.group/defaults/s/1.log\"").status == 0)
        #expect(try await container.run("defaults list", "s").status == 65)
        let found = try await container.findings()
        #expect(found.map(\.code) == ["suiteDamaged"] && found.first?.repairable == true, "\(found)")
        #expect(try await container.findings("--repair").map(\.repaired) == [true])
        #expect(try await container.findings().isEmpty)
        let after = try await container.done("defaults list", "s").lines
        #expect(after.count > 400 && after.count < 1_000 && Set(after).isSubset(of: before))
        try await container.done("defaults set", "s", "new", "x")
    }

    @Test func `doctor removes the leftovers of dead members`() async throws {
        let container = try await container()
        // A process that opens the container alone would remove the leftovers, too.
        let follower = try await container.watching()
        _ = try await container.shell(
            """
            cd "$1/.group"; mkdir staging/0123456789abcdef0000000000000001
            mkdir staging/0123456789abcdef0000000000000001/d
            head -c 20000000 /dev/zero > staging/0123456789abcdef0000000000000001/d/f; : > journal/new-7-0000000000000000
            """)
        let found = try await container.findings()
        #expect(found.map(\.code) == ["leftovers"] && found.first?.severity == "warning", "\(found)")
        #expect(found.first?.what.hasPrefix("2 files and directories") == true)
        #expect(try await container.findings("--repair").map(\.repaired) == [true])
        #expect(try await container.shell("ls \"$1/.group/staging\"; ls \"$1/.group/journal\"").lines == ["1.log"])
        follower.signal(SIGTERM)
        #expect(try await follower.finish().status == 143)
    }

    @Test func `directories that are too deep to have a path are no finding`() async throws {
        let container = try await container()
        let made = try await container.shell(
            """
            cd "$1"; name=$(printf '%0200d' 0)
            for level in $(seq 22); do mkdir $name && cd -P $name || exit 99; done
            """)
        #expect(made.status == 0, "\(made)")
        #expect(try await container.findings().isEmpty)
    }

    @Test(arguments: [5, 8, 10, 14, 20], [[], ["--repair"]])
    func `a limit of open files is said to be one, and is no damage`(limit: Int, options: [String]) async throws {
        let container = try TemporaryContainer()
        let script = "ulimit -n \(limit); \"$2\" doctor \"$1\" --json \(options.joined())"
        let outcome = try await container.shell(script, BuildDirectory.resolve("groupctl"))
        #expect(outcome.status == 1 && outcome.lines.count == 1, "\(outcome)")
        #expect(outcome.text.contains(#""code":"limitReached""#) && outcome.text.contains("ulimit -n"), "\(outcome)")
    }

    @Test func `a healthy container is found healthy with few open files`() async throws {
        let container = try await container()
        try await container.done("defaults set", "s", "k", "x")
        let script = "ulimit -n 32; \"$2\" doctor \"$1\""
        let outcome = try await container.shell(script, BuildDirectory.resolve("groupctl"))
        #expect(outcome.status == 0 && outcome.lines.last == "healthy", "\(outcome)")
    }

    @Test(
        .enabled(if: canPlayNobody, "needs root, setpriv(1), and a build directory that every user may enter"),
        arguments: ["", "/.group", "/.group/staging", "/.group/journal"])
    func `a directory that its owner may not write is a finding`(directory: String) async throws {
        let container = try TemporaryContainer()
        let made = try await container.shell(
            "cd \"$1\"; chmod 755 ..; chown -R 65534:65534 .; chmod 500 \"$1\(directory)\"")
        #expect(made.status == 0, "\(made)")
        let found = try await container.start(
            "setpriv", nobody() + [BuildDirectory.resolve("groupctl"), "doctor", container.path]
        ).finish()
        #expect(found.status == 1 && found.text.contains("it has mode 0500, of user 65534"), "\(found)")
        #expect(found.text.contains("chmod u+rwx \(container.path)\(directory)\n"), "\(found)")
    }

    @Test(.enabled(if: SmallFileSystem.isPossible, "needs root and the permission to mount"))
    func `a missing /proc is a finding`() async throws {
        let container = try await container()
        let script = "mount -t tmpfs none /proc && \"$0\" doctor \"$1\""
        let found = try await container.start(
            "unshare", ["-m", "sh", "-c", script, BuildDirectory.resolve("groupctl"), container.path]
        ).finish()
        #expect(found.status == 1 && found.text.contains("/proc: /proc is not mounted"), "\(found)")
    }

    @Test(.enabled(if: canPlayNobody, "needs root, setpriv(1), and a build directory that every user may enter"))
    func `what another user's directory keeps in staging is said, and by doctor, too`() async throws {
        let container = try TemporaryContainer()
        let made = try await container.shell(
            """
            cd "$1"; chmod 755 ..; mkdir -p mine/inner; head -c 20000000 /dev/zero > mine/inner/f
            chown -R 65534:65534 . && chown 0:0 mine/inner && chmod 755 mine/inner
            """)
        #expect(made.status == 0, "\(made)")
        func run(_ subcommand: String, _ words: [String]) async throws -> RunningProcess.Outcome {
            let command = [BuildDirectory.resolve("groupctl"), subcommand, container.path] + words
            return try await container.start("setpriv", nobody() + command).finish()
        }
        let removed = try await run("remove", ["-r", "mine"])
        #expect(removed.status == 0, "\(removed)")
        #expect(removed.errors.contains("user 65534 may not empty this directory of user 0"), "\(removed)")
        for options in [[], ["--repair"]] {
            let found = try await run("doctor", options)
            #expect(found.status == 1 && !found.text.contains("repaired"), "\(found)")
            #expect(found.text.contains("19 MiB; user 65534 may not empty .group/staging/"), "\(found)")
        }
        let repaired = try await container.findings("--repair")
        #expect(repaired.first?.code == "leftovers" && repaired.first?.repaired == true, "\(repaired)")
    }
}

extension TemporaryContainer {
    /// Changes the first byte of a text in one of the container's own files.
    fileprivate func flip(_ text: String, in file: String) throws {
        try overwrite(".group/" + file, behind: text, by: 0, with: [UInt8(ascii: "?")])
    }

    func overwrite(_ file: String, behind text: String, by distance: Int, with bytes: [UInt8]) throws {
        let handle = try #require(FileHandle(forUpdatingAtPath: path + "/" + file))
        let content = try #require(try handle.readToEnd())
        let place = try #require(content.range(of: Data(text.utf8)))
        try handle.seek(toOffset: UInt64(place.lowerBound + distance))
        try handle.write(contentsOf: Data(bytes))
        try handle.close()
    }
}
