import ScenarioKit
import TestSupport
import Testing

/// Something that happens to a container and its steward, drawn by lot; and when the steward looks.
struct SimulatedStory: CustomStringConvertible {
    enum Event {
        case step(TreeStep)
        /// So many of the kernel's events are read, and looked at.
        case reading(Int)
        case readingAll
        /// Another one becomes steward.
        case takingOver
    }

    var reusesInodes: Bool
    var hasCoarseDates: Bool
    var queueLimit: Int
    var events: [Event] = []

    init(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        reusesInodes = Bool.random(using: &random)
        hasCoarseDates = Bool.random(using: &random)
        queueLimit = Int.random(in: 0..<4, using: &random) == 0 ? 8 : 16_384
        for _ in 0..<Int.random(in: 5...120, using: &random) {
            events.append(.step(RandomSteps.next(&random, linking: false)))
            switch Int.random(in: 0..<20, using: &random) {
            case 0...8: break
            case 9...14: events.append(.reading(Int.random(in: 1...4, using: &random)))
            case 15: events.append(.takingOver)
            default: events.append(.readingAll)
            }
        }
    }

    /// What is wrong at its end, and what was told on the way. Steps that cannot be done do nothing.
    func play() throws -> (faults: [String], told: [String]) {
        var stage = SimulatedStage()
        stage.world.tree.reusesInodes = reusesInodes
        stage.world.hasCoarseDates = hasCoarseDates
        stage.world.tree.queueLimit = queueLimit
        try stage.prepare([])
        var told: [String] = []
        for event in events {
            switch event {
            case .step(let step): do { try stage.perform(.tree(step)) } catch { continue }
            case .reading(let count): try stage.serve(atMost: count)
            case .readingAll: try stage.serve()
            case .takingOver:
                // A change of the same size within the date's grain, whose event nobody read, cannot be found.
                if hasCoarseDates { try stage.settle() }
                try stage.begin()
            }
            told.append("\(event)" + stage.world.takeTold().map { "\n    \($0)" }.joined())
        }
        try stage.settle()
        told.append("at the end" + stage.world.takeTold().map { "\n    \($0)" }.joined())
        return (stage.world.streamed.faults + stage.world.differences, told)
    }

    /// Without all that is not needed for it to fail.
    func shortened() throws -> SimulatedStory {
        var (short, size) = (self, events.count)
        while size > 0 {
            var place = 0
            while place < short.events.count {
                var shorter = short
                shorter.events.removeSubrange(place..<min(place + size, short.events.count))
                if try shorter.play().faults.isEmpty { place += size } else { short = shorter }
            }
            size /= 2
        }
        for change in Self.simplifications {
            var simpler = short
            change(&simpler)
            if try !simpler.play().faults.isEmpty { short = simpler }
        }
        return short
    }

    private static let simplifications: [@Sendable (inout SimulatedStory) -> Void] = [
        { $0.reusesInodes = false }, { $0.hasCoarseDates = false }, { $0.queueLimit = 16_384 },
    ]

    var description: String {
        (reusesInodes ? "inodes' numbers are given again; " : "") + (hasCoarseDates ? "dates are coarse; " : "")
            + (queueLimit < 1_000 ? "the queue holds \(queueLimit)" : "")
    }
}

extension SimulatedStory.Event: CustomStringConvertible {
    var description: String {
        switch self {
        case .step(let step): Words.joined(step.words)
        case .reading(let count): "(\(count) events are read)"
        case .readingAll: "(all events are read)"
        case .takingOver: "(another one takes over)"
        }
    }
}

@Suite struct `A random story` {
    static let seeds: [UInt64] =
        if let seed = environmentNumber("GROUP_CONTAINER_SEED") { [seed] } else {
            Array(1...(runsLongTests ? 20_000 : 1_000))
        }

    @Test func `ends with the tree that is there, and is told without a contradiction`() throws {
        for seed in Self.seeds {
            let story = SimulatedStory(seed: seed)
            if try story.play().faults.isEmpty { continue }
            let short = try story.shortened()
            let (faults, told) = try short.play()
            let text = (["seed \(seed): \(short)"] + told + ["faults:"] + faults).joined(separator: "\n")
            Issue.record("\(text)")
        }
    }
}
