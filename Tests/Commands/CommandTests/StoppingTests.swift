import Foundation
import GroupSystemCalls
import TestSupport
import Testing

@Suite(.ownThreads, .tags(.process)) struct `Ctrl-Z` {
    @Test func `a leader hands over before it stops, and follows on when it is continued`() async throws {
        let container = try TemporaryContainer()
        // A job of its own: the kernel does not let a terminal stop a group that no other process of its session leads.
        let script = #"watch-group --verbose "$0" & echo "process $!."; cat"#
        let terminal = try TerminalProcess(
            ["sh", "-mc", script, container.path], columns: 80, rows: 24, environment: container.environment)
        try terminal.wait { $0.contains(/process [0-9]+\./) && $0.contains("watching ") }
        let leader = try #require(terminal.text.firstMatch(of: /process ([0-9]+)\./).flatMap { Int32($0.1) })
        defer { kill(leader, SIGKILL) }
        func create(_ name: String) throws { try #require(succeeds(["touch", container.path + "/" + name])) }
        // Which it reports only as the leader.
        try create("first")
        try terminal.wait { $0.contains("first") }
        let other = try container.watch("--verbose")
        #expect(try await other.readLine(from: .errors)?.hasPrefix("watching") == true)

        kill(leader, SIGTSTP)
        var lines: [String] = []
        while !lines.contains(where: { $0.contains("leadershipTaken") }) {
            lines.append(try #require(try await other.readLine(from: .errors)))
        }
        #expect(!lines.contains { $0.contains("did not reply") }, "\(lines)")
        #expect(await eventually { ProcessView(of: leader)?.condition == .stopped })
        try create("second")
        #expect(try await other.readLine() == "created\tsecond")

        kill(leader, SIGCONT)
        try terminal.wait { $0.contains("second") }
        kill(leader, SIGTERM)
        // The end of the input, for cat(1).
        try terminal.type("\u{4}")
        #expect(terminal.reap() == 0)
    }
}
