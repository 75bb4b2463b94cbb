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

    /// A coordinated change within a directory keeps the move of the directory from the journal for a moment.
    @Test(arguments: [1, 2, 3])
    func `a directory that is renamed while an item in it is changed is moved, and not removed`(times: Int) throws {
        var stage = SimulatedStage()
        try stage.prepare("mkdirs d0", "create d0/changed", "create d0/other")
        stage.view.pending = [Array("d0/changed".utf8)]
        for time in 1...times {
            for step in try ScenarioStep.steps(of: "mv d\(time - 1) d\(time)") { try stage.perform(step) }
            try stage.serve()
            #expect(stage.view.takeReported().isEmpty)
        }
        stage.view.pending = []
        try stage.settle()
        let reported = stage.view.takeReported()
        #expect(reported.map(\.kind) == ["moved"], "\(reported)")
    }

    /// Another process is in the way of the rename, and the directory's old path is to be compared, too.
    @Test func `a directory that is compared while its rename is not recorded yet is not gone`() throws {
        var stage = SimulatedStage()
        try stage.prepare("mkdirs d", "create d/changed", "create d/other")
        stage.view.pending = [Array("d/changed".utf8)]
        for step in try ScenarioStep.steps(of: "mv d e") { try stage.perform(step) }
        try stage.compare("d")
        try stage.serve()
        try stage.serve()
        #expect(stage.view.takeReported().isEmpty)
        stage.view.pending = []
        try stage.settle()
        #expect(stage.view.takeReported().map(\.kind) == ["moved"])
    }

    @Test func `a directory that is renamed and removed while an item in it is changed is removed`() throws {
        var stage = SimulatedStage()
        try stage.prepare("mkdirs d", "create d/changed")
        stage.view.pending = [Array("d/changed".utf8)]
        for step in try ScenarioStep.steps(of: "mv d e") { try stage.perform(step) }
        try stage.serve()
        for step in try ScenarioStep.steps(of: "rmtree e") { try stage.perform(step) }
        try stage.serve()
        stage.view.pending = []
        try stage.settle()
        #expect(Set(stage.view.takeReported().map(\.kind)) == ["removed"])
    }

    /// Each rename of a directory comes just before one of the leader's looks.
    @Test(arguments: 1...12) func `a directory that is renamed again and again is only moved`(first: Int) throws {
        for second in 1...12 {
            for third in [1, 2, 5] {
                var stage = SimulatedStage()
                try stage.prepare("mkdirs d0/inner", "create d0/one", "create d0/inner/two")
                for step in try ScenarioStep.steps(of: "mv d0 d1") { try stage.perform(step) }
                var (looks, name) = (0, 1)
                stage.view.whileLooking = { tree in
                    looks += 1
                    guard [first, first + second, first + second + third].contains(looks) else { return }
                    for case .tree(let step) in (try? ScenarioStep.steps(of: "mv d\(name) d\(name + 1)")) ?? [] {
                        if (try? tree.perform(step)) != nil { name += 1 }
                    }
                }
                for _ in 0..<4 { try stage.serve() }
                try stage.settle()
                let reported = stage.view.takeReported()
                #expect(reported.allSatisfy { $0.kind == "moved" }, "\(second) \(third): \(reported)")
                #expect(stage.view.differences == [])
            }
        }
    }
}

extension SimulatedStage {
    fileprivate mutating func prepare(_ lines: String...) throws {
        try prepare(lines.flatMap { try ScenarioStep.steps(of: $0) })
    }
}
