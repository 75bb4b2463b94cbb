import Foundation
import TestSupport
import Testing

@Suite(.tags(.process))
struct `watch-group --since snapshot` {
    @Test func `--since snapshot prints the items, a bookmark, and then changes`() async throws {
        let container = try TemporaryContainer()
        for item in ["b/a", "a", "gone"] { try await container.done("write", item, input: "12") }
        try await container.done("remove", "gone")
        // No process watches, and the change is detected nevertheless.
        _ = try await container.shell("mkdir \"$1/f\" && echo x > \"$1/f/foreign\"")
        let watcher = try await container.watching("--since", "snapshot", "--json", "--count", "7")
        let changes = try await watcher.readLines(6).map { try JSONChange($0) }
        #expect(changes.map(\.kind) == ["present", "present", "present", "present", "present", "bookmark"])
        #expect(changes.map(\.path) == ["a", "b", "b/a", "f", "f/foreign", ""])
        #expect(changes.map(\.type) == ["file", "directory", "file", "directory", "file", nil])
        #expect(changes[2].size == 2 && changes[2].generation == 2 && changes[2].by == nil)
        #expect(changes.allSatisfy { $0.sequence == changes[5].sequence })
        try await container.done("write", "later", input: "1")
        let last = try JSONChange(try #require(try await watcher.readLine()))
        #expect(last.kind == "created" && last.path == "later" && last.sequence == changes[5].sequence + 1)
        let again = try await container.watch("--since", changes[5].cursor, "--count", "1").finish()
        #expect(again.lines == ["created\tlater"])
        let middle = try await container.watch("--since", changes[1].cursor, "--count", "1").finish()
        #expect(middle.lines.first?.hasPrefix("rescan") == true, "half a snapshot is no place to begin")
    }

    @Test func `a snapshot that was cut off begins again, and a complete snapshot does not`() async throws {
        let container = try TemporaryContainer()
        for item in ["a", "b"] { try await container.done("write", item, input: "1") }
        let file = container.directory + "/cursor"
        let words = ["--since", "snapshot", "--cursor-file", file, "--count"]
        for _ in 0..<2 {
            #expect(
                try await container.watch(words[0], words[1], words[2], words[3], words[4], "1").finish().lines == [
                    "present\ta"
                ])
        }
        let all = try await container.watch(words[0], words[1], words[2], words[3], words[4], "3").finish()
        #expect(all.lines == ["present\ta", "present\tb", "bookmark\t"])
        try await container.done("write", "c", input: "1")
        let rest = try await container.watch(words[0], words[1], words[2], words[3], words[4], "1").finish()
        #expect(rest.lines == ["created\tc"])
    }

    @Test func `--since snapshot after a lost place prints a rescan and all items`() async throws {
        let (container, other) = (try TemporaryContainer(), try TemporaryContainer())
        try await container.done("write", "a", input: "1")
        let file = container.directory + "/cursor"
        let foreign = try await JSONStatus(of: other).journal.cursor
        _ = try await container.shell("echo \"$2\" > \"$3\"", foreign, file)
        let outcome = try await container.watch("--since", "snapshot", "--cursor-file", file, "-n", "3").finish()
        #expect(outcome.lines == ["rescan\t", "present\ta", "bookmark\t"])
        let plain = try await container.watch("--since", foreign, "--timeout", "100ms").finish()
        #expect(plain.lines == ["rescan\t"] && plain.status == 2)
    }

    @Test func `--bookmarks prints a bookmark at the beginning and after each quiet time`() async throws {
        let container = try TemporaryContainer()
        try await container.done("write", "a", input: "1")
        let watcher = try await container.watching("--since", "start", "--bookmarks", "--json", "--include", "[ab]")
        #expect(try await watcher.readLines(2).map { try JSONChange($0).kind } == ["created", "bookmark"])
        try await container.done("write", "b", input: "1")
        #expect(try await watcher.readLines(2).map { try JSONChange($0).kind } == ["created", "bookmark"])
        // A change that is left out advances the cursor, too.
        try await container.done("write", "other", input: "1")
        let bookmark = try JSONChange(try #require(try await watcher.readLine()))
        #expect(bookmark.kind == "bookmark" && bookmark.sequence == 3)
        let rest = try await container.watch("--since", bookmark.cursor, "--timeout", "0").finish()
        #expect(rest.status == 2 && rest.output.isEmpty)
        watcher.signal(SIGTERM)
        #expect(try await watcher.finish().lines.count == 5, "once each")
    }
}
