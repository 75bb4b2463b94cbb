import Foundation
import TerminalModel
import TestSupport
import Testing
import GroupTodayView

/// Each test has a terminal of its own.
@Suite(.ownThreads, .enabled(if: succeeds(["setsid", "--version"]), "needs setsid(1)"), .tags(.process))
struct `The Today view on a terminal` {
    private final class Session {
        let process: TerminalProcess
        private let directory: TemporaryDirectory
        var log: String { (try? String(contentsOfFile: directory.path + "/log", encoding: .utf8)) ?? "" }

        init(_ arguments: [String] = [], shell: Bool = false) throws {
            directory = try TemporaryDirectory()
            let program = [BuildDirectory.resolve("test-today"), directory.path + "/log"] + arguments
            let words = shell ? ["bash", "--norc", "--noprofile", "-i"] : program
            process = try TerminalProcess(
                words, columns: 60, rows: 20, environment: ["PS1": "$ ", "SWIFT_BACKTRACE": "enable=no"])
            if shell { try process.type(program.joined(separator: " ") + "\n") }
        }

        /// Returns the picture on the screen, as far as the program draws it.
        func picture(_ columns: Int = 60, _ rows: Int = 20) -> String {
            ModelTerminal.picture(of: process.text, WidgetSize(columns: columns, rows: rows))
        }

        func wait(for text: String, _ columns: Int = 60, _ rows: Int = 20) throws {
            let size = WidgetSize(columns: columns, rows: rows)
            try process.wait { ModelTerminal.picture(of: $0, size).contains(text) }
        }

        /// Checks that the program has restored the terminal.
        func expectLeft() throws {
            let resting = "\u{1B}[?25h\u{1B}[?1049l"
            try process.wait { $0.contains(resting) }
            #expect(process.text.components(separatedBy: resting).count == 2)
            #expect(try process.settings() == process.settingsBefore)
        }
    }

    @Test func `the Today view draws, handles keys, and restores the terminal`() throws {
        let session = try Session()
        try session.wait(for: "┏━ Alpha")
        #expect(try session.process.settings() != session.process.settingsBefore)
        try session.process.type("\u{1B}[B")
        try session.wait(for: "┏━ Beta")
        try session.process.type("a")
        try session.wait(for: "Gamma")
        // This is the key by itself, not the beginning of another key.
        try session.process.type("\u{1B}")
        try session.process.wait { !ModelTerminal.picture(of: $0, WidgetSize(columns: 60, rows: 20)).contains("Gamma") }
        try session.process.type("q")
        #expect(session.process.reap() == 0)
        try session.expectLeft()
        #expect(session.log.hasSuffix("quit\n"))
    }

    @Test func `the Today view follows the size of its window`() throws {
        let session = try Session()
        try session.wait(for: "┏━ Alpha")
        #expect(session.process.resize(columns: 30, rows: 8))
        try session.wait(for: "Alpha ━━━━━━━━━━━━━━━━ active", 30, 8)
        #expect(session.process.resize(columns: 60, rows: 20))
        try session.wait(for: "┏━ Alpha")
        try session.process.type("q")
        #expect(session.process.reap() == 0)
    }

    @Test(arguments: ["trap", "segv", "abort", "exit"])
    func `the Today view restores the terminal however its process dies`(death: String) throws {
        let session = try Session([death])
        try session.wait(for: "┏━ Alpha")
        try session.process.type("jo")
        #expect(session.process.reap() != 0)
        try session.expectLeft()
    }

    @Test(arguments: [SIGTERM, SIGHUP, SIGINT, SIGQUIT])
    func `the Today view restores the terminal when a signal ends it`(number: Int32) throws {
        let session = try Session()
        try session.wait(for: "┏━ Alpha")
        let words = session.log.split(whereSeparator: \.isWhitespace)
        let identifier = try #require(words.count > 1 ? Int32(words[1]) : nil)
        kill(identifier, number)
        #expect(session.process.reap() != 0)
        try session.expectLeft()
    }

    @Test func `the Today view restores the terminal at Control-Z, and then draws again`() throws {
        let session = try Session(shell: true)
        try session.wait(for: "┏━ Alpha")
        try session.process.type("\u{1A}")
        try session.process.wait { $0.contains("Stopped") }
        let left = session.process.text
        #expect(left.contains("\u{1B}[?25h\u{1B}[?1049l"))
        try session.process.type("fg\n")
        try session.process.wait { text in
            ModelTerminal.picture(of: String(text.dropFirst(left.count)), WidgetSize(columns: 60, rows: 20))
                .contains("┏━ Alpha")
        }
        try session.process.type("q")
        try session.process.wait { $0.components(separatedBy: "\u{1B}[?1049l").count == 3 }
        try session.process.type("exit\n")
        #expect(session.process.reap() == 0)
    }

    @Test func `the Today view does not take pasted text as keys`() throws {
        let session = try Session()
        try session.wait(for: "┏━ Alpha")
        try session.process.type("\u{1B}[200~q\u{3}xR\u{1B}[201~j")
        try session.wait(for: "┏━ Beta")
        try session.process.type("q")
        #expect(session.process.reap() == 0)
        #expect(session.log.split(separator: "\n").count == 2, "\(session.log)")
    }
}
