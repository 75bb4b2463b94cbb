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
        stage.view.whileReading = { view in
            view.whileReading = nil
            for case .tree(let step) in (try? ScenarioStep.steps(of: "write x new")) ?? [] {
                try? view.tree.perform(step)
            }
            view.pending = [Array("x".utf8)]
        }
        // The same bytes: only the content tells.
        for step in try ScenarioStep.steps(of: "write x old") { try stage.perform(step) }
        try stage.serve()
        #expect(stage.view.takeTold().isEmpty)
        stage.view.pending = []
        try stage.settle()
        #expect(stage.view.takeTold().map(\.kind) == ["modified"])
    }
}
