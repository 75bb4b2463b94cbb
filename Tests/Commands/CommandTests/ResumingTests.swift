import Foundation
import TestSupport
import Testing

@Suite(.tags(.process))
struct `The script of docs/guide/following.md` {
    /// The block in which a consumer keeps its own place.
    private static func script() throws -> String {
        let guide = projectDirectory.appending(path: "docs/guide/following.md")
        let blocks = try String(contentsOf: guide, encoding: .utf8).components(separatedBy: "```sh\n").dropFirst()
        let block = blocks.compactMap { $0.components(separatedBy: "```").first }.first {
            $0.contains("handle \"$kind\"")
        }
        return try #require(block).replacingOccurrences(of: "watch-group", with: "watch-group --timeout 0")
            .replacingOccurrences(of: "./shared/", with: "container/")
    }

    /// Returns the handled changes, after the whole pipeline was killed while it handled a change that was printed long
    /// before, and the script was run again to the end.
    private func handled(killedAt path: String, _ container: TemporaryContainer) async throws -> [String] {
        let handle = """
            cd "$1/.."
            handle() {
                if [ "$2" = "\(path)" ] && [ ! -e killed ]; then >killed; sleep 0.5; kill -KILL 0; fi
                echo "$1 $2" >>handled
            }

            """
        for _ in 0..<2 {
            _ = try await container.start("setsid", ["-w", "bash", "-c", handle + Self.script(), "sh", container.path])
                .finish()
        }
        return try String(contentsOfFile: container.directory + "/handled", encoding: .utf8).split(separator: "\n")
            .map(String.init)
    }

    @Test(arguments: ["a", "c", "d", "e"])
    func `the documented script handles each change once, although its pipeline is killed`(path: String) async throws {
        let container = try TemporaryContainer()
        for item in ["a", "b"] { try await container.done("write", item, input: "1") }
        let steps = try await container.start(
            "test-member", ["steps", container.path], input: "transaction write c 1 ; move b d\n"
        ).finish()
        #expect(steps.text == "ok 1\n")
        try await container.done("write", "e", input: "1")
        let handled = try await handled(killedAt: path, container)
        #expect(handled == ["created a", "created b", "created c", "moved d", "created e"])
    }

    @Test func `the documented script goes on in another container`() async throws {
        let (container, other) = (try TemporaryContainer(), try TemporaryContainer())
        for item in ["a", "b"] { try await container.done("write", item, input: "1") }
        #expect(try await handled(killedAt: "none", container) == ["created a", "created b"])
        try await other.done("write", "z", input: "1")
        let script = "rm -r \"$1\" && mv \"$2\" \"$1\""
        #expect(try await container.shell(script, other.path).status == 0)
        try await container.done("write", "y", input: "1")
        let handled = try await handled(killedAt: "none", container)
        #expect(handled.dropFirst(2).first == "rescan ", "\(handled)")
    }

    @Test func `the cursor before a line is the place after the line`() async throws {
        let container = try TemporaryContainer()
        let steps = try await container.start(
            "test-member", ["steps", container.path], input: "write b 1\ntransaction write c 1 ; move b d\nwrite e 1\n"
        ).finish()
        #expect(steps.lines.count == 3, "\(steps)")
        let words = ["--since", "start", "--cursor", "--sequence", "--timeout", "1"]
        let lines = try await container.watch(words[0], words[1], words[2], words[3], words[4], words[5]).finish().lines
        #expect(lines.count == 4, "\(lines)")
        for (index, line) in lines.enumerated() {
            let place = try #require(line.split(separator: "\t").first)
            let rest = try await container.done("changes", "--since", String(place), "--cursor", "--sequence").lines
            // From the middle of a transaction, all of it comes again.
            let first = index == 1 ? 1 : index + 1
            #expect(rest.map { $0.drop { $0 != "\t" } } == lines[first...].map { $0.drop { $0 != "\t" } }, "\(line)")
        }
        let snapshot = try await container.watch("--since", "snapshot", "--cursor", "--timeout", "0").finish().lines
        #expect(snapshot.map { $0.hasPrefix("snapshot\tpresent") } == [true, true, true, false], "\(snapshot)")
        for other in [["--json"], ["--format", "%f"], ["--defaults", "s"], ["--", "true"]] {
            let refused = try await container.start("watch-group", ["--cursor", container.path] + other).finish()
            #expect(refused.status == 64, "\(other): \(refused)")
        }
    }
}
