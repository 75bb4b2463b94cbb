import GroupSystemCalls
import TestSupport
import Testing

@testable import GroupLog

@Suite(.timeLimit(.minutes(2)))
struct `Concurrent appending` {
    private static let threads = 8
    private static let each = 5_000

    @Test func `many threads of two members append every record once, without a gap in the sequence`() throws {
        let directory = try LogDirectory()
        let logs = try (0..<2).map { try directory.open(writer: $0, capacity: 131_072) }
        let sides = (0..<Self.threads).map { thread in
            Side { () throws -> [UInt64] in
                let log = logs[thread % 2]
                return try (0..<Self.each).map { try log.append("\(thread) \($0)").sequence }
            }
        }
        let returned = try sides.map { try $0.answer() }
        let entries = try directory.open(writer: 3).entries()
        #expect(entries.map(\.position.sequence) == Array(1...UInt64(Self.threads * Self.each)))
        // Each record has the sequence number that its append returned.
        var found = [[UInt64]](repeating: [], count: Self.threads)
        var next = [Int](repeating: 0, count: Self.threads)
        for entry in entries {
            let words = String(decoding: entry.body, as: UTF8.self).split(separator: " ").compactMap { Int($0) }
            let (thread, number) = (try #require(words.first), try #require(words.last))
            #expect(number == next[thread])
            next[thread] += 1
            found[thread].append(entry.position.sequence)
        }
        #expect(found == returned)
        #expect(try logs[0].segmentNumbers().count > 5)
        for log in logs { #expect(try log.end() == entries.last?.position) }
    }

    @Test func `threads that append exactly at the end they read lose no record`() throws {
        let directory = try LogDirectory()
        let logs = try (0..<2).map { try directory.open(writer: $0, capacity: 32_768) }
        let sides = (0..<4).map { thread in
            Side { () throws -> Void in
                let log = logs[thread % 2]
                for _ in 0..<200 {
                    while true {
                        // The record contains the number of records before it: a lost update would write the same
                        // number twice.
                        let end = try log.end()
                        if try log.append(Array("\(end.sequence)".utf8), exactlyAt: end) != nil { break }
                    }
                }
            }
        }
        for side in sides { try side.answer() }
        #expect(try directory.open().texts() == (0..<800).map { "\($0)" })
    }
}
