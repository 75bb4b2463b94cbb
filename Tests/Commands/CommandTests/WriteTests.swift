import Foundation
import TestSupport
import Testing

@Suite(.tags(.process, .root))
struct `groupctl write` {
    @Test func `write replaces the content and keeps the mode`() async throws {
        let container = try TemporaryContainer()
        try await container.done("write", "a", input: "1")
        for mode in ["640", "444", "4755"] {
            #expect(try await container.shell("chmod \(mode) \"$1/a\"").status == 0)
            try await container.done("write", "a", input: "content for \(mode)")
            #expect(try container.content("a") == "content for \(mode)")
            #expect(try container.mode("a") == Int(mode, radix: 8))
        }
    }

    @Test func `what killed writers left in staging goes with the next command, while members live`() async throws {
        let container = try TemporaryContainer()
        let watcher = try await container.watching()
        // A writer has up to a mebibyte in memory, and the rest in staging.
        let script = """
            for n in 1 2 3; do
                mkfifo "fifo$n"; exec {open}<>"fifo$n"
                groupctl write "$1" "item$n" <"fifo$n" & writers="$writers $!"; head -c 5000000 /dev/zero >"fifo$n"
            done
            for try in $(seq 200); do
                [ "$(du -s "$1/.group/staging" | cut -f 1)" -gt 8000 ] && break; sleep 0.05
            done
            du -s "$1/.group/staging" | cut -f 1
            kill -KILL $writers; wait; groupctl list "$1"; du -s "$1/.group/staging" | cut -f 1
            """
        let outcome = try await container.start(
            "bash", ["-c", "cd \"$1/..\"; " + script, "sh", container.path]
        ).finish()
        let sizes = outcome.lines.compactMap { Int($0) }
        #expect(sizes.count == 2 && sizes[0] > 8_000 && sizes[1] < 100, "\(outcome)")
        watcher.signal(15)
        _ = try await watcher.finish()
    }

    @Test func `write creates a new item with the mode of the umask`() async throws {
        let container = try TemporaryContainer()
        #expect(try await container.shell("umask 027; echo x | groupctl write \"$1\" f/a").status == 0)
        #expect(try container.mode("f/a") == 0o640)
        #expect(try container.mode("f") == 0o750)
    }

    @Test func `write --mode sets the mode`() async throws {
        let container = try TemporaryContainer()
        try await container.done("write", "a", "--mode", "600", input: "1")
        #expect(try container.mode("a") == 0o600)
        try await container.done("write", "a", "--mode=0664", input: "2")
        #expect(try container.mode("a") == 0o664)
        try await container.done("write", "a", "--mode", "640", input: "2")
        #expect(try container.mode("a") == 0o640, "the same content, another mode")
        let lines = try await container.done("changes", "--since", "start").lines
        #expect(lines == ["created\ta", "modified\ta", "touched\ta"])
    }

    @Test(.enabled(if: isRoot)) func `write keeps owner and group`() async throws {
        let container = try TemporaryContainer()
        try await container.done("write", "a", input: "1")
        #expect(try await container.shell("chown 65534:60 \"$1/a\"").status == 0)
        try await container.done("write", "a", input: "2")
        #expect(try await container.shell("stat -c %u:%g \"$1/a\"").text == "65534:60\n")
    }

    // fault: attributes
    @Test func `write keeps extended attributes`() async throws {
        let container = try TemporaryContainer()
        try await container.done("write", "a", input: "1")
        // Memory file systems of older kernels have no attributes of users, and Glibc's module no setxattr.
        let script = "import os, sys; f = sys.argv[1] + '/a'; os.setxattr(f, 'user.test', b'v')"
        guard try await container.shell("python3 -c \"$2\" \"$1\"", script).status == 0 else { return }
        try await container.done("write", "a", input: "2")
        let check = "import os, sys; print(os.listxattr(sys.argv[1] + '/a'))"
        let attributes = try await container.shell("python3 -c \"$2\" \"$1\"", check)
        #expect(attributes.status == 0, "\(attributes)")
        #expect(attributes.text == "['user.test']\n")
    }

    // fault: hard-links
    @Test func `write leaves another hard link with the old content`() async throws {
        let container = try TemporaryContainer()
        try await container.done("write", "a", input: "old")
        #expect(try await container.shell("ln \"$1/a\" \"$1/b\"").status == 0)
        try await container.done("write", "a", input: "new")
        #expect(try container.content("a") == "new" && container.content("b") == "old")
    }

    @Test func `write of the same content changes nothing, and ends with 3 with --exit-code`() async throws {
        let container = try TemporaryContainer()
        try await container.done("write", "a", input: "same")
        let inode = try await container.shell("stat -c %i-%y \"$1/a\"").text
        #expect(try await container.run("write", "a", input: "same").status == 0)
        #expect(try await container.run("write", "a", "--exit-code", input: "same").status == 3)
        #expect(try await container.shell("stat -c %i-%y \"$1/a\"").text == inode)
        #expect(try await container.run("write", "a", "--exit-code", input: "other").status == 0)
        #expect(try await container.done("changes", "--since", "start").lines == ["created\ta", "modified\ta"])
    }

    @Test func `write --json prints its outcome`() async throws {
        let container = try TemporaryContainer()
        let first = try await container.done("write", "f/a", "--json", input: "1")
        #expect(first.text == #"{"path":"f/a","outcome":"written","generation":2}"# + "\n")
        let second = try await container.done("write", "f/a", "--json", input: "1")
        #expect(second.text == #"{"path":"f/a","outcome":"unchanged","generation":null}"# + "\n")
        let verbose = try await container.done("write", "f/a", "--verbose", input: "2")
        #expect(verbose.output.isEmpty && verbose.errors == "'f/a' is at generation 3\n")
    }

    @Test func `write creates missing directories, each a change`() async throws {
        let container = try TemporaryContainer()
        try await container.done("write", "a/b/c", input: "1")
        try await container.done("write", "a/b/d", "--relaxed", input: "1")
        #expect(
            try await container.done("changes", "--since", "start").lines
                == ["created\ta", "created\ta/b", "created\ta/b/c", "created\ta/b/d"])
    }

    @Test(arguments: [0, 1, 65_536, 5_000_000]) func `write accepts content of any length`(length: Int) async throws {
        let container = try TemporaryContainer()
        let content = (0..<length).map { UInt8(truncatingIfNeeded: $0 ^ $0 >> 8) }
        try await container.done("write", "a", "--relaxed", input: content)
        #expect(try Data(contentsOf: URL(fileURLWithPath: container.path + "/a")) == Data(content))
        #expect(try await container.done("read", "a").output == content)
    }

    @Test func `write accepts a name that is not UTF-8, and every command prints it`() async throws {
        let container = try TemporaryContainer()
        let name: [UInt8] = [0x66, 0xFF, 0xC3, 0xA4, 0x80]
        let watcher = try await container.watching("--count", "1")
        let json = try await container.watching("--count", "1", "--json")
        try await container.done("write", name, input: "content")
        #expect(try await container.done("read", name).text == "content")
        #expect(try await container.done("list").lines == [#"f\377ä\200"#])
        #expect(try await watcher.finish().lines == ["created\tf\\377ä\\200"])
        let encoded = Data(name).base64EncodedString()
        let listed = try await container.done("list", "--json").text
        #expect(listed.hasPrefix(#"{"path":"f\\377ä\\200","pathBytes":"\#(encoded)","type":"file","size":7,"#))
        let change = try JSONChange(try #require(try await json.finish().lines.first))
        #expect(change.path == #"f\377ä\200"# && change.pathBytes == encoded)
        let missing = try await container.run("read", name + [0xFE])
        #expect(missing.status == 66 && missing.errors.contains("'f\\377"), "\(missing)")
    }
}
