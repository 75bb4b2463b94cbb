import Foundation
import TestSupport
import Testing

@Suite struct `The manual pages` {
    private static let directory = projectDirectory.appending(path: "docs/reference/man")

    @Test(arguments: [
        "watch-group", "groupctl", "widget-host", "widget-window", "group-share", "group-transfer", "group-cluster",
    ])
    func `a manual page in docs is what its program prints`(program: String) async throws {
        let made = try await RunningProcess(program, ["--manual-page"]).finish()
        let kept = try String(contentsOf: Self.directory.appending(path: "\(program).1"), encoding: .utf8)
        #expect(made.status == 0)
        #expect(made.text == kept, "make it anew: \(program) --manual-page > docs/reference/man/\(program).1")
    }

    @Test(arguments: [
        "watch-group", "groupctl", "widget-host", "widget-window", "group-share", "group-transfer", "group-cluster",
    ])
    func `a manual page has the usual sections, in order`(program: String) async throws {
        let page = try await RunningProcess(program, ["--manual-page"]).finish().text
        let all = page.split(separator: "\n").filter { $0.hasPrefix(".SH ") }.map { String($0.dropFirst(4)) }
        let expected = [
            "NAME", "SYNOPSIS", "DESCRIPTION", "OPTIONS", "ENVIRONMENT", "FILES", "EXIT STATUS", "EXAMPLES", "SEE ALSO",
        ]
        #expect(all.filter(expected.contains) == expected, "\(all)")
        #expect(all.last == "SEE ALSO" && page.hasSuffix("(1)\n"))
    }

    @Test func `a manual page has an entry for every option`() async throws {
        let page = try await RunningProcess("watch-group", ["--manual-page"]).finish().text
        let help = try await RunningProcess("watch-group", ["--help"]).finish()
        let options = help.text.matches(of: #/\n  .{4}--([a-z-]+)/#).map {
            $0.1.split(separator: "-").joined(separator: "\\-")
        }
        #expect(options.count > 15)
        for option in options { #expect(page.contains("\\fB\\-\\-\(option)\\fR"), "\(option)") }
        #expect(!page.split(separator: "\n").contains { $0.hasPrefix("'") }, "no line is taken for a request")
    }
}
