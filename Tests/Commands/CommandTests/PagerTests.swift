import Foundation
import TestSupport
import Testing

@Suite(.tags(.process)) struct `The pager of groupctl` {
    private let container: TemporaryContainer

    init() async throws {
        container = try TemporaryContainer()
        for item in ["a", "b"] { try await container.done("write", item, input: "1") }
    }

    /// Returns what a call prints on a terminal, and its exit status.
    private func shown(
        _ words: [String], _ variables: [String: String?], until end: String, typing keys: String = ""
    ) throws -> (text: String, status: Int32) {
        let environment = container.environment.merging(["PAGER": nil, "GROUPCTL_PAGER": nil, "LESS": nil]) { $1 }
        let terminal = try TerminalProcess(
            ["groupctl"] + words, columns: 100, rows: 10, environment: environment.merging(variables) { $1 })
        try terminal.wait { $0.contains(end) }
        if !keys.isEmpty { try terminal.type(keys) }
        let status = terminal.reap()
        return (terminal.text, status)
    }

    @Test(.ownThreads, arguments: [["changes", "--since", "start"], ["log", "b"], ["--help"]])
    func `long output on a terminal goes through the pager`(call: [String]) throws {
        let words = call == ["--help"] ? call : [call[0], container.path] + call.dropFirst()
        let pager = ["GROUPCTL_PAGER": "sed 's/^/> /'; echo paged", "PAGER": "false"]
        let paged = try shown(words, pager, until: "paged")
        #expect(paged.status == 0 && paged.text.contains("> "), "\(paged)")
        let end = call == ["--help"] ? "examples." : "groupctl ("
        let options = try shown(
            words, ["PAGER": "sed d; echo \"options $LESS\"; echo paged", "LESS": "-i"], until: "paged")
        #expect(options.text.contains("options -R -i"), "\(options)")
        #expect(try !shown(words + ["--no-pager"], pager, until: end).text.contains("> "))
        #expect(try !shown(words, ["PAGER": ""], until: end).text.contains("> "))
        #expect(try !shown(words, ["PAGER": "nowhere-is-such-a-pager"], until: end).text.contains("not found"))
        #expect(try !shown(words, ["PAGER": pager["GROUPCTL_PAGER"], "TERM": "dumb"], until: end).text.contains("> "))
    }

    @Test(.ownThreads) func `a pager that is ended early is no error, and has the interrupt key`() throws {
        let words = ["changes", container.path, "--since", "start"]
        let early = try shown(words, ["PAGER": "true; echo paged"], until: "paged")
        #expect(early.status == 0 && !early.text.contains("groupctl: "), "\(early)")
        let waits = "trap 'echo interrupted' INT; cat; read x </dev/tty; echo typed"
        let interrupted = try shown(words, ["PAGER": "f() { \(waits); }; f"], until: "groupctl (", typing: "\u{3}\r\r")
        #expect(interrupted.status == 0 && interrupted.text.contains("interrupted"), "\(interrupted)")
    }

    @Test(.ownThreads) func `a pager that cannot be run is an error: its output was not shown`() throws {
        for words in [["changes", container.path, "--since", "start"], ["--help"]] {
            let lost = try shown(words, ["PAGER": "'nowhere-is-such-a-pager'"], until: "--no-pager prints without one")
            #expect(lost.status == 1 && lost.text.contains("nowhere-is-such-a-pager'' could not be run"), "\(lost)")
        }
    }

    @Test(.ownThreads) func `a signal while the pager shows the output is in the exit status`() throws {
        for words in [["changes", container.path, "--since", "start"], ["--help"]] {
            let script = "f() { trap 'echo ended' TERM; kill -TERM $PPID; cat >/dev/null; echo over; }; f"
            let ended = try shown(words, ["PAGER": script], until: "over")
            #expect(ended.status == 143, "\(ended)")
        }
    }

    @Test(.ownThreads, .needs("less")) func `less shows what fits, and ends at once`() throws {
        let short = try shown(["log", container.path, "b"], [:], until: "groupctl (")
        #expect(short.status == 0, "\(short)")
        let long = try shown(["--help"], [:], until: "Usage: groupctl", typing: "q")
        #expect(long.status == 0 && !long.text.contains("examples."), "\(long)")
    }

    @Test func `there is no pager in a pipe`() async throws {
        let outcome = try await container.start(
            "groupctl", ["log", container.path, "b"], environment: ["PAGER": "sed s/^/x/", "TERM": "xterm"]
        ).finish()
        #expect(outcome.status == 0 && !outcome.text.hasPrefix("x"), "\(outcome)")
    }
}
