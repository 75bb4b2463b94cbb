import Foundation
import Glibc
import GroupContainer
import GroupSystemCalls
import TestSupport
import Testing

/// Twenty widgets and random events, from a seed. The test prints the host's own processor time.
@Suite(.ownThreads, .timeLimit(.minutes(10)), .tags(.process))
struct `A host with twenty widgets` {
    private static let kinds = (0..<20).map { "w\($0)" }
    private static let duration: Int64 = runsLongTests ? 60_000_000_000 : 6_000_000_000

    @Test func `twenty widgets show current content after random hiding, kills, hangs and writes`() throws {
        var random = SeededGenerator(seed: faultSeed)
        let refreshing = #""refresh": {"deadline": 0.5, "perDay": 86400, "atOnce": 1000}"#
        let run = try HostRun(
            Dictionary(uniqueKeysWithValues: Self.kinds.map { ($0, refreshing) }), options: ["--grace", "0.3"])
        for kind in Self.kinds { try run.await(kind, "active", "nothing") }
        let coordinator = try run.container.open().coordinator(purpose: "storm").blocking
        let start = (time: monotonicNanoseconds(), cost: try Self.cost(of: run.host.identifier))
        var (story, faults): ([String], [String: Int]) = ([], [:])
        while monotonicNanoseconds() - start.time < Self.duration {
            let kind = Self.kinds[Int.random(in: 0..<20, using: &random)]
            let number = story.count
            let path = ItemPath("Library/\(kind)")
            switch Int.random(in: 0..<100, using: &random) {
            case 0..<55: _ = try coordinator.write(bytes: Array("text \(number)".utf8), to: path, durability: .relaxed)
            case 55..<60: _ = try coordinator.write(bytes: Array("fail \(number)".utf8), to: path, durability: .relaxed)
            case 60..<75:
                story.append("hide \(kind)")
                try run.send("hide \(kind)")
            case 75..<92:
                story.append("show \(kind)")
                try run.send("show \(kind)")
            case 92..<94: try run.send("pressure")
            case 94..<96: try run.send("reload \(kind)")
            case 96..<97 where faults[kind, default: 0] < 2:
                faults[kind, default: 0] += 1
                let word = ["crash", "hang", "garbage", "exit", "close"].randomElement(using: &random) ?? "crash"
                story.append("\(word) \(kind)")
                _ = try coordinator.write(bytes: Array(word.utf8), to: path, durability: .relaxed)
            case 97..<98 where faults[kind, default: 0] < 2:
                faults[kind, default: 0] += 1
                story.append("kill \(kind)")
                let process = run.process(of: kind)
                if process > 1 { kill(process, SIGKILL) }
            default: _ = try run.container.groupctl("write", "Library/\(kind)", input: "by groupctl \(number)")
            }
            story.append("")
            // The long run is as fast as a person who types, so that the host's cost is realistic.
            pause(nanoseconds: runsLongTests ? 50_000_000 : 5_000_000)
        }
        let cost = Double(try Self.cost(of: run.host.identifier) - start.cost)
        let elapsed = Double(monotonicNanoseconds() - start.time)
        print(
            "seed \(faultSeed): \(story.count) steps; the host used \(Int(cost / elapsed * 10_000)) of 10,000 of a core"
        )
        for kind in Self.kinds {
            _ = try coordinator.write(
                bytes: Array("true of \(kind)".utf8), to: ItemPath("Library/\(kind)"), durability: .relaxed)
            try run.send("show \(kind)")
        }
        for kind in Self.kinds { try run.await(kind, "active", "true of \(kind)") }
        let lines = try run.quit().split(separator: "\n").map {
            $0.split(separator: "\t", omittingEmptySubsequences: false)
        }
        for kind in Self.kinds {
            let panels = lines.filter { $0.count > 3 && $0[1] == kind }.map { Array($0.dropFirst()) }
            let repeated = zip(panels, panels.dropFirst()).first { $0 == $1 }
            #expect(repeated == nil, "\(kind) was drawn twice: \(repeated.map { "\($0.0)" } ?? "")")
            // A reload that was requested before adds a '!'.
            #expect(panels.last?[2].hasPrefix("true of \(kind)") == true)
        }
    }

    /// The processor time of all its threads, in nanoseconds.
    private static func cost(of process: Int32) throws -> Int64 {
        let threads = try FileManager.default.contentsOfDirectory(atPath: "/proc/\(process)/task")
        return threads.reduce(0) { sum, thread in
            let content = try? String(contentsOfFile: "/proc/\(process)/task/\(thread)/schedstat", encoding: .utf8)
            return sum + (content?.split(separator: " ").first.flatMap { Int64($0) } ?? 0)
        }
    }
}
