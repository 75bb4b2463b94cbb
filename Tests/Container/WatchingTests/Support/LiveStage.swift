import Foundation
import Glibc
import ScenarioKit
import TestSupport
import Testing

/// Plays a scenario on a real container with a follower that is its leader.
struct LiveStage: ScenarioStage {
    private(set) var watched: WatchedContainer?

    /// Makes the first items while the leader watches, so that it knows their contents whatever the machine does. A
    /// comparison reads the content of young files only, and learns that of others when it has nothing else to do.
    mutating func prepare(_ steps: [ScenarioStep]) async throws {
        let watched = try await WatchedContainer()
        self.watched = watched
        try await Self.perform(steps, in: watched.container)
        try await watched.settle()
    }

    func reported(of steps: [ScenarioStep], _ mode: Scenario.Mode) async throws -> [ReportedLine] {
        let watched = try #require(watched)
        switch mode {
        case .live: try await Self.perform(steps, in: watched.container)
        case .inOneRound:
            try #require(watched.watcher.stop())
            // The leader goes on, whatever comes.
            defer { watched.watcher.signal(SIGCONT) }
            try await Self.perform(steps, in: watched.container)
        case .unwatched: try await watched.unwatched { try await Self.perform(steps, in: watched.container) }
        }
        return try await watched.settle().map(ReportedLine.init)
    }

    private static func perform(_ steps: [ScenarioStep], in container: TemporaryContainer) async throws {
        var tree = DiskTree(container.path)
        for step in steps {
            switch step {
            case .tree(let step):
                do {
                    try tree.perform(step)
                } catch {
                    throw TemporaryContainer.Failed(description: "\(Words.joined(step.words)): \(error)")
                }
            case .groupctl(let words, let input):
                let outcome = try await container.start(
                    "groupctl", [words[0], Array(container.path.utf8)] + words.dropFirst(), input: input
                ).finish()
                if outcome.status != 0 { throw TemporaryContainer.Failed(description: "\(step): \(outcome)") }
            case .transaction:
                let outcome = try await container.start(
                    "test-member", ["steps", container.path], input: "\(step)\n"
                ).finish()
                if outcome.text != "ok 1\n" { throw TemporaryContainer.Failed(description: "\(step): \(outcome)") }
            case .shell(let script): try await WatchedContainer.run(script, in: container)
            }
        }
    }
}

extension ReportedLine {
    init(_ change: JSONChange) {
        self.init(
            change.kind, change.pathOnDisk, from: change.fromOnDisk, isCoordinated: change.coordinated)
    }
}
