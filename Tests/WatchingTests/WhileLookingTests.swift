import ScenarioKit
import TestSupport
import Testing

@testable import GroupContainer

/// The tree changes while the leader looks at it. (Stories, drawn by lot, are in `SimulatedStoryTests`.)
struct `A leader in whose tree something happens while it looks` {
    @Test func `takes what a change under a lock has put there, while it read the content, for nothing of its own`()
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
