import Foundation
import TestSupport
import Testing

/// A reader that was written from the page of the format alone.
@Suite(.enabled(if: succeeds(["python3", "--version"]), "needs python3"), .tags(.process, .namespaces))
struct `reader.py` {
    private static let program = projectDirectory.appending(path: "docs/reference/reader.py").path

    private func read(_ container: TemporaryContainer) async throws -> [String] {
        let outcome = try await container.start("python3", [Self.program, container.path, "--once"]).finish()
        #expect(outcome.status == 0 && outcome.errors.isEmpty, "\(outcome)")
        return outcome.lines
    }

    /// Checks that its lines are those of `groupctl`.
    private func compare(_ container: TemporaryContainer, atLeast count: Int) async throws {
        let expected = try await container.done("changes", "--since", "start").lines
        #expect(expected.count >= count, "\(expected.count)")
        #expect(try await read(container) == expected)
    }

    @Test func `reader.py reads every kind of change`() async throws {
        let container = try TemporaryContainer()
        for name in ["a", "f/b", "tab\there", #"back\slash"#, "new\nline", "ä\u{1B}\u{85}"] {
            try await container.done("write", name, input: "1")
        }
        try await container.done("write", "a", input: "2")
        try await container.done("move", "a", "g/c")
        try await container.done("copy", "-r", "f", "h")
        try await container.done("remove", "-r", "f")
        _ = try await container.shell(
            "cd \"$1\"; : > foreign; chmod 600 g/c; printf '' > $(printf 'not\\377utf8'); mkdir d; : > d/e; mv h d/i")
        try await compare(container, atLeast: 15)
    }

    // fault: appender-stopped
    @Test func `reader.py follows a journal as watch-group does while it is written and dropped`() async throws {
        let container = try TemporaryContainer(creating: false)
        try await container.done("create", "--journal-size", "2M")
        let reader = try container.start("python3", ["-u", Self.program, container.path])
        let words = ["--since", "start", container.path]
        let follower = try container.start("watch-group", words)
        let script = """
            "$2" transact "$1" 1500 > /dev/null & "$2" count "$1" number 300 > /dev/null &
            "$2" write "$1" item 2000 > /dev/null & kill -STOP $!; kill -CONT $!; wait; : > "$1/last"
            """
        #expect(try await container.shell(script, BuildDirectory.resolve("test-member")).status == 0)
        var lines: (ours: [String], its: [String]) = ([], [])
        while lines.ours.last != "created\tlast", let line = try await follower.readLine() { lines.ours.append(line) }
        while lines.its.last != "created\tlast", let line = try await reader.readLine() { lines.its.append(line) }
        #expect(lines.ours.count > 5_000)
        #expect(lines.ours == lines.its)
        try await compare(container, atLeast: 100)
    }

    /// Writes, moves and replacements of the same names: a reader that is behind sees the last content at each line.
    static let renames = """
        cd "$1"; echo v1 >f; echo 1 >d/x; ln -s f link; sync -f .
        echo v2 >f; mv f f.bak; echo v3 >f
        echo 2 >d/x; mv d e; mkdir d; echo 3 >d/x
        mkdir t; echo 1 >t/y; mv t link.d; rm link; mv link.d link; : >t; rm t; mkdir t; echo 4 >t/y
        """

    @Test(arguments: [true, false])
    func `reader.py keeps a copy that is right, also when it is behind`(isBehind: Bool) async throws {
        let container = try TemporaryContainer()
        try await container.done("write", "d/x", input: "0")
        let copy = container.directory + "/copy"
        let reader = try container.start("python3", ["-u", Self.program, container.path, "--copy", copy])
        #expect(try await reader.readLine() == "created\td")
        let follower = try await container.watching("--since", "now")
        if isBehind { reader.signal(SIGSTOP) }
        #expect(try await container.shell(Self.renames, container.path).status == 0)
        try await container.done("write", "last", input: "x")
        reader.signal(SIGCONT)
        while let line = try await reader.readLine(), line != "created\tlast" {}
        follower.signal(SIGTERM)
        _ = try await follower.finish()
        reader.signal(SIGTERM)
        _ = try await reader.finish()
        let difference = try await container.shell("diff -r --no-dereference -x .group \"$1\" \"$2\"", copy)
        #expect(difference.status == 0, "\(difference)")
    }

    @Test func `reader.py reports degraded, and lost places after a cut`() async throws {
        let container = try TemporaryContainer(creating: false)
        try await container.done("create", "--journal-size", "1M")
        for name in ["first", "second", "third"] { try await container.done("write", name, input: "x") }
        // The segment that is cut must not be the last one: the next segment shows that it ended later.
        #expect(try await container.start("test-member", ["append", container.path, "1000", "x"]).finish().status == 0)
        #expect(FileManager.default.fileExists(atPath: container.path + "/.group/journal/2.log"))
        let file = container.path + "/.group/journal/1.log"
        let handle = try #require(FileHandle(forUpdatingAtPath: file))
        let content = try #require(try handle.readToEnd())
        let place = try #require(content.range(of: Data("second".utf8)))
        try handle.seek(toOffset: UInt64(place.lowerBound))
        try handle.write(contentsOf: Data("S".utf8))
        try handle.close()
        _ = try await container.run("doctor", "--repair")
        try await container.done("write", "new", input: "x")
        try await compare(container, atLeast: 3)
        let script = "echo 0 > /proc/sys/user/max_inotify_watches && exec \"$0\" \"$1\""
        let watcher = try container.start(
            "unshare", ["-Ur", "sh", "-c", script, BuildDirectory.resolve("watch-group"), container.path])
        #expect(try await watcher.readLine()?.hasPrefix("degraded") == true)
        watcher.signal(SIGTERM)
        _ = try await watcher.finish()
        try await compare(container, atLeast: 4)
        #expect(try await read(container).contains { $0.hasPrefix("degraded\t") })
    }
}
