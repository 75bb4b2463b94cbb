import Foundation
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(2)), .tags(.process))
struct `watch-group --defaults -- COMMAND` {
    private static let all =
        #"cat; echo "$GROUP_KEYS $GROUP_FAILURES [$GROUP_RESCAN] [$GROUP_CLEARED] $GROUP_SUITE $GROUP_CURSOR $GROUP_CONTAINER""#

    @Test func `COMMAND gets each changed key once, and the cursor after the batch`() async throws {
        let container = try TemporaryContainer()
        _ = try await container.defaults("s", "batch", input: "set 'a\tb' 1\nset c 1\nset 'a\tb' 2\nclear\n")
        let file = container.directory + "/cursor"
        let words = ["--defaults", "s", "--since", "start", "-n", "1"] + WatchWords.oneBatch
        let outcome = try await container.start(
            "watch-group", words + ["--cursor-file", file, container.path, "--", "sh", "-c", Self.all]
        ).finish()
        #expect(outcome.status == 0 && outcome.errors == "" && outcome.lines.count == 3, "\(outcome)")
        let place = try String(contentsOfFile: file, encoding: .utf8).trimmingCharacters(in: .newlines)
        #expect(outcome.lines == [#"a\tb"#, "c", "2 0 [] [1] s \(place) \(container.path)"], "\(outcome)")
        let asTheyAre = try await container.start("watch-group", words + ["-0", container.path, "--", "cat"]).finish()
        #expect(asTheyAre.text == "a\tb\0c\0", "\(asTheyAre)")
        let rest = try await container.watch("--defaults", "s", "--cursor-file", file, "--timeout", "0").finish()
        #expect(rest.output.isEmpty && rest.status == 2)
    }

    @Test func `a COMMAND for keys that fails gets the same keys and newer ones again`() async throws {
        let container = try TemporaryContainer()
        _ = try await container.defaults("s", "set", "a", "1")
        let file = container.directory + "/cursor"
        let script = """
            cat; cat "$2"; echo "failures $GROUP_FAILURES"
            if [ "$GROUP_FAILURES" = 0 ]; then groupctl defaults set "$1" s b 1; exit 3; fi
            """
        let outcome = try await container.start(
            "watch-group",
            [
                "--defaults", "s", "--since", "start", "--cursor-file", file, "-n", "1",
            ] + WatchWords.oneBatch + [container.path, "--", "sh", "-c", script, "sh", container.path, file]
        ).finish()
        #expect(outcome.status == 0 && outcome.lines.count == 7, "\(outcome)")
        #expect(outcome.lines.first == "a" && outcome.lines.dropFirst(3).prefix(2) == ["a", "b"], "\(outcome)")
        #expect(outcome.lines[1] == outcome.lines[5] && outcome.lines[6] == "failures 1", "\(outcome)")
        #expect(outcome.errors.contains("'sh' ended with status 3; it is run again in 0.5 s"), "\(outcome)")
        let rest = try await container.watch("--defaults", "s", "--cursor-file", file, "--timeout", "0").finish()
        #expect(rest.output.isEmpty)
    }

    @Test func `COMMAND for keys runs for later sets, gets GROUP_RESCAN, and ends by a signal`() async throws {
        let (container, other) = (try TemporaryContainer(), try TemporaryContainer())
        let foreign = try await JSONStatus(of: other).journal.cursor
        let watcher = try container.start(
            "watch-group", ["--defaults", "s", "--since", foreign, container.path, "--", "sh", "-c", Self.all])
        #expect(try await watcher.readLine()?.hasPrefix("0 0 [1] [] s g1-") == true)
        _ = try await container.defaults("s", "set", "a", "1")
        #expect(try await watcher.readLine() == "a")
        #expect(try await watcher.readLine()?.hasPrefix("1 0 [] [] s g1-") == true)
        watcher.signal(SIGTERM)
        #expect(try await watcher.finish().status == 128 + SIGTERM)
        let none = try await container.start(
            "watch-group", ["--defaults", "s", "--timeout", "10ms", container.path, "--", "cat"]
        ).finish()
        #expect(none.status == 2)
    }
}
