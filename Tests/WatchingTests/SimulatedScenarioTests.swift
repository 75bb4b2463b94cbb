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
        var stage = SimulatedStage()
        let faults = try await scenario.faults(on: &stage, mode) + stage.world.differences + stage.world.streamed.faults
        if let reason = scenario.open {
            withKnownIssue("\(reason)", isIntermittent: true) {
                #expect(faults == [], "\(faults.joined(separator: "\n"))")
            }
        } else {
            #expect(faults == [], "\(faults.joined(separator: "\n"))")
        }
    }
}
