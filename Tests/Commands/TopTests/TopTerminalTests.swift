import Foundation
import GroupContainer
import GroupSystemCalls
import GroupTerminal
import TerminalModel
import TestSupport
import Testing

/// Each test has a terminal and a container of its own.
@Suite(.ownThreads, .enabled(if: succeeds(["setsid", "--version"]), "needs setsid(1)"), .tags(.process))
struct `groupctl top on a terminal` {
    private final class Session {
        private static let size = WidgetSize(columns: 80, rows: 20)
        let process: TerminalProcess
        let container: Container
        private let directory: TemporaryDirectory

        init() throws {
            directory = try TemporaryDirectory()
            let path = directory.path + "/c"
            container = try Container(path: path, creating: true)
            process = try TerminalProcess(
                ["groupctl", "top", path], columns: Self.size.columns, rows: Self.size.rows,
                environment: ["LC_ALL": "C.UTF-8", "NO_COLOR": "1"])
            try wait { $0.contains("this view") }
        }

        var picture: String { ModelTerminal.picture(of: process.text, Self.size) }
        func wait(until isThere: (String) -> Bool) throws {
            try process.wait { isThere(ModelTerminal.picture(of: $0, Self.size)) }
        }

        /// The number of the process of top.
        func identifier() throws -> Int32 {
            let members = try container.status().members
            return try #require(members.first { $0.purpose == "groupctl" }).processIdentifier
        }
    }

    @Test func `a writer that waits is shown until it has its lock`() throws {
        let session = try Session()
        let path = session.container.path.description
        // cat ends with its input, and the lock with it.
        let holder = try RunningProcess(["groupctl", "lock", path, "item", "--purpose", "holder", "--", "cat"])
        try session.wait { $0.contains("holds item") }
        let writer = try RunningProcess(["groupctl", "write", path, "item", "--purpose", "writer"], input: "1")
        try session.wait { $0.contains("holder \(holder.identifier) holds item") }
        try session.wait { $0.contains("╰─ writer \(writer.identifier) waits to write item") }
        #expect(session.picture.contains("1 waits"))
        holder.closeInput()
        #expect(holder.reap() == 0)
        #expect(writer.reap() == 0)
        try session.wait { !$0.contains("Waits") && !$0.contains("writer") && $0.contains("journal 1 change ") }
        try session.process.type("q")
        #expect(session.process.reap() == 0)
        #expect(try session.process.settings() == session.process.settingsBefore)
        #expect(session.process.text.hasSuffix("\u{1B}[?25h\u{1B}[?1049l"))
    }

    /// Neither opens or closes a file, nor changes the journal: only the status's wake word shows it.
    @Test func `a lock of a member that has been there is shown, and its end`() throws {
        let session = try Session()
        try session.wait { $0.contains("group-container") }
        let lock = try session.container.coordinator(purpose: "holder").blocking.lock([.writing("item")])
        try session.wait { $0.contains("holds item") }
        try lock.unlock()
        try session.wait { !$0.contains("holds item") }
        try session.process.type("q")
        #expect(session.process.reap() == 0)
    }

    @Test func `a member that was killed is gone from the view`() throws {
        let session = try Session()
        let path = session.container.path.description
        let member = try RunningProcess(["groupctl", "lock", path, "item", "--purpose", "victim", "--", "sleep", "60"])
        try session.wait { $0.contains("victim") && $0.contains("holds item") }
        kill(member.identifier, SIGKILL)
        try session.wait { !$0.contains("victim") }
        try session.process.type("q")
        #expect(session.process.reap() == 0)
    }

    @Test func `top does not wake up while nothing happens`() async throws {
        let session = try Session()
        let process = try session.identifier()
        let before = try await settledSwitches(of: process)
        try await Task.sleep(for: .seconds(2))  // allowed: a time in which nothing is to happen
        #expect(try switches(of: process) == before)
        try session.process.type("q")
        #expect(session.process.reap() == 0)
    }

    @Test(arguments: [SIGTERM, SIGHUP, SIGINT])
    func `top restores the terminal when a signal ends it`(number: Int32) throws {
        let session = try Session()
        kill(try session.identifier(), number)
        #expect(session.process.reap() != 0)
        #expect(try session.process.settings() == session.process.settingsBefore)
        try session.process.wait { $0.contains("\u{1B}[?25h\u{1B}[?1049l") }
    }

    /// Returns how often the threads of a process have given up the processor, once that stays the same for a moment.
    private func settledSwitches(of process: Int32) async throws -> Int {
        var last = -1
        for _ in 0..<100 {
            let present = try switches(of: process)
            if present == last { return present }
            last = present
            try await Task.sleep(for: .milliseconds(300))  // allowed: waits for the end of what is going on
        }
        return last
    }

    private func switches(of process: Int32) throws -> Int {
        let tasks = try FileManager.default.contentsOfDirectory(atPath: "/proc/\(process)/task")
        return try tasks.reduce(0) { sum, task in
            let text = try String(contentsOfFile: "/proc/\(process)/task/\(task)/status", encoding: .utf8)
            let line = text.split(separator: "\n").first { $0.hasPrefix("voluntary_ctxt_switches:") }
            return sum + (line.flatMap { Int($0.split(separator: "\t").last ?? "") } ?? 0)
        }
    }
}
