import Foundation
import TestSupport
import Testing

@Suite(.tags(.process, .root))
struct `groupctl create, path and list` {
    private func groupctl(
        _ words: [String], in container: TemporaryContainer, environment: [String: String?] = [:]
    ) async throws -> RunningProcess.Outcome {
        try await container.start("groupctl", words, environment: environment).finish()
    }

    @Test func `create makes a private container, whatever the umask`() async throws {
        let container = try TemporaryContainer(creating: false)
        #expect(try await container.shell("umask 000; groupctl create \"$1\"").status == 0)
        #expect(try container.mode() == 0o700)
        #expect(try container.mode(".group") == 0o700)
        for file in ["format", "lock", "members", "journal/1.log"] {
            #expect(try container.mode(".group/" + file) == 0o600, "\(file)")
        }
    }

    @Test(.enabled(if: canPlayNobody, "needs root, setpriv(1), and a build directory that every user may enter"))
    func `a container is its user's to enter, whatever the umask, and a closed one says how it is opened`()
        async throws
    {
        let container = try TemporaryContainer(creating: false)
        let script = """
            umask 777; "$2" create "$1/own/new" && "$2" defaults set "$1/own/new" s k v &&
                umask 022 && "$2" list "$1/own/new" && "$2" doctor "$1/own/new"
            """
        let prepared = try await container.shell("chmod 755 \"${1%/*}\"; mkdir -m 777 \"$1\"; chmod 777 \"$1\"")
        #expect(prepared.status == 0, "\(prepared)")
        func asNobody(_ script: String) async throws -> RunningProcess.Outcome {
            try await container.start(
                "setpriv", nobody() + ["sh", "-c", script, "sh", container.path, BuildDirectory.resolve("groupctl")]
            ).finish()
        }
        let made = try await asNobody(script)
        #expect(made.status == 0, "\(made)")
        for directory in ["own/new", "own/new/.group", "own/new/.group/staging", "own/new/.group/defaults/s"] {
            #expect(try container.mode(directory) == 0o700, "\(directory)")
        }
        #expect(try container.mode("own/new/.group/format") == 0o600)
        let closed = try await asNobody("chmod 000 \"$1/own/new\"; \"$2\" list \"$1/own/new\"")
        #expect(closed.status == 77, "\(closed)")
        #expect(
            closed.errors.contains("is your own, with mode 0000: give yourself permission (chmod u+rwx)"), "\(closed)")
        let found = try await asNobody("\"$2\" doctor \"$1/own/new\"")
        #expect(found.text.contains("give yourself permission: chmod u+rwx \(container.path)/own/new"), "\(found)")
    }

    @Test func `create names the directory that cannot be created`() async throws {
        let container = try TemporaryContainer(creating: false)
        let outcome = try await groupctl(["create", "/proc/of-no-process"], in: container)
        #expect(outcome.status == 66)
        #expect(
            outcome.errors.hasPrefix(
                "groupctl: cannot create '/proc/of-no-process': no directory can be made there; choose"))
        _ = try await container.shell("ln -s nowhere \"$1\"")
        for words in [["create", container.path], ["create", container.path + "/below"], ["list", container.path]] {
            let dangling = try await groupctl(words, in: container)
            #expect(dangling.status == 66, "\(dangling)")
            #expect(
                dangling.errors.contains("'\(container.path)' is a symbolic link that leads to nothing"), "\(dangling)")
        }
        let found = try await groupctl(["doctor", container.path], in: container)
        #expect(found.text.contains(": the target of \(container.path) is missing"), "\(found)")
        #expect(try await container.shell("rm \"$1\"; echo > \"$1\"").status == 0)
        let onFile = try await groupctl(["create", container.path], in: container)
        #expect(
            onFile.errors.contains(
                "Not a directory: the path, or a part of it, is not a directory; choose another path")
                && onFile.status == 1, "\(onFile)")
    }

    /// A container takes its directory over: its mode changes, and what is in it becomes items.
    @Test(arguments: [
        ("create /", 77, "it is the root directory"),
        ("create \"$HOME\"", 77, "it is the user's home directory"),
        ("create \"$HOME/link\"", 77, "it is the user's home directory"),
        ("create \"$HOME/sticky\"", 77, "it has the sticky bit"),
        ("create \"$HOME/full\"", 1, "the directory has contents (f and 1 more); --adopt makes them items"),
        ("create --adopt \"$HOME/sticky\"", 77, "it has the sticky bit"),
        ("create \"$HOME/full/../full/.\"", 1, "the directory has contents"),
    ])
    func `create takes over no directory that others or other programs use`(
        call: String, status: Int32, reason: String
    ) async throws {
        let container = try TemporaryContainer(creating: false)
        let outcome = try await container.shell(
            """
            mkdir -m 1777 "$HOME/sticky"; mkdir -m 755 "$HOME/full"; ln -s . "$HOME/link"; touch "$HOME/full/f" "$HOME/full/g"
            before=$(stat -c '%a %n' / "$HOME"/*)
            groupctl \(call); status=$?
            test "$(stat -c '%a %n' / "$HOME"/*)" = "$before" && test ! -e "$HOME/full/.group" && test ! -e /.group || exit 99
            exit $status
            """)
        #expect(outcome.status == status && outcome.errors.contains(reason), "\(outcome)")
    }

    @Test(.enabled(if: isRoot, "needs root, to make a directory of another user"))
    func `create takes over no directory of another user`() async throws {
        let container = try TemporaryContainer(creating: false)
        let outcome = try await container.shell(
            "mkdir \"$HOME/theirs\"; chown 65534 \"$HOME/theirs\"; groupctl create \"$HOME/theirs\"")
        #expect(outcome.status == 77 && outcome.errors.contains("it belongs to user 65534"), "\(outcome)")
    }

    @Test func `create --adopt makes the contents items, and each change of mode is printed`() async throws {
        let container = try TemporaryContainer(creating: false)
        let outcome = try await container.shell(
            "mkdir -m 755 \"$1\"; echo x >\"$1/f\"; groupctl create --adopt \"$1\" && groupctl read \"$1\" f")
        #expect(outcome.status == 0 && outcome.text == "x\n", "\(outcome)")
        #expect(outcome.errors.contains("the mode of \(container.path) was 0755, and is 0700 now"), "\(outcome)")
    }

    @Test func `create with an absolute path needs no access to the working directory`() async throws {
        let container = try TemporaryContainer(creating: false)
        let outcome = try await container.shell(
            "mkdir \"$HOME/closed\" && cd \"$HOME/closed\" && rmdir \"$HOME/closed\" && groupctl create \"$1\"")
        #expect(outcome.status == 0, "\(outcome)")
    }

    @Test func `create changes nothing in an existing container`() async throws {
        let container = try TemporaryContainer()
        try await container.done("write", "a", input: "content")
        let before = try await JSONStatus(of: container)
        let outcome = try await container.run("create")
        #expect(outcome.status == 0 && outcome.output.isEmpty && outcome.errors == "", "\(outcome)")
        let after = try await JSONStatus(of: container)
        #expect(after.container == before.container && after.journal.cursor == before.journal.cursor)
        #expect(try container.content("a") == "content")
    }

    @Test func `create sets the journal's limits for the life of the container`() async throws {
        let container = try TemporaryContainer(creating: false)
        try await container.done("create", "--journal-size", "1M", "--journal-age", "720m")
        let format = try container.content(".group/format")
        #expect(format.contains("\"journalSize\" : 1048576") && format.contains("\"journalAge\" : 43200"), "\(format)")
        // A segment is a sixteenth of the journal's size.
        #expect(try FileManager.default.contentsOfDirectory(atPath: container.path + "/.group/journal") == ["1.log"])
        let file = try FileManager.default.attributesOfItem(atPath: container.path + "/.group/journal/1.log")
        #expect((file[.size] as? NSNumber)?.intValue == 65_536)
        try await container.done("create", "--journal-size", "2G")
        #expect(try container.content(".group/format") == format)
    }

    @Test(arguments: [
        ["--journal-size", "0"], ["--journal-size", "1.5M"], ["--journal-size", "-1"],
        ["--journal-size", "99999999999G"], ["--journal-age", "soon"], ["--journal-age", "0d"], ["--journal-age", ""],
    ])
    func `create refuses a malformed size or age of the journal`(words: [String]) async throws {
        let container = try TemporaryContainer(creating: false)
        let outcome = try await groupctl(["create", container.path] + words, in: container)
        #expect(outcome.status == 64 && outcome.errors.contains(words[0]), "\(outcome)")
        #expect(!FileManager.default.fileExists(atPath: container.path))
    }

    @Test func `many concurrent create calls make one container`() async throws {
        let container = try TemporaryContainer(creating: false)
        let creators = try (0..<8).map { _ in try container.start("create", "--json") }
        for creator in creators { #expect(try await creator.finish().status == 0) }
        #expect(try await container.run("write", "a", input: "x").status == 0)
        #expect(try await container.shell("ls \"$1/.group/staging\" \"$1/.group/journal\" | grep -c new").text == "0\n")
    }

    @Test(.enabled(if: isRoot, "only root is in every Unix group"))
    func `create shares a container with a Unix group, whatever the umask`() async throws {
        let container = try TemporaryContainer(creating: false)
        let created = try await container.shell(
            "umask 077; groupctl create \"$1\" --unix-group games; stat -c %G \"$1\"")
        #expect(created.status == 0 && created.lines == ["games"], "\(created)")
        #expect(try container.mode() == 0o2770)
        try await container.done("write", "a", input: "x")
        let owners = try await container.shell("find \"$1/.group\" -printf '%P %m %g\\n' | sort").lines
        #expect(
            owners == [
                " 2770 games", "format 660 games", "journal 2770 games", "journal/1.log 660 games", "lock 660 games",
                "members 660 games", "reserve 660 games", "staging 2770 games",
            ])
    }

    @Test func `create makes an existing directory private, unless its mode shares it`() async throws {
        let container = try TemporaryContainer(creating: false)
        _ = try await container.shell("umask 022; mkdir \"$1\"; : > \"$1/kept\"")
        try await container.done("create", "--adopt")
        #expect(try container.mode() == 0o700 && container.mode(".group") == 0o700)
        #expect(try await container.done("list").lines == ["kept"])
        // An existing container is not changed.
        _ = try await container.shell("chmod 755 \"$1\"")
        try await container.done("create")
        #expect(try container.mode() == 0o755)
        let shared = try TemporaryContainer(creating: false)
        _ = try await shared.shell("mkdir \"$1\"; chmod 2770 \"$1\"")
        try await shared.done("create")
        #expect(try shared.mode() == 0o2770 && shared.mode(".group") == 0o2770)
    }

    @Test(.enabled(if: canPlayNobody, "needs root, setpriv(1), and a build directory that every user may enter"))
    func `create refuses an existing directory of another user`() async throws {
        let container = try TemporaryContainer(creating: false)
        _ = try await container.shell("chmod 755 \"${1%/*}\"; mkdir \"$1\"; chmod 777 \"$1\"")
        let words = nobody() + [BuildDirectory.resolve("groupctl"), "create", container.path]
        let outcome = try await container.start("setpriv", words).finish()
        #expect(outcome.status == 77 && outcome.errors.contains("it belongs to user 0"), "\(outcome)")
        #expect(try await container.shell("ls -A \"$1\"").output.isEmpty)
        #expect(try container.mode() == 0o777)
    }

    @Test(.enabled(if: isRoot, "only root is in every Unix group"))
    func `create refuses to share an existing private container`() async throws {
        let container = try TemporaryContainer()
        let refused = try await container.run("create", "--unix-group", "games")
        #expect(refused.status == 4 && refused.errors.contains("exists already, for its user alone"), "\(refused)")
        #expect(try container.mode() == 0o700)
        let shared = try TemporaryContainer(creating: false)
        for _ in 0..<2 { try await shared.done("create", "--unix-group", "games") }
        try await shared.done("create")
        let other = try await shared.run("create", "--unix-group", "root")
        #expect(
            other.status == 4 && other.errors.contains("exists already, shared with the Unix group games"), "\(other)")
        #expect(try await shared.shell("stat -c %G \"$1\"").lines == ["games"])
    }

    @Test(.enabled(if: isRoot, "only root is in every Unix group"))
    func `create refuses to share an identifier's container in the user's home`() async throws {
        let container = try TemporaryContainer(creating: false)
        for home: [String: String?] in [
            ["GROUP_CONTAINERS_HOME": nil], ["GROUP_CONTAINERS_HOME": nil, "XDG_DATA_HOME": container.directory],
        ] {
            let words = ["create", "group.com.example.shared", "--unix-group", "games"]
            let outcome = try await groupctl(words, in: container, environment: home)
            #expect(
                outcome.status == 64
                    && outcome.errors.contains("other users do not find the container by its identifier"),
                "\(outcome)")
        }
        #expect(try await container.shell("ls -A \"$1/..\"").output.isEmpty)
        // Where the identifiers of all users are in one directory, create shares the container.
        let words = ["create", "group.com.example.shared", "--unix-group", "games"]
        #expect(try await groupctl(words, in: container).status == 0)
    }

    @Test func `create and path print the container's path with --json`() async throws {
        let container = try TemporaryContainer(creating: false)
        let made = try await container.done("create", "--json")
        #expect(made.text == #"{"path":"\#(container.path)","identifier":null}"# + "\n")
        #expect(try await container.done("path", "--json").text == #"{"path":"\#(container.path)"}"# + "\n")
        let named = try await groupctl(["create", "group.com.example.todo", "--json"], in: container)
        let path = container.directory + "/home/group.com.example.todo"
        #expect(named.text == #"{"path":"\#(path)","identifier":"group.com.example.todo"}"# + "\n")
    }

    @Test func `an identifier's container is below the first home that is set`() async throws {
        let container = try TemporaryContainer(creating: false)
        let directory = container.directory
        let homes: [(variables: [String: String?], path: String)] = [
            (["GROUP_CONTAINERS_HOME": "\(directory)/1", "XDG_DATA_HOME": "\(directory)/2"], "\(directory)/1/g"),
            (["GROUP_CONTAINERS_HOME": nil, "XDG_DATA_HOME": "\(directory)/2"], "\(directory)/2/group-containers/g"),
            (["GROUP_CONTAINERS_HOME": nil], "\(directory)/.local/share/group-containers/g"),
            (
                ["GROUP_CONTAINERS_HOME": "", "XDG_DATA_HOME": "relative"],
                "\(directory)/.local/share/group-containers/g"
            ),
        ]
        for (variables, path) in homes {
            let created = try await groupctl(["create", "g"], in: container, environment: variables)
            #expect(created.status == 0, "\(created)")
            let printed = try await groupctl(["path", "g"], in: container, environment: variables)
            #expect(printed.text == path + "\n")
            let listed = try await groupctl(["list"], in: container, environment: variables)
            #expect(listed.lines == ["g"])
        }
    }

    @Test func `list prints the identifiers of containers, sorted`() async throws {
        let container = try TemporaryContainer(creating: false)
        #expect(try await groupctl(["list"], in: container).output.isEmpty, "there is no home yet")
        for identifier in ["g.b", "g.a", "G_1-x"] {
            #expect(try await groupctl(["create", identifier], in: container).status == 0)
        }
        #expect(try await container.shell("cd \"${1%/*}/home\" && mkdir plain && touch file").status == 0)
        #expect(try await groupctl(["list"], in: container).lines == ["G_1-x", "g.a", "g.b"])
        let json = try await groupctl(["list", "--json"], in: container)
        #expect(json.lines == ["G_1-x", "g.a", "g.b"].map { #"{"identifier":"\#($0)"}"# })
    }

    @Test func `list prints the items of a directory by bytes, directories with a slash`() async throws {
        let container = try TemporaryContainer()
        for item in ["b", "a/c", "a/d/e", "Z", "ä", "a-b"] { try await container.done("write", item, input: "12345") }
        try FileManager.default.createSymbolicLink(atPath: container.path + "/l", withDestinationPath: "b")
        #expect(try await container.done("list").lines == ["Z", "a/", "a-b", "b", "l", "ä"])
        #expect(try await container.done("list", "a").lines == ["a/c", "a/d/"])
        let json = try await container.done("list", "a", "--json").lines
        let pattern = try Regex(
            #"\{"path":"a/c","type":"file","size":5,"modified":"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z"\}"#)
        #expect(json.count == 2 && json.first?.wholeMatch(of: pattern) != nil, "\(json)")
        #expect(json.last?.contains(#""type":"directory""#) == true)
        #expect(try await container.done("list", "--json").lines[4].contains(#""type":"link""#))
    }

    @Test func `a date beyond the nanoseconds is printed as it is, or not at all`() async throws {
        let container = try TemporaryContainer()
        let script = "cd \"$1\" && touch -d 2300-05-06T07:08:09Z f && touch -d 1930-01-01Z old"
        #expect(try await container.shell(script).status == 0)
        let lines = try await container.done("list", "--json").lines
        #expect(lines.first?.contains(#""modified":"2300-05-06T07:08:09.000Z""#) == true, "\(lines)")
        #expect(lines.last?.contains(#""modified":"1930-01-01T00:00:00.000Z""#) == true, "\(lines)")
        let present = try await container.watch("--since", "snapshot", "--json", "--count", "2").finish()
        #expect(present.lines.count == 2 && present.lines.allSatisfy { $0.contains(#""time":null"#) }, "\(present)")
        let format = ["--since", "snapshot", "--format", "%f %T", "--count", "2"]
        let formatted = try await container.start("watch-group", format + [container.path]).finish()
        #expect(formatted.lines == ["f -", "old -"], "\(formatted)")
    }

    @Test func `a container is found by a path from the working directory`() async throws {
        let container = try TemporaryContainer()
        try await container.done("write", "a", input: "content")
        let outcome = try await RunningProcess(
            "groupctl", ["read", "./container", "a"], directory: container.directory
        )
        .finish()
        #expect(outcome.status == 0 && outcome.text == "content", "\(outcome)")
    }
}

@Suite(.tags(.process, .root))
struct `A container's path with a slash at its end` {
    @Test(arguments: ["", "/", "//"])
    func `a container that is created with slashes after its path is private`(slashes: String) async throws {
        let container = try TemporaryContainer()
        let path = container.directory + "/on-its-way/private" + slashes
        #expect(try await container.start("groupctl", ["create", path]).finish().status == 0)
        let attributes = try FileManager.default.attributesOfItem(atPath: container.directory + "/on-its-way/private")
        #expect((attributes[.posixPermissions] as? NSNumber)?.intValue == 0o700)
    }
}
