import Foundation
import GroupContainer
import TestSupport
import Testing

/// Processes that post to the same channel and listen to it, and are killed and stopped meanwhile.
@Suite(.ownThreads, .timeLimit(.minutes(runsLongTests ? 30 : 5)), .tags(.process))
struct `Channels of many processes` {
    private struct Got: Equatable {
        var number: Int
        var text: Substring
    }

    /// What one listening process printed, in order.
    private struct Life {
        var got: [Got] = []
        var acknowledged = 0

        init(_ text: String) {
            for line in text.split(separator: "\n") {
                let words = line.split(separator: " ")
                guard let number = words.last.flatMap({ Int($0) }) else { continue }
                if words[0] == "got" { got.append(Got(number: number, text: line.dropFirst(4))) }
                if words[0] == "acknowledged" { acknowledged = number }
            }
        }
    }

    // fault: writer-killed
    @Test func `each listener gets every post once, whichever process is killed or stopped`() throws {
        let container = try TemporaryContainer()
        let channel = try GroupChannel(container.open(), name: "news")
        var random = SeededGenerator(seed: faultSeed)
        let names = ["one", "two", "three"]
        var lives = names.map { _ in [Life]() }
        var reported: [String] = []
        var (dead, posterCount) = (0, 0)
        func poster() throws -> RunningProcess {
            posterCount += 1
            return try container.member("channel-post", "news", "p\(posterCount)", "1000000000")
        }
        func listener(_ index: Int) throws -> RunningProcess {
            let process = try container.member("channel-listen", "news", names[index], "\(3 + index * 4)")
            try process.waitForText("listening")
            return process
        }
        var listeners = try names.indices.map(listener)
        var posters = try (0..<4).map { _ in try poster() }
        for poster in posters { try poster.waitForLines(1) }
        for _ in 0..<(runsLongTests ? 400 : 40) {
            let victim = Int.random(in: 0..<7, using: &random)
            let isPoster = victim < 4
            let process = isPoster ? posters[victim] : listeners[victim - 4]
            try process.waitForNumber(process.lastNumber + Int.random(in: 1...200, using: &random))
            // The other processes go on meanwhile.
            let other = posters[(victim + 1) % 4]
            let absence = Int.random(in: 1...300, using: &random)
            if Int.random(in: 0..<3, using: &random) == 0 {
                try #require(process.stop())
                try other.waitForNumber(other.lastNumber + absence)
                process.resume()
                continue
            }
            process.kill()
            let text = try process.finish().text
            if isPoster {
                dead += 1
                reported += Self.posts(in: text)
                posters[victim] = try poster()
                try posters[victim].waitForLines(1)
            } else {
                lives[victim - 4].append(Life(text))
                try other.waitForNumber(other.lastNumber + absence)
                listeners[victim - 4] = try listener(victim - 4)
            }
        }
        for poster in posters {
            poster.kill()
            dead += 1
            reported += Self.posts(in: try poster.finish().text)
        }
        // One more message, which every listener has to get.
        let last = Int(try channel.post(bytes: Array("end 1 .".utf8)))
        for (index, process) in listeners.enumerated() {
            try process.waitForNumber(last)
            process.kill()
            lives[index].append(Life(try process.finish().text))
        }
        let files = try FileManager.default.contentsOfDirectory(atPath: "\(container.path)/.group/channels/news")
        #expect(!files.contains("1.log"), "it was never compacted: \(last) messages")
        let kept = lives.map { Self.whatWasGot(in: $0, from: 1) }
        #expect(kept[0] == kept[1] && kept[1] == kept[2])
        #expect(kept[0].map(\.number) == Array(1...last), "seed \(faultSeed)")
        Self.check(kept[0].map(\.text), reported, dead: dead)
        print("channel: \(last) messages, \(dead) posters killed, \(lives.map(\.count)) listeners' processes")
    }

    private static func posts(in text: String) -> [String] {
        text.split(separator: "\n").filter { $0.hasPrefix("posted ") }.map { String($0.dropFirst(7)) }
    }

    /// Returns what a listener has in the end. Each process begins right behind a message that the one before has
    /// acknowledged, or may have acknowledged without having printed so, and goes on without a gap.
    private static func whatWasGot(in lives: [Life], from first: Int) -> [Got] {
        var all: [Got] = []
        var acknowledged = first - 1
        for life in lives {
            let start = life.got.first?.number ?? acknowledged + 1
            #expect(start > acknowledged && start <= (all.last?.number ?? first - 1) + 1, "seed \(faultSeed)")
            #expect(life.got.map(\.number) == life.got.indices.map { start + $0 }, "seed \(faultSeed)")
            // A message that comes again is the same.
            for got in life.got {
                if got.number < first + all.count {
                    #expect(all[got.number - first] == got)
                } else {
                    all.append(got)
                }
            }
            acknowledged = max(acknowledged, life.acknowledged)
        }
        return all
    }

    /// Expects each post that its poster printed to be there under that number, once, and each poster's posts in order.
    private static func check(_ texts: [Substring], _ reported: [String], dead: Int) {
        var next: [Substring: Int] = [:]
        for text in texts where !text.hasPrefix("end") {
            let words = text.split(separator: " ")
            guard words.count == 3, let count = Int(words[1]) else {
                Issue.record("not a post: \(text)")
                continue
            }
            #expect(count == next[words[0], default: 0] + 1, "\(text), seed \(faultSeed)")
            next[words[0]] = count
        }
        let all = Set(texts)
        let lost = reported.filter { !all.contains(Substring($0)) }
        #expect(lost.isEmpty, "\(lost.prefix(5)), seed \(faultSeed)")
        // Each killed poster may have posted one message without having printed it.
        #expect(
            (reported.count...reported.count + dead + 1).contains(texts.count),
            "\(reported.count) reported, \(texts.count) there")
    }

    @Test func `a second process that listens under the same name is refused`() throws {
        let container = try TemporaryContainer()
        let channel = try GroupChannel(container.open(), name: "news")
        let first = try container.member("channel-listen", "news", "one", "1")
        try first.waitForText("listening")
        let error = #expect(throws: CoordinationError.self) { _ = try channel.listener(named: "one") }
        #expect(error?.code == .conflict)
        // A stopped process still has the name; a dead one has not.
        try #require(first.stop())
        #expect(throws: CoordinationError.self) { _ = try channel.listener(named: "one") }
        try channel.signal()
        first.kill()
        let listener = try channel.listener(named: "one")
        #expect(try listener.next(timeout: .zero)?.number == 1)
    }

    // fault: child-of-holder
    @Test func `the child of a killed listener that forked without exec does not keep its name`() throws {
        let container = try TemporaryContainer()
        let channel = try GroupChannel(container.open(), name: "news")
        let forker = try container.member("channel-fork", "news", "one")
        try forker.waitForText("child stays")
        #expect(forker.text == "child forked\nchild forked\nchild forked\nchild stays\n")
        #expect(throws: CoordinationError.self) { _ = try channel.listener(named: "one") }
        try channel.signal()
        forker.kill()
        // The child still lives.
        #expect(try channel.listener(named: "one").next(timeout: .zero)?.number == 1)
        forker.closeInput()
        _ = try? forker.finish()
    }
}
