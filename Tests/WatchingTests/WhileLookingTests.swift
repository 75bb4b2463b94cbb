import ScenarioKit
import TestSupport
import Testing

@testable import GroupContainer

/// The tree goes on changing while the steward looks at it: between any two of its looks.
struct `A steward in whose tree something happens at every look` {
    @Test func `tells what is in a folder as gone before the folder`() throws {
        for seed in UInt64(1)...(runsLongTests ? 3_000 : 300) {
            var random = SeededGenerator(seed: seed)
            let names = ["d", "d/deep", "d/deep/item", "e", "e/deep", "e/deep/item", "f"]
            var stage = SimulatedStage()
            try stage.prepare([])
            var steps = 0
            // Whoever looks gives the others time.
            stage.world.whileLooking = { tree in
                if steps == 80 || Int.random(in: 0..<3, using: &random) > 0 { return }
                steps += 1
                let place = names[Int.random(in: 0..<names.count, using: &random)]
                let lines = [
                    "mkdir \(place)", "write \(place) \(steps)", "rmtree \(place)", "rmdir \(place)", "mv d e",
                    "mv e d", "mv e f",
                    "mv f d",
                ]
                guard let line = lines.randomElement(using: &random) else { return }
                // What cannot be done does nothing.
                for case .tree(let step) in (try? ScenarioStep.steps(of: line)) ?? [] { try? tree.perform(step) }
            }
            while steps < 80 {
                _ = stage.world.found(try ItemLocation(Array("d".utf8)))
                try stage.serve(atMost: 3)
            }
            try stage.settle()
            let faults = stage.world.streamed.faults + stage.world.differences
            #expect(faults == [], "seed \(seed)")
        }
    }

    @Test func `takes what a change under a lease has put there, while it read the content, for nothing of its own`()
        throws
    {
        var stage = SimulatedStage()
        try stage.prepare(ScenarioStep.steps(of: "write x old"))
        stage.world.whileReading = { world in
            world.whileReading = nil
            for case .tree(let step) in (try? ScenarioStep.steps(of: "write x new")) ?? [] {
                try? world.tree.perform(step)
            }
            world.pending = [Array("x".utf8)]
        }
        // The same bytes: only the content tells.
        for step in try ScenarioStep.steps(of: "write x old") { try stage.perform(step) }
        try stage.serve()
        #expect(stage.world.takeTold().isEmpty)
        stage.world.pending = []
        try stage.settle()
        #expect(stage.world.takeTold().map(\.kind) == ["modified"])
    }
}
