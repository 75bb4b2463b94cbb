import GroupContainer
import GroupSystemCalls
import TestSupport
import Testing

@Suite(.ownThreads, .timeLimit(.minutes(5)), .tags(.process))
struct `Conditional writes of many processes` {
    // fault: lost-update
    @Test func `processes with conditional writes lose no update`() throws {
        let container = try TemporaryContainer()
        let counters = try (0..<8).map { _ in try container.member("count", "d/n", "25") }
        var generations: [UInt64] = []
        for counter in counters {
            let (status, text) = try counter.finish()
            #expect(status == 0, "\(text)")
            generations += text.split(separator: "\n").compactMap { UInt64($0) }
        }
        #expect(container.content(of: "d/n") == "200\n")
        // The directory, and the 0 with which one process began, come first.
        #expect(generations.sorted() == Array(3...202))
        #expect(try Invariants.broken(in: container) == [])
    }

    // fault: holder-killed
    @Test func `processes with conditional writes lose no update when some are killed at any moment`() throws {
        let container = try TemporaryContainer()
        var numbers = SeededGenerator(seed: faultSeed)
        let start = { try container.member("count", "n", "1000000000") }
        var counters = try (0..<3).map { _ in try start() }
        defer { for counter in counters { counter.kill() } }
        var printed = 0
        let kills = runsLongTests ? 500 : 60
        for _ in 0..<kills {
            let victim = Int.random(in: counters.indices, using: &numbers)
            let counter = counters[victim]
            try counter.waitForNumber(counter.lastNumber + 1)
            let moment = monotonicNanoseconds() + Int64.random(in: 0...1_500_000, using: &numbers)
            while monotonicNanoseconds() < moment {}
            counter.kill()
            printed += try counter.finish().text.split(separator: "\n").count
            counters[victim] = try start()
        }
        for counter in counters {
            counter.kill()
            printed += try counter.finish().text.split(separator: "\n").count
        }
        #expect(try container.groupctl("read", "n").status == 0)
        let changes = try container.changes().filter { $0.path == "n" }
        let count = try #require(Int((container.content(of: "n") ?? "").split(separator: "\n").first ?? ""))
        #expect(changes.count == count + 1, "each number once, seed \(faultSeed)")
        // Each killed process may have made one change more than it printed.
        #expect((printed...printed + kills + counters.count).contains(count), "seed \(faultSeed)")
        #expect(try Invariants.broken(in: container) == [])
    }
}
