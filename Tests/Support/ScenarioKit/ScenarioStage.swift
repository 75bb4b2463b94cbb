/// Where a scenario is played: against the live watcher, or against the deciding code alone, fed by a `SimulatedTree`.
package protocol ScenarioStage {
    /// Carries out steps before the container is watched.
    mutating func prepare(_ steps: [ScenarioStep]) async throws
    /// Carries out steps, and returns what is reported of them once all of it was reported.
    mutating func reported(of steps: [ScenarioStep], _ mode: Scenario.Mode) async throws -> [ReportedLine]
}

extension Scenario {
    /// Returns a sentence for the first phase in which the stream did not report what it should. That phase ends the
    /// scenario: later ones build on it.
    package func faults(on stage: inout some ScenarioStage, _ mode: Mode) async throws -> [String] {
        try await stage.prepare(before)
        for phase in phases {
            let reported = try await stage.reported(of: phase.steps, mode)
            let expected = phase.expected(mode) ?? []
            if StreamPattern.matches(expected, reported) { continue }
            let steps = phase.steps.prefix(20).map { "\n  \($0)" }.joined()
            let lines = reported.isEmpty ? "\n  nothing" : reported.prefix(60).map { "\n  \($0)" }.joined()
            return ["of\(steps)\nthe stream has\(lines)\n(\(reported.count) lines), rather than what is expected"]
        }
        return []
    }
}
