import Foundation
import GroupContainer
import GroupSystemCalls
import TestSupport
import Testing

/// Members that commit transactions over a pair of items and are killed at any moment, beside one that reads them.
@Suite(.ownThreads, .timeLimit(.minutes(runsLongTests ? 30 : 5)), .tags(.process))
struct `Readers of transactions` {
    /// Reads both items under one lock, again and again, on a thread of its own.
    private final class Reader: @unchecked Sendable {
        private let lock = NSLock()
        private var (reads, mixtures, hasEnded) = (0, 0, false)
        private var failure: (any Error)?
        private let done = DispatchSemaphore(value: 0)

        init(_ coordinator: BlockingCoordinator) {
            Thread.detachNewThread { [self] in
                while !lock.withLock({ hasEnded }) { once(coordinator) }
                done.signal()
            }
        }

        func once(_ coordinator: BlockingCoordinator) {
            do {
                let isWhole = try coordinator.coordinate(.reading("a"), .reading("b"), durability: .relaxed) { access in
                    try access.readBytesIfPresent("a") == access.readBytesIfPresent("b")
                }
                lock.withLock { (reads, mixtures) = (reads + 1, mixtures + (isWhole ? 0 : 1)) }
            } catch {
                lock.withLock { (failure, hasEnded) = (error, true) }
            }
        }

        func end() throws -> (reads: Int, mixtures: Int) {
            lock.withLock { hasEnded = true }
            done.wait()
            if let failure { throw failure }
            return (reads, mixtures)
        }
    }

    @Test func `a reader never finds one item new and the other old, whichever process is killed`() throws {
        let container = try TemporaryContainer()
        let watcher = try container.open()
        let locks = watcher.coordinator(purpose: "reader").blocking
        var follower = try watcher.recordedChanges(since: .start)
        var numbers = SeededGenerator(seed: faultSeed)
        var (torn, records, period) = (0, 0, Int64(1_000_000))
        var last: (sequence: UInt64, identifier: String)?
        let reader = Reader(locks)
        for _ in 0..<(runsLongTests ? 2_000 : 120) {
            let writer = try container.member("transact", "1000000000")
            try writer.waitForNumber(writer.lastNumber + 1)
            let begin = monotonicNanoseconds()
            try writer.waitForNumber(writer.lastNumber + 3)
            period = (monotonicNanoseconds() - begin) / 3
            // A moment within the writer's next transaction.
            let moment = monotonicNanoseconds() + Int64.random(in: 0...period, using: &numbers)
            while monotonicNanoseconds() < moment {}
            writer.kill()
            // At the latest, this read has the transaction completed.
            reader.once(locks)
            while let change = try follower.next(timeout: .zero) {
                guard let part = change.transaction else {
                    torn += 1
                    continue
                }
                // Two lines with one number and one identifier, in order; then the next number and another identifier.
                let isFirst = part.index == 0
                let follows =
                    isFirst
                    ? change.sequence.rawValue == (last?.sequence ?? 0) + 1 && part.identifier != last?.identifier
                    : change.sequence.rawValue == last?.sequence && part.identifier == last?.identifier
                if !follows || part.count != 2 || change.path != (isFirst ? "a" : "b") { torn += 1 }
                last = (change.sequence.rawValue, part.identifier)
                records += 1
            }
        }
        let (reads, mixtures) = try reader.end()
        #expect(mixtures == 0 && torn == 0, "of \(reads), seed \(faultSeed)")
        #expect(records >= 480)
        // The next member takes the slots of dead members, and with them what is left in staging.
        let next = try container.member("hold", "next")
        try next.waitForText("held")
        #expect(container.staging.isEmpty)
        next.kill()
    }

    @Test func `watch-group prints a transaction line by line, and its cursor file moves on with the last`() throws {
        let container = try TemporaryContainer()
        _ = try container.member("transact", "2").finish()
        let cursor = "\(container.path).cursor"
        defer { try? FileManager.default.removeItem(atPath: cursor) }
        let watch = { (count: Int) in
            try RunningProcess([
                "watch-group", "--json", "--since", "start", "--cursor-file", cursor, "--count", "\(count)",
                "--timeout", "20", container.path,
            ]).finish().text.split(separator: "\n").map { line in
                try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
            }
        }
        let parts = { (lines: [[String: Any]]) in
            lines.map { line -> String in
                let part = line["transaction"] as? [String: Any]
                return [line["sequence"], line["path"], part?["index"], part?["count"]].map { "\($0 ?? "-")" }
                    .joined(separator: " ")
            }
        }
        // The run ends in the middle of the second transaction, which then comes again as a whole.
        #expect(parts(try watch(3)) == ["1 a 0 2", "1 b 1 2", "2 a 0 2"])
        let lines = try watch(2)
        #expect(parts(lines) == ["2 a 0 2", "2 b 1 2"])
        #expect(lines[0]["cursor"] as? String == lines[1]["cursor"] as? String)
        let kept = String(decoding: FileManager.default.contents(atPath: cursor) ?? Data(), as: UTF8.self)
        #expect(kept == "\(lines[1]["cursor"] ?? "")\n")
        let names = lines.map { ($0["transaction"] as? [String: Any])?["id"] as? String }
        #expect(names[0]?.count == 32 && names[0] == names[1])
    }

    @Test func `a leader that sees each rename of a transaction reports nothing but the transaction`() throws {
        let container = try TemporaryContainer()
        for item in ["kept", "gone"] { _ = try container.groupctl("write", item, "--relaxed", input: "old") }
        // The process is the leader, and sees each rename.
        let watch = try RunningProcess([
            "watch-group", "--since", "start", "--count", "27", "--timeout", "20", container.path,
        ])
        try watch.waitForText("gone")
        for number in 0..<5 {
            let run = try container.member("transact-three", "directory\(number)", "text\(number)", "relaxed")
            #expect(try run.finish().status == 0)
            _ = try container.groupctl("write", "gone", "--relaxed", input: "again")
        }
        let lines = try watch.finish().text.split(separator: "\n").map(String.init)
        let expected = (0..<5).flatMap { number in
            [
                "created\tdirectory\(number)", "created\tdirectory\(number)/new", "modified\tkept", "removed\tgone",
                "created\tgone",
            ]
        }
        #expect(lines == ["created\tkept", "created\tgone"] + expected)
        #expect(try container.changes().allSatisfy(\.isCoordinated))
    }
}
