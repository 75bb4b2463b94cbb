import Foundation
import ScenarioKit
import GroupSystemCalls
import TestSupport
import Testing

/// The files of `Tests/Support/Scenarios`, played against the live watcher.
@Suite(.ownThreads, .timeLimit(.minutes(2)), .tags(.process, .root))
struct `Played scenarios` {
    /// A scenario's file, with its name and its title.
    struct File: Sendable, CustomTestStringConvertible {
        var name: String
        var title: String
        private var parsed: Result<Scenario, ScenarioFault>

        init(_ name: String, _ text: String) {
            (self.name, title) = (name, String(text.prefix { $0 != "\n" }))
            parsed = Result { () throws(ScenarioFault) in try Scenario(parsing: text) }
        }

        var scenario: Scenario { get throws { try parsed.get() } }
        var testDescription: String { "\(name): \(title)" }
    }

    static let files: [File] = {
        let directory = projectDirectory.appending(path: "Tests/Support/Scenarios")
        let names = (try? FileManager.default.contentsOfDirectory(atPath: directory.path)) ?? []
        return names.filter { $0.hasSuffix(".txt") }.sorted().map { name in
            let text = try? String(contentsOf: directory.appending(path: name), encoding: .utf8)
            return File(name, text ?? "")
        }
    }()

    /// Scenarios that need a program which is not here.
    static let unplayable = files.filter { file in
        let needs = (try? file.scenario.needs) ?? []
        return needs.contains { !isHere($0) }
    }
    /// Returns whether a need is met: a program, being root, or being able to act as the user nobody.
    private static func isHere(_ need: String) -> Bool {
        switch need {
        case "root": return isRoot
        case "nobody":
            let nobody = ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups"]
            return isRoot && succeeds(nobody + [BuildDirectory.resolve("groupctl"), "--version"])
        default: return succeeds(["sh", "-c", "command -v \(need)"])
        }
    }

    static let playable = files.filter { file in !unplayable.contains { $0.name == file.name } }

    private func play(_ file: File, _ mode: Scenario.Mode) async throws {
        let scenario = try file.scenario
        guard scenario.isPlayed(mode) else { return }
        guard let reason = scenario.open else {
            var stage = LiveStage()
            let faults = try await scenario.faults(on: &stage, mode)
            #expect(faults == [], "\(faults.joined())")
            return
        }
        await withKnownIssue("\(reason)", isIntermittent: true) {
            var stage = LiveStage()
            let faults = try await scenario.faults(on: &stage, mode)
            #expect(faults == [])
        }
    }

    // fault: directory-made-again (container-removed.txt, container-moved.txt)
    @Test(arguments: playable) func `a scenario's changes are reported as its file says`(file: File) async throws {
        try await play(file, .live)
    }

    @Test(arguments: playable) func `a scenario's changes are reported as its file says when all are seen at once`(
        file: File
    ) async throws {
        try await play(file, .inOneRound)
    }

    @Test(arguments: playable) func `a scenario's changes are reported as its file says when no process watched`(
        file: File
    ) async throws {
        try await play(file, .unwatched)
    }

    @Test(.disabled(if: unplayable.isEmpty, "all is there"), arguments: unplayable)
    func `a scenario is left out where a program is missing`(file: File) async throws {}

    @Test func `each behavior has a scenario`() throws {
        let shown = try Set(Self.files.flatMap { try $0.scenario.behaviors })
        #expect(Set(1...40).subtracting(shown) == [])
        #expect(Self.files.count >= 60)
    }

    /// The same files can be played to the deciding code alone.
    @Test(arguments: files) func `a scenario of changes of the tree can be simulated`(file: File) throws {
        let scenario = try file.scenario
        if !scenario.isPure { return }
        let steps = scenario.before + scenario.phases.flatMap(\.steps)
        // Only root gives a file to another user.
        if !isRoot && steps.contains(where: { if case .tree(.chown) = $0 { true } else { false } }) { return }
        let temporary = try TemporaryContainer(creating: false)
        try FileManager.default.createDirectory(atPath: temporary.path + "/.group", withIntermediateDirectories: true)
        var (disk, simulated) = (DiskTree(temporary.path), SimulatedTree())
        for case .tree(let step) in steps {
            do throws(Errno) { try simulated.perform(step) } catch {
                Issue.record("\(Words.joined(step.words)): \(error)")
            }
            try disk.perform(step)
        }
        let names = try Set(disk.entries([]))
        #expect(try Set(simulated.entries([])) == names)
    }
}
