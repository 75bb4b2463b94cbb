import ScenarioKit
import TestSupport
import Testing

/// The same files as those that are played live, and random stories, for the deciding code alone.
@Suite struct `Simulated scenarios` {
    static let files = `Played scenarios`.files.filter { (try? $0.scenario)?.isPure ?? false }

    @Test(arguments: files, [Scenario.Mode.live, .inOneRound, .unwatched])
    func `a simulated scenario's changes are reported as its file says`(
        file: `Played scenarios`.File, mode: Scenario.Mode
    ) async throws {
        let scenario = try file.scenario
        guard scenario.isPlayed(mode) else { return }
        try await expectNoFaults(of: scenario, mode, on: SimulatedStage())
    }

    /// The tree has changed once more already when the leader looks, and the events of that are still to be read.
    @Test(arguments: files, 1...6)
    func `a simulated scenario's changes are reported alike if some events are read before the rest`(
        file: `Played scenarios`.File, count: Int
    ) async throws {
        let scenario = try file.scenario
        guard scenario.isPlayed(.inOneRound) else { return }
        var stage = SimulatedStage()
        stage.firstReading = count
        try await expectNoFaults(of: scenario, .inOneRound, on: stage)
    }

    private func expectNoFaults(of scenario: Scenario, _ mode: Scenario.Mode, on stage: SimulatedStage) async throws {
        var stage = stage
        let faults = try await scenario.faults(on: &stage, mode) + stage.view.differences + stage.view.streamed.faults
        if let reason = scenario.open {
            withKnownIssue("\(reason)", isIntermittent: true) {
                #expect(faults == [], "\(faults.joined(separator: "\n"))")
            }
        } else {
            #expect(faults == [], "\(faults.joined(separator: "\n"))")
        }
    }
}
