import Glibc
import GroupContainer
import TestSupport
import Testing

/// Members that append as fast as they can, and are killed and stopped at any moment. For each kill and each stop, every
/// member gets leave for more records than it can append until then, so that all of them append at that moment. Without
/// the limit they would append millions, of which each has to be read at the end.
@Suite(.ownThreads, .timeLimit(.minutes(runsLongTests ? 30 : 5)), .tags(.process))
struct `Appending under kills and stops` {
    private static let memberCount = 6

    /// A process that appends, and the tag of its records.
    private struct Life {
        var tag: Int
        var process: RunningProcess

        init(_ number: Int, in container: TemporaryContainer) throws {
            tag = number
            process = try container.member("append-on-demand", "\(number)")
        }

        func letAppend(_ count: Int = 300) throws { try process.send("\(count)") }
    }

    // fault: appender-stopped
    @Test func `members that are killed and stopped leave each acknowledged record once, without a gap`() throws {
        let container = try TemporaryContainer()
        var numbers = SeededGenerator(seed: faultSeed)
        var lives = try (0..<Self.memberCount).map { try Life($0, in: container) }
        var acknowledged: [Int: Int] = [:]
        defer { for life in lives { life.process.kill() } }
        for life in lives {
            try life.letAppend()
            try life.process.waitForNumber(1)
        }

        var (kills, stops) = (0, 0)
        while kills + stops < (runsLongTests ? 2_000 : 200) {
            let victim = Int.random(in: 0..<Self.memberCount, using: &numbers)
            let life = lives[victim]
            // The moment depends on the victim's progress, not on the clock.
            let moment = life.process.lastNumber + Int.random(in: 1...40, using: &numbers)
            for life in lives { try life.letAppend() }
            try life.process.waitForNumber(moment)
            if Bool.random(using: &numbers) {
                try #require(life.process.stop())
                stops += 1
                for other in lives where other.tag != life.tag { try goesOn(other, while: life) }
                life.process.resume()
            } else {
                life.process.kill()
                kills += 1
                acknowledged[life.tag] = try numberAtEnd(of: life)
                lives[victim] = try Life(kills + Self.memberCount, in: container)
                try lives[victim].letAppend()
                try lives[victim].process.waitForNumber(1)
            }
        }
        for life in lives {
            life.process.kill()
            acknowledged[life.tag] = try numberAtEnd(of: life)
        }
        try expectExactly(acknowledged, in: container)
    }

    /// Reads the output of a killed process to its end, and returns the last number in it.
    private func numberAtEnd(of life: Life) throws -> Int {
        _ = try life.process.finish()
        return life.process.lastNumber
    }

    /// Expects a member to append while another is stopped. The bound is its own processor time, not the clock: the
    /// machine may be busy.
    private func goesOn(_ other: Life, while stopped: Life) throws {
        let (number, time) = (other.process.lastNumber, other.process.ownTime)
        try other.letAppend(3)
        try other.process.waitForNumber(number + 3)
        let used = other.process.ownTime - time
        #expect(used < 100_000_000, "\(used) ns of its own for 3 records while \(stopped.tag) stood")
    }

    /// Parses "12/345" as 12 and 345; by hand, as there are a million such paths.
    private static func parts(of path: ItemPath) -> (tag: Int, number: Int) {
        var numbers = (0, 0)
        for byte in path.bytes {
            let isSlash = byte == UInt8(ascii: "/")
            numbers = isSlash ? (numbers.1, 0) : (numbers.0, numbers.1 * 10 + Int(byte) - 48)
        }
        return numbers
    }

    private func expectExactly(_ acknowledged: [Int: Int], in container: TemporaryContainer) throws {
        var found: [Int: Int] = [:]
        var faults: [String] = []
        var expected: UInt64 = 1
        var reader = try container.open().follow(since: .start)
        while let change = try reader.next(timeout: .zero) {
            let sequence = change.sequence.rawValue
            if sequence != expected { faults.append("\(sequence) follows \(expected - 1)") }
            expected = sequence + 1
            let (tag, number) = Self.parts(of: change.path)
            // A member appends in order, so each next number once is all numbers once.
            let last = found[tag, default: 0]
            if number != last + 1 { faults.append("\(tag): \(number) after \(last)") }
            found[tag] = number
        }
        for (tag, number) in acknowledged {
            let there = found[tag, default: 0]
            // The record of the append during which the member died may be there or not.
            if there != number && there != number + 1 { faults.append("\(tag): printed \(number), there are \(there)") }
        }
        #expect(faults.isEmpty, "\(faults.count) faults, as \(faults.prefix(5)), seed \(faultSeed)")
        #expect(found.keys.allSatisfy { acknowledged[$0] != nil })
        print("append faults: \(expected - 1) records of \(acknowledged.count) lives")
    }
}
