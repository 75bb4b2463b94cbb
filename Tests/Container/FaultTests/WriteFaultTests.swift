import Glibc
import GroupContainer
import GroupSystemCalls
import TestSupport
import Testing

/// Members that write, and are killed also between their system calls, where strace cannot put a fault: after the
/// record was appended and before the operation is no longer in flight, for example.
@Suite(.ownThreads, .timeLimit(.minutes(runsLongTests ? 30 : 5)), .tags(.process))
struct `Writing under kills` {
    // fault: writer-killed
    @Test func `members that are killed at any moment leave as many records as they made changes`() throws {
        let container = try TemporaryContainer()
        let watcher = try container.open()
        let locks = watcher.coordinator(purpose: "watcher").blocking
        var numbers = SeededGenerator(seed: faultSeed)
        let items = (0..<3).map { "directory/item\($0)" }
        let start = { (item: String) in try container.member("write", item, "1000000000") }
        var writers = try items.map(start)
        defer { for writer in writers { writer.kill() } }

        var follower = try watcher.follow(since: .start)
        var records: [Int32: Int] = [:]
        var last: UInt64 = 0
        var generations: [UInt64: ItemPath] = [:]
        for _ in 0..<(runsLongTests ? 2_000 : 250) {
            let victim = Int.random(in: items.indices, using: &numbers)
            let writer = writers[victim]
            try writer.waitForNumber(writer.lastNumber + 1)
            // A moment within the writer's next write.
            let moment = monotonicNanoseconds() + Int64.random(in: 0...800_000, using: &numbers)
            while monotonicNanoseconds() < moment {}
            writer.kill()
            let printed = try writer.finish().text.split(separator: "\n").compactMap { UInt64($0) }

            // The content is whole: from this process or, if it was killed in its first write, from the one before.
            let content = String(decoding: try locks.readBytes(ItemPath(items[victim])), as: UTF8.self)
            let words = content.split(separator: " ").compactMap { Int($0) }
            try #require(words.count == 2, "\(content)")
            let made = words[0] == writer.identifier ? words[1] : 0
            while let change = try follower.next(timeout: .zero) {
                #expect(change.sequence.rawValue == last + 1)
                last = change.sequence.rawValue
                if change.path == "directory" { continue }
                generations[last] = change.path
                records[change.author?.processIdentifier ?? 0, default: 0] += 1
            }
            #expect(records[writer.identifier, default: 0] == made, "killed after \(printed.count), seed \(faultSeed)")
            // All records of the process have been read; another writer may get its number, among so many.
            records[writer.identifier] = nil
            #expect(printed.count == made || printed.count == made - 1)
            #expect(printed.allSatisfy { generations[$0] == ItemPath(items[victim]) })
            writers[victim] = try start(items[victim])
        }
        for writer in writers { writer.kill() }
        // The next members take the slots of dead members, and with them what is left in staging.
        let next = try items.indices.map { try container.member("hold", "next\($0)") }
        for holder in next { try holder.waitForText("held") }
        #expect(container.staging.isEmpty)
        for holder in next { holder.kill() }
        #expect(try Invariants.broken(in: container) == [])
    }
}
