import Glibc
import TestSupport
import Testing

@Suite(.tags(.process))
struct `Standard output` {
    private static let calls: [[String]] = [
        ["create", "--json"], ["path"], ["path", "--json"], ["list"], ["list", "--json"], ["read", "a"],
        ["write", "a", "--json"], ["update", "a", "--json", "--", "cat"], ["status"], ["status", "--json"],
        ["serve"], ["changes", "--since", "start"], ["changes", "--since", "start", "--json"],
    ]

    @Test(arguments: calls) func `a full standard output is an error`(call: [String]) async throws {
        let container = try TemporaryContainer()
        try await container.done("write", "a", input: "content")
        let words = [call[0], container.path] + call.dropFirst()
        let outcome = try await container.start("groupctl", words, input: "content", output: .file("/dev/full"))
            .finish()
        #expect(outcome.status == 74, "\(outcome)")
        #expect(outcome.errors.contains("standard output") && outcome.errors.contains("No space left"), "\(outcome)")
    }

    @Test(arguments: calls) func `a standard output without a reader ends a command quietly with 0`(call: [String])
        async throws
    {
        let container = try TemporaryContainer()
        try await container.done("write", "a", input: "content")
        let words = [call[0], container.path] + call.dropFirst()
        let outcome = try await container.start("groupctl", words, input: "content", output: .closedPipe).finish()
        #expect(outcome.status == 0 && outcome.errors == "", "\(outcome)")
    }

    @Test(arguments: [[], ["--json"]]) func `a full standard output of a follower is an error`(options: [String])
        async throws
    {
        let container = try TemporaryContainer()
        try await container.done("write", "a", input: "content")
        let words = ["--since", "start"] + options + [container.path]
        let outcome = try await container.start("watch-group", words, output: .file("/dev/full")).finish()
        #expect(outcome.status == 74, "\(outcome)")
        #expect(outcome.errors.contains("No space left"), "\(outcome)")
    }

    @Test func `an idle follower ends when the reader of its output is gone`() async throws {
        let container = try TemporaryContainer()
        let watcher = try await container.watching()
        watcher.closeOutput()
        let outcome = try await watcher.finish(within: .seconds(20))
        #expect(outcome.status == 0, "\(outcome)")
        let explained = outcome.errors.split(separator: "\n").dropFirst()
        #expect(explained.allSatisfy { $0.hasPrefix("leadership") }, "only lines of --verbose: \(outcome.errors)")
    }

    @Test func `a follower whose reader goes after a line ends at the next line`() async throws {
        let container = try TemporaryContainer()
        let watcher = try await container.watching()
        try await container.done("write", "a", input: "1")
        #expect(try await watcher.readLine() == "created\ta")
        watcher.closeOutput()
        try await container.done("write", "a", input: "2")
        let outcome = try await watcher.finish(within: .seconds(20))
        #expect(outcome.status == 0, "\(outcome)")
    }

    @Test func `the standard output of read is the item's content only`() async throws {
        let container = try TemporaryContainer()
        let content = (0..<300_000).map { UInt8(truncatingIfNeeded: $0 &* 7) }
        try await container.done("write", "binary", input: content)
        let outcome = try await container.done("read", "binary", "--verbose", "--json")
        #expect(outcome.output == content)
    }

    @Test func `a successful command without a result prints nothing`() async throws {
        let container = try TemporaryContainer(creating: false)
        for outcome in [
            try await container.done("create"), try await container.done("write", "a", input: "x"),
            try await container.done("update", "a", "--", "cat"),
        ] {
            #expect(outcome.output.isEmpty && outcome.errors == "", "\(outcome)")
        }
    }

    /// Runs a command whose reader never reads more than a byte, sends it a signal, and prints its status. (A shell has
    /// what it starts in the background ignore the interrupt.)
    private static let unreadScript = """
        mkfifo "$1.out" && exec 9<>"$1.out" && signal=$2 && shift 2 || exit
        env --default-signal=INT "$@" >&9 & process=$!
        head -c 1 <&9 >/dev/null
        kill -"$signal" "$process"; wait "$process"; echo "$?"
        """

    @Test(arguments: [SIGTERM, SIGINT, SIGHUP])
    func `a signal ends a follower whose reader does not read`(signal: Int32) async throws {
        let container = try TemporaryContainer()
        _ = try await container.shell(#"cd "$1" && seq -f n%06g 5000 | xargs touch"#)
        let outcome = try await container.shell(
            Self.unreadScript, "\(signal)", BuildDirectory.resolve("watch-group"), "--since", "snapshot", "--json",
            container.path)
        #expect(outcome.lines == ["\(128 + signal)"] && outcome.errors == "", "\(outcome)")
    }

    @Test func `a signal ends a listener whose reader does not read, and acknowledges nothing`() async throws {
        let container = try TemporaryContainer()
        let message = [UInt8](repeating: UInt8(ascii: "m"), count: 270_000)
        for _ in 0..<3 { try await container.done("channels post", "c", input: message) }
        let follow = ["channels", "follow", container.path, "c", "--listener", "l", "--from", "oldest"]
        let outcome = try await container.start(
            "sh",
            ["-c", Self.unreadScript, "sh", container.path, "\(SIGTERM)", BuildDirectory.resolve("groupctl")] + follow
        ).finish()
        #expect(outcome.lines == ["\(128 + SIGTERM)"] && outcome.errors == "", "\(outcome)")
        let again = try await container.start("groupctl", follow + ["--timeout", "0"]).finish()
        #expect(again.lines.count == 3, "status \(again.status), errors '\(again.errors)'")
    }
}
