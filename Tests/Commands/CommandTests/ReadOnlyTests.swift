import Foundation
import TestSupport
import Testing

/// The calls that only read, and then the calls that change something.
private let readings = [
    "path ./view", "list ./view", "read ./view a", "status ./view", "changes ./view --since start",
    "lock ./view a b --shared -- true",
]
private let changes = [
    "create ./view", "write ./view a", "write ./view new/b", "update ./view a -- cat", "mkdir ./view directory",
    "remove ./view a", "move ./view a b", "copy ./view a b", "refresh ./view widget",
    "lock ./view a -- true",
]

@Suite(
    .enabled(if: SmallFileSystem.isPossible, "needs root and the permission to mount"),
    .tags(.process, .root))
struct `A container on a read-only mount` {
    private func done(_ script: String, in disk: SmallFileSystem) async throws {
        let outcome = try await disk.shell("set -e\n" + script)
        if outcome.status != 0 { throw TemporaryContainer.Failed(description: "\(script): \(outcome)") }
    }

    /// Makes the container `disk/c` with one item, and `view`, a read-only mount of it.
    private func viewed(_ kind: SmallFileSystem.Kind = .memory) async throws -> SmallFileSystem {
        let disk = try await SmallFileSystem(kind)
        try await done(
            """
            groupctl create ./disk/c; echo 1 | groupctl write ./disk/c a
            mkdir view; mount --bind disk/c view; mount -o remount,bind,ro view
            """, in: disk)
        return disk
    }

    /// Starts a test-member, which runs until it is killed, and returns after it has printed `word`.
    private func member(_ words: String, in disk: SmallFileSystem, prints word: String) async throws -> RunningProcess {
        let script = "mkfifo gate-$$; exec 3<>gate-$$; exec \(BuildDirectory.resolve("test-member")) \(words) <&3"
        let member = try disk.start("sh", ["-c", script])
        guard try await member.readLine() == word else {
            throw TemporaryContainer.Failed(description: "\(words): \(try await member.finish())")
        }
        return member
    }

    // fault: read-only
    @Test(arguments: SmallFileSystem.Kind.allCases)
    func `a container on a read-only mount is read, and each change is refused with the reason`(
        kind: SmallFileSystem.Kind
    ) async throws {
        let disk = try await SmallFileSystem(kind)
        let remount =
            kind == .memory
            ? "mount -o remount,ro disk" : "umount disk; sha256sum image >sum; mount -o loop,ro image disk"
        try await done(
            "groupctl create ./disk/c; echo 1 | groupctl write ./disk/c a\n\(remount); ln -s disk/c view", in: disk)
        for call in readings {
            let outcome = try await disk.shell("groupctl \(call)")
            #expect(outcome.status == 0 && outcome.errors.isEmpty, "\(call): \(outcome)")
        }
        #expect(try await disk.shell("groupctl read ./view a").text == "1\n")
        #expect(try await disk.shell("groupctl changes ./view --since start").lines == ["created\ta"])
        for call in changes {
            // A command that waited for the input would wait forever.
            let outcome = try await disk.shell("mkfifo never; groupctl \(call) <>never; s=$?; rm never; exit $s")
            #expect(outcome.status == 77 && outcome.output.isEmpty, "\(call): \(outcome)")
            #expect(outcome.errors.contains("the file system is mounted read-only"), "\(call): \(outcome)")
        }
        let snapshot = try await disk.shell("test-member upload ./view a </dev/null")
        #expect(snapshot.text.hasPrefix("error notPermitted: cannot make a snapshot of 'a'"), "\(snapshot)")
        let error = try JSONError(try await disk.shell("groupctl write ./view a --json </dev/null"))
        #expect(error.code == "notPermitted" && error.item == "a" && error.operation == "write", "\(error)")
        #expect(try await disk.shell("groupctl status ./view").text.contains("read-only: the file system is mounted"))
        #expect(try await disk.shell("groupctl status ./view --json").text.contains("\"readOnly\":true"))
        let watch = try await disk.shell("watch-group ./view --since start --count 2; watch-group ./view -t 0.3")
        #expect(watch.status == 2 && watch.lines.count == 3, "\(watch)")
        for (line, start) in zip(watch.lines, ["degraded\t\t", "created\ta", "degraded\t\t"]) {
            #expect(line.hasPrefix(start), "\(watch)")
        }
        if kind == .ext4 { try await done("umount disk; sha256sum -c sum", in: disk) }
    }

    // fault: read-only
    @Test func `a container on a read-only mount lists its listeners, and refuses messages`() async throws {
        let disk = try await viewed()
        let empty = try await disk.shell("test-member channel-list ./view news")
        #expect(empty.lines == ["notPermitted", "notPermitted", "done"], "\(empty)")
        let there = try await disk.shell(
            """
            test-member channel-list ./disk/c news; test-member channel-post ./disk/c news p 2 >/dev/null
            test-member channel-list ./view news
            """)
        // "one" was not there, "new" is.
        let refused = Array(repeating: "notPermitted", count: 3)
        #expect(there.lines == ["done", "done", "done", "new has 1, 2 wait"] + refused, "\(there)")
    }

    @Test func `a reader on a read-only mount lists what is presented, and asks no presenter`() async throws {
        // The disk in memory has no room for the table of presenters.
        let disk = try await viewed(.ext4)
        let presenter = try await member("present ./disk/c a", in: disk, prints: "presenting")
        let status = try await disk.shell("groupctl status ./view")
        #expect(status.status == 0 && status.text.contains("presents  a"), "\(status)")
        #expect(try await disk.shell("groupctl read ./view a").text == "1\n")
        presenter.signal(SIGKILL)
        #expect(try await presenter.finish().text == "presenting\n")
    }

    @Test func `a follower on a read-only mount reports whether a leader detects external changes`()
        async throws
    {
        let disk = try await viewed()
        let alone = try disk.start("watch-group", ["--verbose", "./view"])
        let line = try #require(try await alone.readLine())
        #expect(line.hasPrefix("degraded\t\t") && line.contains("mounted read-only"), "\(line)")
        #expect(try await alone.readLine(from: .errors)?.hasPrefix("watching") == true)
        #expect(try await alone.readLine(from: .errors)?.hasPrefix("watchingDegraded: ") == true)
        alone.signal(SIGTERM)
        #expect(try await alone.finish().status == 143)

        let writer = try disk.start("watch-group", ["--verbose", "./disk/c"], output: .file("/dev/null"))
        _ = try await writer.readLine(from: .errors)
        let reader = try disk.start("watch-group", ["--verbose", "./view"])
        _ = try await reader.readLine(from: .errors)
        try await done("echo 1 > disk/c/foreign", in: disk)
        #expect(try await reader.readLine() == "created\tforeign")
        writer.signal(SIGKILL)
        var next = try await reader.readLine()
        while next == "modified\tforeign" { next = try await reader.readLine() }
        #expect(next?.hasPrefix("degraded\t\t") == true, "\(next ?? "")")
        reader.signal(SIGTERM)
        _ = try await (writer.finish(), reader.finish())
    }

    @Test func `a follower on a read-only mount gets each change in order, once`() async throws {
        let disk = try await viewed(.ext4)
        // These are more changes than one segment of the journal holds.
        let count = 14_000
        let watch = try disk.start(
            "watch-group", ["./view", "--verbose", "--since", "start", "--count", "\(2 * count + 4)"])
        _ = try await watch.readLine(from: .errors)
        try await done("echo 2 | groupctl write ./disk/c b; mkdir ./disk/c/directory", in: disk)
        let writers = try ["x", "y"].map { tag in
            try disk.start("test-member", ["append", "./disk/c", "\(count)", tag], output: .file("/dev/null"))
        }
        for writer in writers { #expect(try await writer.finish().status == 0) }
        try await done("groupctl changes ./disk/c --since start >/dev/null", in: disk)
        let printed = try await watch.finish().lines
        #expect(printed.first?.hasPrefix("degraded") == true, "no follower may write")
        let lines = printed.dropFirst()
        #expect(lines.count == 2 * count + 3)
        for tag in ["x", "y"] {
            let expected = (1...count).map { "touched\t\(tag)/\($0)" }
            #expect(lines.filter { $0.hasPrefix("touched\t\(tag)/") } == expected, "\(tag)")
        }
        #expect(Set(lines.filter { $0.hasPrefix("created") }) == ["created\ta", "created\tb", "created\tdirectory"])
    }

    @Test func `a reader on a read-only mount shares its locks with writers`() async throws {
        let disk = try await viewed()
        let reader = try await member("share ./view a", in: disk, prints: "sharing")
        let refused = try await disk.shell("echo 2 | groupctl write ./disk/c a --timeout 0")
        #expect(refused.status == 75, "\(refused)")
        #expect(try await disk.shell("groupctl read ./disk/c a --timeout 0").status == 0)
        // From here on a writer waits, and is not overtaken.
        let writer = try disk.start("groupctl", ["write", "./disk/c", "a"], input: "2\n")
        let waits =
            "for i in $(seq 10000); do groupctl status ./view --json | grep -q '\"state\":\"waiting\"' && break; done"
        try await done(waits, in: disk)
        #expect(try await disk.shell("groupctl read ./view a --timeout 0").status == 75)
        let later = try disk.start("groupctl", ["read", "./view", "a"])
        reader.signal(SIGKILL)
        #expect(try await writer.finish().status == 0)
        #expect(try await later.finish().text == "2\n")

        let holder = try await member("hold ./disk/c a", in: disk, prints: "held")
        let late = try await disk.shell("groupctl read ./view a --timeout 0")
        #expect(late.status == 75 && late.errors.contains("(holder"), "\(late)")
        let last = try disk.start("groupctl", ["read", "./view", "a"])
        holder.signal(SIGKILL)
        #expect(try await last.finish().text == "2\n")
    }

    @Test func `a journal that is not yet recovered is read on a read-only mount up to its damage`() async throws {
        let disk = try await viewed(.ext4)
        try await done(
            """
            for item in b torn d; do echo 1 | groupctl write ./disk/c $item --relaxed; done
            put() { dd of=disk/c/.group/$1 bs=1 conv=notrunc seek=$2 2>/dev/null; }
            printf T | put journal/1.log $(grep -abo torn disk/c/.group/journal/1.log | cut -d : -f 1)
            # As after a boot.
            printf 00000000 | put members 32
            """, in: disk)
        #expect(try await disk.shell("groupctl changes ./view --since start").lines == ["created\ta", "created\tb"])
        let status = try JSONStatus(try await disk.shell("groupctl status ./view --json").text)
        #expect(status.journal.sequence == 2)
        let watch = try disk.start(
            "watch-group", ["./view", "--verbose", "--since", status.journal.cursor, "--count", "2"])
        _ = try await watch.readLine(from: .errors)
        // The process recovers the journal first.
        try await done("echo 1 | groupctl write ./disk/c e; test -e disk/c/.group/journal/2.log", in: disk)
        #expect(try await watch.finish().lines.last == "created\te")
    }

    @Test(arguments: [
        ("rm .group/members", ["list", "read"]), ("truncate -s 4096 .group/members", ["list", "read"]),
        ("dd if=/dev/zero of=.group/members bs=4096 count=1 conv=notrunc", ["list", "read"]),
        ("rm .group/members; mkfifo .group/members", ["list", "read"]), ("rm .group/lock", ["list", "read"]),
        ("rm .group/lock; mkfifo .group/lock", ["list", "read"]), ("rm .group/format; mkfifo .group/format", ["read"]),
        ("rm -r .group/journal", ["list", "read"]), ("rm .group/journal/*", ["list", "changes"]),
        ("truncate -s 5000 .group/journal/1.log", ["changes", "status"]),
        ("dd if=/dev/zero of=.group/journal/1.log bs=4096 count=1 conv=notrunc", ["changes", "status"]),
        ("rm .group/journal/1.log; mkfifo .group/journal/1.log", ["changes"]),
        // The byte is part of the first record, and may have any value.
        (
            """
            byte=$(od -An -tu1 -j4112 -N1 .group/journal/1.log)
            printf "\\\\$(printf %o $((byte ^ 255)))" | dd of=.group/journal/1.log bs=1 conv=notrunc seek=4112
            """, ["changes"]
        ),
    ])
    func `a damaged container on a read-only mount is reported`(damage: String, calls: [String]) async throws {
        let disk = try await viewed()
        try await done("cd disk/c; { \(damage); } 2>/dev/null", in: disk)
        for call in calls {
            let words = ["list": "", "read": "a", "changes": "--since start", "status": ""][call] ?? ""
            let outcome = try await disk.shell("groupctl \(call) ./view \(words)")
            #expect(outcome.status == 65 && outcome.errors.contains("'.group/"), "\(call): \(outcome)")
        }
        #expect(try await disk.shell("watch-group ./view --since start --count 2 --timeout 5").status == 65)
        #expect(try await disk.shell("groupctl write ./view a </dev/null").status != 0)
    }
}

@Suite(
    .enabled(if: SmallFileSystem.isPossible && canPlayNobody, "needs root, mounts and setpriv(1)"),
    .tags(.process, .root))
struct `A container on overlayfs` {
    // fault: other-file-system
    @Test func `a container on overlayfs is followed and locked across the first copy of its files`() async throws {
        let disk = try await SmallFileSystem(.ext4)
        let script = """
            set -e; chmod 711 .; mkdir merged disk/lower disk/upper disk/work
            groupctl create ./disk/lower/c; echo 1 | groupctl write ./disk/lower/c a; chmod -R a+rX disk
            mount -t overlay -o lowerdir=disk/lower,upperdir=disk/upper,workdir=disk/work none merged
            """
        let made = try await disk.shell(script)
        #expect(made.status == 0, "\(made)")
        func asNobody(_ script: String) throws -> RunningProcess {
            try disk.start("setpriv", nobody() + ["sh", "-c", script])
        }
        let watch = try asNobody("exec watch-group ./merged/c --verbose --since start --count 4")
        #expect(try await watch.readLine()?.hasPrefix("degraded\t") == true)
        #expect(try await watch.readLine() == "created\ta")
        let reader = try asNobody("tail -f /dev/null | test-member share ./merged/c a")
        #expect(try await reader.readLine() == "sharing")
        let refused = try await disk.shell("groupctl write ./merged/c a --timeout 0 </dev/null")
        #expect(refused.status == 75, "\(refused)")
        let written = try await disk.shell(
            "for item in b d; do groupctl write ./merged/c $item </dev/null || exit; done")
        #expect(written.status == 0, "\(written)")
        #expect(try await watch.finish().lines.dropFirst() == ["created\ta", "created\tb", "created\td"])
    }

    // fault: other-file-system
    @Test func `defaults on overlayfs are read and followed across the first copy of their files`() async throws {
        let disk = try await SmallFileSystem(.ext4)
        let script = """
            set -e; chmod 711 .; mkdir merged disk/lower disk/upper disk/work
            groupctl create ./disk/lower/c; groupctl defaults set ./disk/lower/c s n 1; chmod -R a+rX disk
            mkfifo questions; chmod a+rw questions
            mount -t overlay -o lowerdir=disk/lower,upperdir=disk/upper,workdir=disk/work none merged
            """
        let made = try await disk.shell(script)
        #expect(made.status == 0, "\(made)")
        func asNobody(_ script: String) throws -> RunningProcess {
            try disk.start("setpriv", nobody() + ["sh", "-c", script])
        }
        let reader = try asNobody("exec groupctl defaults batch ./merged/c s <>questions")
        let follower = try asNobody("exec watch-group ./merged/c --defaults s --since start --count 3")
        _ = try await follower.readLine()
        for number in 1...3 {
            if number > 1 {
                let set = try await disk.shell("groupctl defaults set ./merged/c s n \(number)")
                #expect(set.status == 0, "\(set)")
            }
            #expect(try await disk.shell("echo get n >questions").status == 0)
            #expect(try await reader.readLine() == #""\#(number)""#)
        }
        #expect(try await follower.finish().lines.count == 3)
    }
}

@Suite(
    .tags(.process, .root),
    .enabled(if: canPlayNobody, "needs root, setpriv(1), and a build directory that every user may enter"))
struct `A readable container of another user` {
    @Test func `a readable container of another user is read and followed, and changes are refused`() async throws {
        let container = try TemporaryContainer()
        try await container.done("write", "a", input: "1\n")
        let opened = "chmod -R a+rX \"$1\" && chmod 711 \"$1/..\" && ln -s \"$1\" \"$1/../view\""
        #expect(try await container.shell(opened).status == 0)
        func asNobody(_ script: String) throws -> RunningProcess {
            try container.start(
                "setpriv", nobody() + ["sh", "-c", "cd \"$1/..\"; " + script, "sh", container.path])
        }
        for call in readings {
            let outcome = try await asNobody("groupctl \(call)").finish()
            #expect(outcome.status == 0 && outcome.errors.isEmpty, "\(call): \(outcome)")
        }
        for call in changes {
            let outcome = try await asNobody("groupctl \(call)").finish()
            #expect(
                outcome.status == 77 && outcome.errors.contains("this user may not write .group/lock"), "\(outcome)")
        }
        let watch = try asNobody("exec watch-group ./view --verbose --since start --count 3")
        _ = try await watch.readLine(from: .errors)
        try await container.done("write", "b", input: "1")
        let lines = try await watch.finish().lines
        #expect(lines.first?.hasPrefix("degraded\t") == true && lines.dropFirst() == ["created\ta", "created\tb"])
        #expect(try await container.shell("chmod a+rw \"$1/.group/lock\"").status == 0)
        let outcome = try await asNobody("groupctl remove ./view a").finish()
        #expect(outcome.status == 77 && outcome.errors.contains("this user may not write .group/members"), "\(outcome)")
        #expect(try await asNobody("groupctl read ./view a").finish().text == "1\n")
    }
}
