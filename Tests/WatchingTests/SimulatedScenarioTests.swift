import ScenarioKit
import TestSupport
import Testing

/// The same files as those that are played live, and random stories, for what decides alone.
@Suite struct `An observation of a simulated tree` {
    static let files = `A scenario`.files.filter { (try? $0.scenario)?.isPure ?? false }

    @Test(arguments: files, [Scenario.Mode.live, .inOneRound, .unwatched])
    func `tells what the scenario's file says`(file: `A scenario`.File, mode: Scenario.Mode) async throws {
        let scenario = try file.scenario
        guard scenario.isPlayed(mode) else { return }
        try await expectNoFaults(of: scenario, mode, on: SimulatedStage())
    }

    /// What is looked at has changed once more already, of which the events that are still to be read tell.
    @Test(arguments: files, 1...6)
    func `tells the same when the first events are read before the rest`(
        file: `A scenario`.File, count: Int
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
