import Foundation
import TestSupport
import Testing

/// Each test has a terminal of its own, made by script(1).
@Suite(
    .enabled(if: FileManager.default.fileExists(atPath: "/usr/bin/script"), "needs script(1)"),
    .tags(.process))
struct `watch-group on a terminal` {
    private func shown(_ container: TemporaryContainer, _ options: String) throws -> RunningProcess {
        let program = BuildDirectory.resolve("watch-group")
        return try container.start(
            "script", ["-qec", "'\(program)' \(options) '\(container.path)'", "/dev/null"],
            environment: ["TERM": "xterm", "SHELL": "/bin/sh"])
    }

    @Test func `watch-group on a terminal shows the time, colored kind, path, process, and a summary`() async throws {
        let container = try TemporaryContainer()
        try await container.done("write", "a", "--purpose", "todo-app", input: "1")
        try await container.done("move", "a", "b", "--purpose", "todo-app")
        let outcome = try await shown(container, "--since start --count 2").finish()
        let lines = outcome.text.split(whereSeparator: \.isNewline).map(String.init)
        try #require(outcome.status == 0 && lines.count == 3, "\(outcome)")
        let created =
            #/\u{1b}\[2m\d\d:\d\d:\d\d\.\d\d\d\u{1b}\[0m  \u{1b}\[32mcreated\u{1b}\[0m   a  \u{1b}\[2mtodo-app \(\d+\)\u{1b}\[0m/#
        #expect(lines[0].wholeMatch(of: created) != nil, "\(lines)")
        #expect(lines[1].contains("\u{1b}[36mmoved\u{1b}[0m     a → b"), "\(lines)")
        #expect(lines[2].wholeMatch(of: #/2 changes in \d.* s: 1 created, 1 moved; by todo-app 2/#) != nil, "\(lines)")
    }

    @Test func `watch-group on a terminal prints its summary when it is interrupted`() async throws {
        let container = try TemporaryContainer()
        try await container.done("write", "a", input: "1")
        let watcher = try shown(container, "--since start")
        #expect(try await watcher.readLine()?.contains("created") == true)
        let members = try await JSONStatus(of: container).members.filter { $0.purpose == "watch-group" }
        #expect(members.count == 1)
        for member in members { kill(member.pid, SIGINT) }
        let outcome = try await watcher.finish()
        #expect(outcome.text.contains("1 change in ") && outcome.status == 128 + SIGINT, "\(outcome)")
    }

    @Test(arguments: ["", "--color never", "--format %w%f%u"])
    func `watch-group on a terminal escapes control characters of names`(options: String) async throws {
        let container = try TemporaryContainer()
        for name in ["\u{1b}]0;x\u{7}", "\u{9b}2J", "a\r", "\u{202e}b", "\u{200b}c"] {
            try await container.done("write", name, "--purpose", "p\u{202e}", input: "1")
        }
        let outcome = try await shown(container, "--since start --count 5 \(options)").finish()
        let colors = outcome.text.replacing(#/\u{1b}\[[0-9;]*m/#, with: "").replacing("\r\n", with: "\n")
        let isSafe = colors.unicodeScalars.allSatisfy { scalar in
            scalar == "\n" || !["Cc", "Cf"].contains(category(scalar))
        }
        #expect(isSafe && outcome.status == 0, "\(outcome.text.debugDescription)")
        #expect(colors.contains(#"\342\200\256b"#) && colors.contains(#"\033]0;x\007"#), "\(colors)")
    }

    @Test(arguments: ["list", "defaults list", "channels list", "status"])
    func `names on a terminal are shown without characters that reorder text`(call: String) async throws {
        let container = try TemporaryContainer()
        try await container.done("write", "\u{202e}b", input: "1")
        try await container.done("defaults set", "s\u{202e}b", "key", "1")
        try await container.done("channels post", "c\u{202e}b", "text")
        let outcome = try await container.start(
            "script", ["-qec", "'\(BuildDirectory.resolve("groupctl"))' \(call) '\(container.path)'", "/dev/null"],
            environment: ["TERM": "xterm", "SHELL": "/bin/sh"]
        ).finish()
        #expect(outcome.text.contains(#"\342\200\256b"#) && !outcome.text.contains("\u{202e}"), "\(outcome)")
    }

    private func category(_ scalar: Unicode.Scalar) -> String {
        switch scalar.properties.generalCategory {
        case .control: "Cc"
        case .format: "Cf"
        default: "other"
        }
    }
}
