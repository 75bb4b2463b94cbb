import GroupContainer
import TestSupport
import Testing

/// Processes that set and change the same suite, and are killed and stopped meanwhile.
@Suite(.ownThreads, .timeLimit(.minutes(runsLongTests ? 30 : 5)), .tags(.process))
struct `Suites of many processes` {
    @Test func `processes that set different keys lose none`() throws {
        let container = try TemporaryContainer()
        let members = try (0..<20).map { try container.member("defaults-set", "key \($0)", "200") }
        for member in members { #expect(try member.finish().status == 0) }
        let all = try GroupDefaults(container.open()).dictionaryRepresentation()
        #expect(all.count == 20 && all.values.allSatisfy { $0 == .integer(200) }, "\(all)")
    }

    // fault: lost-update
    @Test func `processes that increment a key count exactly, whichever is killed or stopped`() throws {
        let container = try TemporaryContainer()
        var random = SeededGenerator(seed: faultSeed)
        var members: [RunningProcess] = []
        var (done, dead) = (0, 0)
        for _ in 0..<6 { members.append(try container.member("defaults-increment", "1000000000")) }
        for member in members { try member.waitForNumber(1) }
        for _ in 0..<(runsLongTests ? 1_000 : 30) {
            let victim = Int.random(in: 0..<members.count, using: &random)
            let member = members[victim]
            try member.waitForNumber(member.lastNumber + Int.random(in: 1...200, using: &random))
            if Bool.random(using: &random) {
                try #require(member.stop())
                let other = members[(victim + 1) % members.count]
                try other.waitForNumber(other.lastNumber + 100)
                member.resume()
            } else {
                member.kill()
                done += try lines(of: member)
                dead += 1
                members[victim] = try container.member("defaults-increment", "1000000000")
                try members[victim].waitForNumber(1)
            }
        }
        for member in members {
            member.kill()
            done += try lines(of: member)
            dead += 1
        }
        let value = try GroupDefaults(container.open()).integer(forKey: "n")
        // Each killed process may have made one increment without having printed it.
        #expect((done...(done + dead)).contains(value), "printed \(done), is \(value), seed \(faultSeed)")
        print("defaults: \(value) increments, \(dead) killed")
    }

    private func lines(of member: RunningProcess) throws -> Int {
        _ = try member.finish()
        return member.text.utf8.count { $0 == UInt8(ascii: "\n") }
    }

    @Test func `a slow writer gets its turn among fast ones`() throws {
        let container = try TemporaryContainer()
        let fast = try (0..<3).map { _ in try container.member("defaults-increment", "1000000000") }
        defer { for member in fast { member.kill() } }
        for member in fast { try member.waitForNumber(1) }
        let slow = try container.member("defaults-slow", "10")
        let outcome = try slow.finish()
        #expect(outcome.status == 0 && slow.text.split(separator: "\n").count == 10)
    }

    @Test func `operations of many processes on a key are linearizable`() throws {
        let container = try TemporaryContainer()
        var random = SeededGenerator(seed: faultSeed)
        let count = runsLongTests ? 10_000 : 1_500
        let defaults = try GroupDefaults(container.open())
        for key in 0..<4 { try defaults.set(0, forKey: "k\(key)") }
        var members: [RunningProcess] = []
        for seed in 1...8 { members.append(try container.member("defaults-history", "\(seed)", "\(count)")) }
        // Half of the processes are killed in the middle.
        for member in members[..<4] {
            try member.waitForLines(Int.random(in: 100...count, using: &random))
            member.kill()
        }
        var histories: [Substring: [LinearizabilityChecker.Operation]] = [:]
        for member in members {
            _ = try member.finish()
            for (key, operation) in try Self.operations(in: member.text) {
                histories[key, default: []].append(operation)
            }
        }
        let total = histories.values.reduce(0) { $0 + $1.count }
        #expect(histories.count == 4 && total >= count * 4)
        for (key, operations) in histories {
            let isLinearizable = LinearizabilityChecker(operations).isLinearizable(from: 0)
            #expect(isLinearizable, "\(key), seed \(faultSeed)")
        }
        // A single impossible answer is found.
        let (_, operations) = try #require(histories.first)
        let gets = operations.indices.filter { operations[$0].kind == .get && operations[$0].ended != .max }
        var planted = operations
        planted[try #require(gets.randomElement(using: &random))].answer = -5
        #expect(!LinearizabilityChecker(planted).isLinearizable(from: 0))
        print("defaults: a history of \(total) operations")
    }

    private static func operations(in text: String) throws -> [(Substring, LinearizabilityChecker.Operation)] {
        var found: [(Substring, LinearizabilityChecker.Operation)] = []
        for line in text.split(separator: "\n") where line.hasPrefix(">") || line.hasPrefix("<") {
            let words = line.split(separator: " ")
            guard words.count >= 3, let time = Int64(words[1]) else { continue }
            if words[0] == "<" {
                guard let answer = Int(words[2]), !found.isEmpty else { continue }
                found[found.count - 1].1.ended = time
                found[found.count - 1].1.answer = answer
                continue
            }
            let numbers = words.dropFirst(4).compactMap { Int($0) }
            let kind: LinearizabilityChecker.Kind
            switch (words.count > 3 ? words[3] : "", numbers.count) {
            case ("get", 0): kind = .get
            case ("add", 0): kind = .add
            case ("set", 1): kind = .set(numbers[0])
            case ("cas", 2): kind = .exchange(from: numbers[0], to: numbers[1])
            default: continue
            }
            found.append((words[2], .init(kind, began: time, ended: .max, answer: 0)))
        }
        return found
    }
}
