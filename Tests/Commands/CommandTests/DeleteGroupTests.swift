import Foundation
import TestSupport
import Testing

@Suite(.tags(.process, .root, .namespaces)) struct `groupctl delete-group` {
    private func container() async throws -> TemporaryContainer {
        let container = try TemporaryContainer()
        _ = try await container.shell(
            """
            cd "$1"; mkdir -p a/b; printf 12345 > a/b/f; printf 1 > g; ln -s ../outside link; ln -s /etc absolute
            mkdir ../outside; : > ../outside/kept; mkdir closed; : > closed/x; chmod 500 closed
            """)
        return container
    }

    @Test func `delete-group without --yes prints what would be deleted, and deletes nothing`() async throws {
        let container = try await container()
        let outcome = try await container.run("delete-group")
        #expect(outcome.status == 64 && outcome.output.isEmpty)
        #expect(outcome.errors.contains("this deletes \(container.path) permanently: 8 items, 6 bytes"), "\(outcome)")
        #expect(try container.content("a/b/f") == "12345")
        // So that a user who is not root can remove the test's directory.
        _ = try await container.shell("chmod 700 \"$1/closed\"")
    }

    @Test func `delete-group deletes a container and nothing around it`() async throws {
        let container = try await container()
        let outcome = try await container.run("delete-group", "--yes", "--json")
        #expect(outcome.status == 0, "\(outcome)")
        #expect(outcome.text.hasSuffix("\"items\":8,\"bytes\":6,\"directoryRemoved\":true}\n"), "\(outcome)")
        #expect(try await container.shell("ls \"${1%/*}\"").lines == ["outside"])
        #expect(try await container.shell("ls \"${1%/*}/outside\"").lines == ["kept"])
        #expect(try await container.run("delete-group", "--yes").status == 66)
        #expect(try await container.run("doctor").status == 1)
    }

    @Test func `delete-group through a symbolic link removes the directory, too`() async throws {
        let container = try await container()
        let link = container.directory + "/link"
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: "container")
        let outcome = try await container.start("groupctl", ["delete-group", link, "--yes", "--json"]).finish()
        #expect(outcome.status == 0 && outcome.text.hasSuffix("\"directoryRemoved\":true}\n"), "\(outcome)")
        #expect(try await container.shell("ls \"${1%/*}\"").lines == ["link", "outside"])
    }

    @Test func `delete-group leaves an empty directory that cannot be removed`() async throws {
        let container = try await container()
        let command = try RunningProcess(
            "groupctl", ["delete-group", "./", "--yes", "--json"], environment: container.environment,
            directory: container.path)
        let outcome = try await command.finish()
        #expect(outcome.status == 0 && outcome.text.hasSuffix("\"directoryRemoved\":false}\n"), "\(outcome)")
        #expect(outcome.errors.contains("itself remains"), "\(outcome)")
        #expect(try await container.shell("ls -A \"$1\"").lines == [])
    }

    @Test func `delete-group deletes a container without lock file and member table`() async throws {
        let container = try await container()
        _ = try await container.shell("rm \"$1/.group/lock\" \"$1/.group/members\"")
        let outcome = try await container.run("delete-group", "--yes")
        #expect(outcome.status == 0, "\(outcome)")
        #expect(try await container.shell("ls \"${1%/*}\"").lines == ["outside"])
    }

    @Test func `delete-group refuses a container that a process has open, and names it`() async throws {
        let container = try await container()
        let follower = try await container.watching("--purpose", "the-watcher")
        let outcome = try await container.run("delete-group", "--yes", "--json")
        #expect(outcome.status == 75)
        let error = try JSONError(outcome)
        #expect(error.holders.map(\.pid) == [follower.identifier] && error.holders.map(\.purpose) == ["the-watcher"])
        #expect(try container.content("g") == "1")
        follower.signal(SIGKILL)
        _ = try await follower.finish()
        #expect(try await container.run("delete-group", "--yes").status == 0)
    }

    @Test(.enabled(if: canPlayNobody, "needs root, setpriv(1), and a build directory that every user may enter"))
    func `delete-group ends followers that are not members`() async throws {
        let container = try TemporaryContainer()
        _ = try await container.shell(
            "chmod 755 \"$1/..\" \"$1\" \"$1/.group\" \"$1/.group/journal\"; chmod 644 $1/.group/[flmr]* $1/.group/journal/*"
        )
        let follower = try container.start(
            "setpriv", nobody() + [BuildDirectory.resolve("watch-group"), "--verbose", container.path])
        #expect(try await follower.readLine(from: .errors)?.hasPrefix("watching") == true)
        #expect(try await container.run("delete-group", "--yes").status == 0)
        let outcome = try await follower.finish()
        #expect(outcome.status == 66, "\(outcome)")
        #expect(outcome.errors.contains("the container was removed"))
    }

    @Test(.enabled(if: canPlayNobody, "needs root, setpriv(1), and a build directory that every user may enter"))
    func `delete-group begins nothing that it may not finish, and names the directory in the way`() async throws {
        let container = try TemporaryContainer()
        let made = try await container.shell(
            """
            cd "$1"; chmod 755 ..; mkdir -p mine/empty mine/inner; : > mine/inner/f
            chown -R 65534:65534 . && chown 0:0 mine/empty mine/inner && chmod 755 mine/inner
            """)
        #expect(made.status == 0, "\(made)")
        func delete() async throws -> RunningProcess.Outcome {
            try await container.start(
                "setpriv", nobody() + [BuildDirectory.resolve("groupctl"), "delete-group", container.path, "--yes"]
            ).finish()
        }
        let refused = try await delete()
        #expect(refused.status == 77, "\(refused)")
        #expect(
            refused.errors.contains("cannot delete 'mine/inner' in '\(container.path)': it is a directory of user 0"),
            "\(refused)")
        #expect(try await container.done("list").lines == ["mine/"], "it still is a container")
        // This is the state after a deletion that was interrupted.
        _ = try await container.shell("mv \"$1/.group\" \"$1/.group.deleted\"")
        let again = try await delete()
        #expect(again.status == 77 && again.errors.contains("have user 0 remove 'mine/inner'"), "\(again)")
        let found = try await container.start(
            "setpriv", nobody() + [BuildDirectory.resolve("groupctl"), "doctor", container.path]
        ).finish()
        #expect(found.text.contains("have user 0, or root, remove 'mine/inner'; then finish it"), "\(found)")
        _ = try await container.shell("rm -r \"$1/mine/inner\"")
        let done = try await delete()
        #expect(done.status == 0, "\(done)")
        #expect(try await container.shell("ls -A \"$1\"").lines == [])
    }

    @Test func `delete-group continues an interrupted deletion`() async throws {
        let container = try await container()
        // This is the state after the rename.
        _ = try await container.shell("mv \"$1/.group\" \"$1/.group.deleted\"; rm \"$1/.group.deleted/format\"")
        for call in [["list"], ["read", "g"], ["status"]] {
            let words = [call[0], container.path] + call.dropFirst()
            #expect(try await container.start("groupctl", words).finish().status == 66)
        }
        #expect(try await container.run("delete-group", "--yes").status == 0)
        #expect(try await container.shell("ls \"${1%/*}\"").lines == ["outside"])
    }

    @Test func `an interrupted deletion is reported by doctor and every opening`()
        async throws
    {
        let container = try await container()
        _ = try await container.shell("mv \"$1/.group\" \"$1/.group.deleted\"; rm \"$1/.group.deleted/format\"")
        let rest = try await container.shell("cd \"$1\"; find . | sort").lines
        let how = "groupctl delete-group --yes"
        for words in [["create"], ["create", "--unix-group", "root"], ["list"], ["status"]] {
            let outcome = try await container.start("groupctl", [words[0], container.path] + words.dropFirst()).finish()
            #expect(outcome.status == (words[0] == "create" ? 4 : 66), "\(outcome)")
            #expect(
                outcome.errors.contains("its deletion was interrupted") && outcome.errors.contains(how), "\(outcome)")
        }
        for words in [["--json"], ["--json", "--repair"]] {
            let found = try await container.start("groupctl", ["doctor", container.path] + words).finish()
            #expect(found.status == 1 && found.lines.count == 1, "\(found)")
            #expect(found.text.contains("\"code\":\"deletionInterrupted\"") && found.text.contains(how), "\(found)")
        }
        #expect(try await container.shell("cd \"$1\"; find . | sort").lines == rest)
        #expect(try await container.run("delete-group", "--yes").status == 0)
        try await container.done("create")
        #expect(try await container.done("list").lines == [])
    }

    @Test(.enabled(if: Strace.isThere, "needs strace"))
    func `delete-group can be continued after a kill at any system call`() async throws {
        let model = try TemporaryContainer()
        _ = try await model.shell("cd \"$1\"; mkdir a; : > a/f; : > g")
        let command = { (container: TemporaryContainer) in ["groupctl", "delete-group", container.path, "--yes"] }
        let calls = try Strace.calls(of: command(model), input: "", in: model)
            .filter { ["renameat2", "unlinkat"].contains($0.name) }
        #expect(calls.count > 8)
        for call in calls {
            let container = try TemporaryContainer()
            _ = try await container.shell("cd \"$1\"; mkdir a; : > a/f; : > g")
            let killed = try Strace.run(command(container), fault: .kill, at: call)
            #expect(killed.status == 137, "\(call) \(killed)")
            let found = try await container.run("doctor", "--json")
            let isWhole = call.name == "renameat2" || call == calls.first
            #expect(isWhole || found.text.contains("\"deletionInterrupted\"") || call == calls.last, "\(call) \(found)")
            #expect(try await container.run("delete-group", "--yes").status == (call == calls.last ? 66 : 0), "\(call)")
        }
    }

    @Test(.enabled(if: SmallFileSystem.isPossible, "needs root and the permission to mount"))
    func `delete-group does not delete files of a mounted file system`() async throws {
        let container = try await container()
        let script = """
            mkdir "$1/mounted" && mount --bind "$1/../outside" "$1/mounted" && "$0" delete-group "$1" --yes; echo $?
            """
        let outcome = try await container.start(
            "unshare", ["-m", "sh", "-c", script, BuildDirectory.resolve("groupctl"), container.path]
        ).finish()
        #expect(outcome.lines == ["69"] && outcome.errors.contains("'mounted'"), "\(outcome)")
        #expect(try container.content("g") == "1")
        #expect(try await container.shell("ls \"${1%/*}/outside\"").lines == ["kept"])
    }

    @Test(arguments: ["", "garbage", #"{"format": 99}"#]) func `delete-group deletes a damaged container`(
        format: String
    )
        async throws
    {
        let container = try await container()
        try format.write(toFile: container.path + "/.group/format", atomically: false, encoding: .utf8)
        #expect(try await container.run("delete-group", "--yes").status == 0)
        #expect(try await container.shell("ls \"${1%/*}\"").lines == ["outside"])
    }
}
