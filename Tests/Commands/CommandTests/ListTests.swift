import Foundation
import TestSupport
import Testing

@Suite(.tags(.process)) struct `groupctl list -l` {
    private let container: TemporaryContainer

    init() async throws {
        container = try TemporaryContainer()
        try await container.done("write", "d/a", "--purpose", "todo", input: "12345")
        try await container.done("move", "d", "e", "--purpose", "mover")
        #expect(
            try await container.shell(
                "echo 1 >\"$1/e/b c\"; touch -d 2001-02-03T04:05:06Z \"$1/e/b c\"; ln -s a \"$1/e/l\""
            ).status == 0)
    }

    @Test func `list -l in a pipe has type, size, time, author and path between tabs`() async throws {
        let lines = try await container.done("list", "e/", "-l").lines.map {
            $0.split(separator: "\t").map(String.init)
        }
        #expect(lines.allSatisfy { $0.count == 5 && isTimestamp($0[2]) }, "\(lines)")
        #expect(
            lines.map { [$0[0], $0[1], $0[4]] } == [
                ["file", "5", "e/a"], ["file", "2", "e/b c"], ["link", "1", "e/l"],
            ])
        #expect(lines[1][2] == "2001-02-03T04:05:06.000Z")
        #expect(lines[0][3].wholeMatch(of: #/todo \(\d+\)/#) != nil && lines[1][3] == "uncoordinated", "\(lines)")
        let top = try await container.done("list", "-l").lines
        #expect(top.count == 1 && top[0].hasPrefix("directory\t") && top[0].contains("\tmover ("), "\(top)")
        #expect(top[0].hasSuffix("\te/"))
    }

    @Test func `list -l with --json has the author of the last change, too`() async throws {
        let lines = try await container.done("list", "e", "-l", "--json").lines
        #expect(lines[0].hasPrefix(#"{"path":"e/a","type":"file","size":5,"modified":""#))
        #expect(lines[0].contains(#","purpose":"todo"},"coordinated":true}"#), "\(lines)")
        #expect(lines[1].hasSuffix(#""by":null,"coordinated":false}"#), "\(lines)")
        #expect(try await !container.done("list", "e", "--json").text.contains("by"))
    }

    @Test(.ownThreads) func `list -l on a terminal has aligned columns, sizes and times for people`() async throws {
        #expect(try await container.shell("head -c 3000 /dev/zero >\"$1/e/long name\"").status == 0)
        let terminal = try TerminalProcess(
            ["groupctl", "list", "-l", container.path, "e", "--color", "never"], columns: 200, rows: 40,
            environment: container.environment)
        try terminal.wait { $0.contains("long name") }
        #expect(terminal.reap() == 0)
        let lines = terminal.text.split(whereSeparator: \.isNewline).map(String.init)
        try #require(lines.count == 4, "\(lines)")
        #expect(lines[0].hasPrefix("file       5 bytes  ") && lines[3].hasPrefix("file       2.9 KiB  "), "\(lines)")
        #expect(lines[2].hasPrefix("link             -  "), "\(lines)")
        let columns = Set(
            lines.map { line in line.range(of: "  e/").map { line.distance(from: line.startIndex, to: $0.lowerBound) } }
        )
        #expect(columns.count == 1, "\(lines)")
        #expect(lines[1].contains("2001-02-03 "), "\(lines)")
    }

    @Test func `list -l needs a GROUP`() async throws {
        #expect(try await container.start("groupctl", ["list", "-l"]).finish().status == 64)
    }
}
