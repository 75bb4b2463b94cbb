import ScenarioKit
import TestSupport
import Testing

/// Several processes change a container, with coordination and without, while the followers are killed, stopped and
/// started anew: a follower that applies the reported changes ends with the container's tree.
@Suite(.ownThreads, .timeLimit(.minutes(runsLongTests ? 30 : 2)), .tags(.process))
struct `Followers of random changes` {
    static let seeds: [UInt64] =
        if let seed = environmentNumber("GROUP_CONTAINER_SEED") { [seed] } else {
            Array(1...(runsLongTests ? 1_000 : 20))
        }

    /// The processes that carry out the steps; the same for all seeds, but for those that were killed.
    private final class Workers {
        private var processes: [RunningProcess] = []
        private var sent: [Int] = []
        private(set) var path = "/"

        static let count = 4
        /// The number of workers that coordinate; the others do not.
        static let members = 2

        init() throws { for _ in 0..<Self.count { try append() } }

        private func append() throws {
            processes.append(try RunningProcess(["test-member", "steps", "/"]))
            sent.append(0)
        }

        func go(to path: String) throws {
            self.path = path
            for worker in 0..<Self.count { try send("container \(path)", to: worker) }
        }

        func send(_ line: String, to worker: Int) throws {
            sent[worker] += 1
            try processes[worker].send(line)
        }

        func kill(_ worker: Int) throws {
            processes[worker].kill()
            processes[worker] = try RunningProcess(["test-member", "steps", path])
            sent[worker] = 0
        }

        func finish() throws {
            for (process, count) in zip(processes, sent) { try process.waitForNumber(count) }
        }
    }

    /// With `isOrderly`, the next change begins when the one before is done.
    private func play(
        _ seed: UInt64, _ workers: Workers, isOrderly: Bool, _ story: inout [String]
    ) throws -> [String] {
        var random = SeededGenerator(seed: seed)
        let container = try TemporaryContainer()
        try workers.go(to: container.path)
        let followers = [
            try Follower(of: container, keepingFile: nil, isRacy: !isOrderly),
            try Follower(of: container, keepingFile: "seen", isRacy: !isOrderly),
        ]
        for _ in 0..<Int.random(in: 20...60, using: &random) {
            let follower = Int.random(in: 0..<followers.count, using: &random)
            switch Int.random(in: 0..<40, using: &random) {
            case 0:
                story.append("# follower \(follower) is killed")
                try followers[follower].kill()
            case 1, 2:
                story.append("# dead followers come back")
                for follower in followers { try follower.start() }
            case 3:
                story.append("# follower \(follower) is stopped")
                try followers[follower].stop()
            case 4:
                story.append("# stopped followers go on")
                for follower in followers { follower.resume() }
            case 5:
                let worker = Int.random(in: 0..<Workers.members, using: &random)
                story.append("# worker \(worker) is killed")
                try workers.kill(worker)
            case 6:
                story.append("# everything has been done")
                try workers.finish()
            default:
                let worker = Int.random(in: 0..<Workers.count, using: &random)
                let step: ScenarioStep =
                    worker < Workers.members
                    ? RandomSteps.nextCoordinated(&random) : .tree(RandomSteps.next(&random, linking: false))
                story.append("\(worker): \(step)")
                try workers.send("\(step)", to: worker)
                if isOrderly { try workers.finish() }
            }
        }
        for follower in followers {
            follower.resume()
            try follower.start()
        }
        try workers.finish()
        // The call returns once the leader has recorded every change made before.
        let (status, text) = try container.groupctl("changes", "--json", "--since", "start")
        var faults = status == 0 ? [] : ["groupctl changes: \(text)"]
        let last = text.split(separator: "\n").last.map(String.init)
        let disk = try StreamedTree.seen(in: container)
        for (number, follower) in followers.enumerated() {
            try follower.reach(last)
            faults += (follower.tree.faults + follower.tree.differences(from: disk)).map { "follower \(number): \($0)" }
            faults += StreamChecker.faults(in: follower.runs).map { "follower \(number): \($0)" }
            try follower.kill()
        }
        if !faults.isEmpty { story += ["recorded:"] + (try recorded(text)) }
        return faults
    }

    private func recorded(_ text: String) throws -> [String] {
        try text.split(separator: "\n").map { line in
            let change = try JSONChange(String(line))
            return "  \(change.sequence) \(change.coordinated ? "@" : "")\(change.summary)"
        }
    }

    @Test func `followers that are killed and stopped have the container's tree at the end`() throws {
        try playAll(isOrderly: false)
    }

    @Test func `followers get no change that does not fit where one change comes after the other`() throws {
        try playAll(isOrderly: true)
    }

    private func playAll(isOrderly: Bool) throws {
        var workers = try Workers()
        for seed in Self.seeds {
            var story: [String] = []
            var faults: [String]
            do {
                faults = try play(seed, workers, isOrderly: isOrderly, &story)
            } catch {
                faults = ["\(error)"]
                workers = try Workers()
            }
            if faults.isEmpty { continue }
            let text = (["seed \(seed)"] + story + ["faults:"] + faults).joined(separator: "\n")
            Issue.record("\(text)")
        }
    }
}
