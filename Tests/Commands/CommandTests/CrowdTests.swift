import TestSupport
import Testing

/// Many processes at once, each a command of its own: the usual tests of locks between processes.
@Suite(.timeLimit(.minutes(3)), .tags(.process))
struct `Many processes` {
    // fault: lost-update
    @Test func `processes that add 1 to 10 to one item have added 55`() async throws {
        let container = try TemporaryContainer()
        try await container.done("write", "n", input: "0")
        let writers = try (1...10).map { number in
            try container.start("update", "n", "--", "awk", "{ print $1 + \(number) }")
        }
        for writer in writers { #expect(try await writer.finish().status == 0) }
        #expect(try container.content("n") == "55\n")
    }

    // fault: torn-read
    @Test func `twenty readers of two files see them equal while a hundred writers change both`() async throws {
        let container = try TemporaryContainer()
        try await container.done("write", "a", input: "0")
        try await container.done("write", "b", input: "0")
        let (a, b) = ("\(container.path)/a", "\(container.path)/b")
        // The files are written in place, as by other programs: only the lock keeps readers from half a content.
        let writing = "printf %s \"$0\" >\"$1\"; printf %s \"$0\" >\"$2\""
        var running: [RunningProcess] = []
        for number in 1...100 {
            running.append(
                try container.start("lock", "a", "b", "--", "sh", "-c", writing, "\(number)", a, b))
            if number.isMultiple(of: 5) {
                running.append(try container.start("lock", "--shared", "b", "a", "--", "cmp", a, b))
            }
        }
        for command in running {
            let outcome = try await command.finish()
            #expect(outcome.status == 0, "\(outcome)")
        }
        let value = try container.content("a")
        #expect(try container.content("b") == value && (1...100).contains(Int(value) ?? 0))
    }
}
