import ScenarioKit
import TestSupport
import Testing

@testable import GroupContainer

/// The tree changes while the leader looks at it. (Random stories are in `SimulatedStoryTests`.)
struct `Changes while the leader looks` {
    @Test func `a coordinated change while the leader reads the content is not reported as external`()
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
        // The same bytes: only the content decides.
        for step in try ScenarioStep.steps(of: "write x old") { try stage.perform(step) }
        try stage.serve()
        #expect(stage.view.takeReported().isEmpty)
        stage.view.pending = []
        try stage.settle()
        #expect(stage.view.takeReported().map(\.kind) == ["modified"])
    }

    @Test(arguments: [1, 2])
    func `appending to a file while the leader reads it is one modification, with the size of what was read`(
        times: Int
    ) throws {
        var stage = SimulatedStage()
        try stage.prepare(ScenarioStep.steps(of: "write x old"))
        var left = times
        stage.view.whileReading = { view in
            left -= 1
            if left == 0 { view.whileReading = nil }
            for case .tree(let step) in (try? ScenarioStep.steps(of: "append x more")) ?? [] {
                try? view.tree.perform(step)
            }
        }
        for step in try ScenarioStep.steps(of: "append x new") { try stage.perform(step) }
        try stage.serve()
        try stage.settle()
        #expect(stage.view.takeReported().map(\.kind) == ["modified"])
    }
}
