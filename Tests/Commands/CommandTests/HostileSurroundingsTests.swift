import Foundation
import TestSupport
import Testing

@Suite(.tags(.process, .root, .namespaces)) struct `Hostile surroundings` {
    @Test(arguments: [".group/journal/1.log", ".group/format", ".group/members", ".group/lock"])
    func `a FIFO in place of a container's file is damage and blocks no command`(file: String) async throws {
        let container = try TemporaryContainer()
        try await container.done("write", "a", input: "1")
        #expect(try await container.shell("rm \"$1/$2\" && mkfifo \"$1/$2\"", file).status == 0)
        let outcome = try await container.run("read", "a")
        #expect([65, 69, 74].contains(outcome.status), "\(outcome)")
        #expect(outcome.errors.contains(file), "\(outcome)")
    }

    @Test func `a FIFO in place of a widget's record is damage`() async throws {
        let container = try TemporaryContainer()
        try await container.done("refresh", "w")
        let record = ".group/widgets/w/record.json"
        #expect(try await container.shell("rm \"$1/$2\" && mkfifo \"$1/$2\"", record).status == 0)
        #expect(try await container.run("refresh", "w").status == 65)
    }

    @Test(arguments: ["/.group", "/.group/members", ""])
    func `a follower ends when its container or the member table is removed`(removed: String) async throws {
        let container = try TemporaryContainer()
        let watch = try await container.watching()
        #expect(try await container.shell("rm -rf \"$1$2\"", removed).status == 0)
        let outcome = try await watch.finish()
        #expect(outcome.status == (removed == "/.group/members" ? 65 : 66), "\(outcome)")
        #expect(outcome.errors.contains("was removed"), "\(outcome)")
    }

    @Test func `a container without its format file is not created anew`() async throws {
        let container = try TemporaryContainer()
        try await container.done("write", "a", input: "1")
        #expect(try await container.shell("rm \"$1/.group/format\"").status == 0)
        #expect(try await container.run("create").status == 65)
        #expect(try await container.shell("test ! -e \"$1/.group/format\"").status == 0)
    }

    @Test func `a closed standard input is an error, not an empty input`() async throws {
        let container = try TemporaryContainer()
        try await container.done("write", "a", input: "1")
        #expect(try await container.shell("groupctl write \"$1\" a <&-").status == 74)
        #expect(try container.content("a") == "1")
        #expect(try await container.shell("groupctl read \"$1\" a >&-").status == 74)
    }

    // fault: short-write
    @Test func `a limit of file size is an error that leaves the old content`() async throws {
        let container = try TemporaryContainer()
        try await container.done("write", "a", input: "1")
        let script = "ulimit -f 8; head -c 200000 /dev/zero | groupctl write \"$1\" a"
        let outcome = try await container.shell(script)
        #expect(outcome.status == 74 && outcome.errors.contains("File too large"), "\(outcome)")
        #expect(try container.content("a") == "1")
        #expect(try await container.shell("ls \"$1/.group/staging\"").output.isEmpty)
    }

    @Test(arguments: 8...20)
    func `a low limit of open files suffices or is an error`(limit: Int) async throws {
        let container = try TemporaryContainer()
        for command in ["watch-group -t 0.2 \"$1\"", "groupctl write \"$1\" a"] {
            let outcome = try await container.shell("ulimit -n \(limit); \(command)")
            #expect([0, 1, 2, 127].contains(outcome.status), "\(command): \(outcome)")
        }
    }

    @Test(arguments: ["update \"$1\" a -- cat", "refresh \"$1\" w -- head -c 400000000 /dev/zero"])
    func `an error at a limit of a COMMAND's output names the limit and the item`(command: String) async throws {
        let container = try TemporaryContainer()
        try await container.done("write", "a", input: String(repeating: "x", count: 200_000))
        let isUpdate = command.hasPrefix("update")
        for limit in ["-f 8", "-n 8", "-n 9", "-n 10", "-n 11", "-n 12", "-n 13", "-n 14", "-n 15", "-n 16"] {
            let outcome = try await container.shell("ulimit \(limit); groupctl \(command)")
            if [0, 127].contains(outcome.status) { continue }
            #expect(outcome.errors.contains("cannot "), "\(limit): \(outcome)")
            if limit == "-f 8" && isUpdate {
                #expect(
                    outcome.status == 74 && outcome.errors.contains("'a' in '\(container.path)': File too large"),
                    "\(outcome)")
            }
        }
        #expect(try container.content("a").count == 200_000)
    }

    @Test(arguments: [("update \"$1\" a -- yes", "268435456", ""), ("refresh \"$1\" w -- yes", "33554432", "failed\n")])
    func `a COMMAND that prints without end is ended with an error that names the limit`(
        command: String, limit: String, output: String
    ) async throws {
        let container = try TemporaryContainer()
        try await container.done("write", "a", input: "old")
        let outcome = try await container.shell("groupctl \(command)")
        #expect(outcome.status == 1 && outcome.text == output, "\(outcome.status) \(outcome.errors)")
        #expect(outcome.errors.contains("more than \(limit) bytes"), "\(outcome.errors)")
        #expect(outcome.errors.contains("write the item itself") == output.isEmpty, "\(outcome.errors)")
        #expect(try container.content("a") == "old")
    }

    @Test func `a message that is too long is refused before all of it is read`() async throws {
        let container = try TemporaryContainer()
        let outcome = try await container.shell("yes | groupctl channels post \"$1\" c")
        #expect(outcome.status == 1, "\(outcome)")
        #expect(outcome.errors.contains("a message has at most 16777216 bytes"), "\(outcome)")
    }

    @Test(.enabled(if: isRoot && succeeds(["unshare", "-m", "true"]), "needs root and mount namespaces"))
    func `a command without /proc gets its arguments and names what is missing`() async throws {
        let container = try TemporaryContainer()
        try await container.done("write", "a", input: "content")
        let script = """
            PATH="$2:$PATH"; mount -t tmpfs none /proc && groupctl --version && groupctl path --help >/dev/null &&
                watch-group --version && groupctl read "$1" a
            """
        let outcome = try await container.start(
            "unshare", ["-m", "sh", "-c", script, "sh", container.path, BuildDirectory.path]
        ).finish()
        #expect(outcome.lines.count == 2 && outcome.status == 69, "\(outcome)")
        #expect(outcome.errors.contains("/proc is not mounted; mount it"), "\(outcome)")
    }

    @Test func `the option -q is --quiet`() async throws {
        let container = try TemporaryContainer()
        let outcome = try await container.run("read", "-q", "nothing")
        #expect(outcome.status == 66 && outcome.errors.isEmpty, "\(outcome)")
    }

    @Test(.enabled(if: canPlayNobody, "needs root, setpriv(1), and a build directory that every user may enter"))
    func `members of one Unix group write each other's items, whatever their umask`() async throws {
        let container = try TemporaryContainer(creating: false)
        #expect(
            try await container.shell("groupctl create \"$1\" --unix-group games && chmod 711 \"$1/..\"").status == 0)
        let script = """
            umask 077
            group=$(getent group games | cut -d : -f 3)
            for user in 65533 65534; do
                for item in Library/deep/shared Library/$user; do
                    echo $user | setpriv --reuid $user --regid $user --groups $group \
                        "$(command -v groupctl)" write "$1" $item || exit
                done
            done
            """
        let outcome = try await container.shell(script)
        #expect(outcome.status == 0, "\(outcome)")
        #expect(try container.content("Library/deep/shared") == "65534\n")
    }
}
