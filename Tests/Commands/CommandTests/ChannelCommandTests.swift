import Foundation
import TestSupport
import Testing

@Suite(.tags(.process))
struct `groupctl channels` {
    /// The words of `channels follow` for a listener.
    private func follow(_ container: TemporaryContainer, _ words: String...) -> [String] {
        ["channels", "follow", container.path, "c", "--listener", "l"] + words
    }

    private func lines(of file: String) -> [String] {
        ((try? String(contentsOfFile: file, encoding: .utf8)) ?? "").split(separator: "\n").map(String.init)
    }

    @Test func `a listener gets a posted text, standard input and a signal in order`() async throws {
        let container = try TemporaryContainer()
        #expect(try await container.done("channels post", "c", "early").output.isEmpty)
        try await container.done("channels post", "c", input: "two\nlines\t\u{1B}\n")
        try await container.done("channels post", "c", "--signal")
        let posted = try await container.done("channels post", "c", "--json", "--durable", "--", "-x")
        #expect(posted.text == #"{"channel":"c","number":4}"# + "\n")
        let printed = try await container.start(
            "groupctl", follow(container, "--from", "oldest", "--timeout", "0")
        ).finish()
        #expect(printed.status == 2, "nothing more came: \(printed)")
        #expect(printed.lines == ["1\tearly", #"2\ttwo\nlines\t\033\n"#.replacing(#"2\t"#, with: "2\t"), "3", "4\t-x"])
        let again = try await container.start("groupctl", follow(container, "--timeout", "0")).finish()
        #expect(again.status == 2 && again.output.isEmpty, "it was acknowledged: \(again)")
    }

    @Test(.enabled(if: FileManager.default.fileExists(atPath: "/usr/bin/script"), "needs script(1)"))
    func `a new listener that begins now is named on a terminal, where messages before it would seem lost`()
        async throws
    {
        let container = try TemporaryContainer()
        func follow(_ words: String, redirected: String = "") async throws -> String {
            let program = BuildDirectory.resolve("groupctl")
            let command = "'\(program)' channels follow '\(container.path)' c --timeout 0 \(words) \(redirected)"
            return try await container.start(
                "script", ["-qec", command, "/dev/null"], environment: ["TERM": "xterm", "SHELL": "/bin/sh"]
            ).finish().text
        }
        try await container.done("channels post", "c", "early")
        let line = "new listener 'l'"
        #expect(try await follow("-l l").contains(line))
        #expect(try await follow("-l l").contains("from oldest") == false)
        for words in ["-l m --from oldest", "-l n --quiet", "-l o --json"] {
            #expect(try await !follow(words).contains("new listener"), "\(words)")
        }
        #expect(try await !follow("-l p", redirected: "2>&1 | cat").contains("new listener"))
    }

    @Test func `a message with --json has its content and its poster`() async throws {
        let container = try TemporaryContainer()
        try await container.done("channels post", "c", "a \"b\"", "--purpose", "remote")
        try await container.done("channels post", "c", input: [0xFF, 0x61] as [UInt8])
        try await container.done("channels post", "c", "--signal")
        let printed = try await container.start(
            "groupctl", follow(container, "--from", "oldest", "--count", "3", "--json")
        ).finish()
        #expect(printed.status == 0 && printed.lines.count == 3, "\(printed)")
        #expect(printed.lines[0].hasPrefix(#"{"channel":"c","number":1,"text":"a \"b\"","by":{"pid":"#))
        #expect(printed.lines[0].contains(#""purpose":"remote"},"time":"20"#))
        #expect(printed.lines[1].contains(#""text":"\\377a","bytes":"/2E=""#), "\(printed.lines[1])")
        #expect(printed.lines[2].contains(#""number":3,"text":null"#))
    }

    @Test func `a message that is not acknowledged is printed again, until acknowledge`() async throws {
        let container = try TemporaryContainer()
        for text in ["a", "b", "c"] { try await container.done("channels post", "c", text) }
        let words = follow(container, "--from", "oldest", "--no-acknowledge", "--timeout", "0")
        for _ in 0..<2 {
            #expect(try await container.start("groupctl", words).finish().lines == ["1\ta", "2\tb", "3\tc"])
        }
        try await container.done("channels acknowledge", "c", "l", "2")
        #expect(try await container.start("groupctl", words).finish().lines == ["3\tc"])
        let beyond = try await container.run("channels acknowledge", "c", "l", "9")
        #expect(beyond.status == 64 && beyond.errors.contains("there is no message 9 yet"), "\(beyond)")
    }

    @Test func `channels status prints the listeners, and remove removes one`() async throws {
        let container = try TemporaryContainer()
        for text in ["a", "b"] { try await container.done("channels post", "c", text) }
        _ = try await container.start(
            "groupctl", follow(container, "--from", "oldest", "--count", "1", "--purpose", "lamp")
        ).finish()
        #expect(try await container.done("channels list").lines == ["c\t1\t2\t1"], "the first one need not be kept")
        let json = try await container.done("channels list", "--json").text
        #expect(json.hasPrefix(#"{"channel":"c","messages":1,"posted":2,"listeners":1,"bytes":"#), "\(json)")
        let status = try await container.done("channels status", "c")
        #expect(status.text.wholeMatch(of: #/l\t1\t1\t20\d\d-[^\t]+Z\tlamp \(\d+\)\n/#) != nil, "\(status)")
        #expect(try await container.done("channels status", "c", "--json").text.hasPrefix(#"{"name":"l","acknow"#))
        try await container.done("channels remove", "c", "l")
        #expect(try await container.done("channels status", "c").output.isEmpty)
    }

    @Test(arguments: [
        ("channels status", ["none"], 66, "there is no channel of that name"),
        ("channels acknowledge", ["c", "none", "1"], 66, "there is no listener of that name"),
        ("channels remove", ["c", "none"], 66, "there is no listener of that name"),
        ("channels acknowledge", ["c", "l", "-1"], 64, "unknown option '-1'"),
        ("channels acknowledge", ["c", "l", "one"], 64, "NUMBER: 'one' is not a message's number"),
        ("channels post", ["c", "--signal", "text"], 64, "--signal posts a message without content"),
        ("channels post", ["a/b", "text"], 64, "a/b"), ("channels follow", ["c"], 64, "--listener is missing"),
        ("channels follow", ["c", "-l", "l", "--from", "then"], 64, "--from must be now or oldest"),
        ("channels follow", ["c", "-l", "l", "-n", "0"], 64, "--count: '0' is not a positive number"),
        ("channels follow", ["c", "-l", "l", "--no-acknowledge", "--", "cat"], 64, "--no-acknowledge is for lines"),
        ("channels follow", ["c", "-l", "l", "cat"], 64, "COMMAND comes after '--'"),
        ("channels", ["c", "post"], 64, "the command comes before GROUP: groupctl channels post"),
    ])
    func `a wrong call of channels is refused, and creates no channel`(
        call: String, words: [String], status: Int32, message: String
    ) async throws {
        let container = try TemporaryContainer()
        let outcome = try await container.start(
            "groupctl", call.split(separator: " ").map(String.init) + [container.path] + words
        ).finish()
        #expect(outcome.status == status && outcome.errors.contains(message), "\(outcome)")
        #expect(try await container.done("channels list").output.isEmpty)
    }

    @Test func `a second process under a listener's name is refused`() async throws {
        let container = try TemporaryContainer()
        let first = try container.start("groupctl", follow(container, "--verbose"))
        #expect(try await first.readLine(from: .errors) == "listening to 'c' as 'l'")
        let second = try await container.start("groupctl", follow(container, "--timeout", "0")).finish()
        #expect(second.status == 4, "\(second)")
        try await container.done("channels post", "c", "live")
        #expect(try await first.readLine() == "1\tlive")
        first.signal(SIGTERM)
        #expect(try await first.end() == 128 + SIGTERM)
        #expect(try await container.start("groupctl", follow(container, "--timeout", "0")).finish().output.isEmpty)
    }

    @Test func `COMMAND runs for each message in order, again until it succeeds`() async throws {
        let container = try TemporaryContainer()
        for text in ["a", "b"] { try await container.done("channels post", "c", text) }
        let file = container.directory + "/runs"
        let script = """
            echo "$GROUP_MESSAGE $(cat) $GROUP_FAILURES $GROUP_CHANNEL [$GROUP_SIGNAL]" >>"$0"; test "$GROUP_FAILURES" != 0
            """
        let words = follow(container, "--from", "oldest", "-n", "2", "--", "sh", "-c", script, file)
        let outcome = try await container.start("groupctl", words).finish()
        #expect(outcome.status == 0, "\(outcome)")
        #expect(outcome.errors.contains("'sh' ended with status 1; it is run again in 0.5 s, for the same message"))
        #expect(lines(of: file) == ["1 a 0 c []", "1 a 1 c []", "2 b 0 c []", "2 b 1 c []"])
        #expect(try await container.done("channels status", "c").text.hasPrefix("l\t2\t0\t-\t"))
    }

    @Test func `a message is acknowledged only after its COMMAND, whenever the follower is killed`() async throws {
        let container = try TemporaryContainer()
        for number in 1...4 { try await container.done("channels post", "c", "\(number)") }
        let file = container.directory + "/runs"
        // COMMAND kills its follower in the middle of the second message, and after the work for the third.
        let script = """
            m=$(cat); if [ $m = 2 ] && [ ! -e "$0.2" ]; then : >"$0.2"; kill -KILL $PPID; fi
            echo $m >>"$0"; if [ $m = 3 ] && [ ! -e "$0.3" ]; then : >"$0.3"; kill -KILL $PPID; fi
            """
        var statuses: [Int32] = []
        for _ in 0..<3 {
            let words = follow(container, "--from", "oldest", "--timeout", "0", "--", "sh", "-c", script, file)
            statuses.append(try await container.start("groupctl", words).finish().status)
        }
        #expect(statuses == [137, 137, 2], "the last one ends since nothing more comes")
        let done = lines(of: file).compactMap { Int($0) }
        #expect(Set(done) == [1, 2, 3, 4] && done == done.sorted() && done.filter { $0 == 1 }.count == 1, "\(done)")
    }

    @Test func `a follower of messages that is killed again and again skips none`() async throws {
        let container = try TemporaryContainer()
        let count = 200
        var received: [Int] = []
        let poster = try container.start(
            "sh",
            ["-c", "for n in $(seq \(count)); do groupctl channels post \"$0\" c $n || exit 1; done", container.path])
        let deadline = ContinuousClock.now + .seconds(120)
        while received.max() ?? 0 < count, ContinuousClock.now < deadline {
            let follower = try container.start("groupctl", follow(container, "--from", "oldest"))
            if let line = try await follower.readLine() {
                follower.signal(SIGKILL)
                let all = [line] + (try await follower.finish().lines)
                received += all.compactMap { $0.split(separator: "\t").last.flatMap { Int($0) } }
            }
        }
        #expect(try await poster.finish().status == 0)
        #expect(Set(received) == Set(1...count), "\(Set(1...count).subtracting(received))")
    }
}
