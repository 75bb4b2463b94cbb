import ScenarioKit
import TestSupport

/// Steps in a small tree of few names, so that they get in each other's way.
enum RandomSteps {
    private static let names = ["a", "ab", "b", "c"]

    private static func path(_ random: inout SeededGenerator) -> [UInt8] {
        let depth = Int.random(in: 1...3, using: &random)
        let components = (0..<depth).map { _ in names.randomElement(using: &random) ?? "a" }
        let leadsOut = Int.random(in: 0..<12, using: &random) == 0
        return Array(((leadsOut ? [".."] : []) + components).joined(separator: "/").utf8)
    }

    static func next(_ random: inout SeededGenerator) -> TreeStep {
        let (one, other) = (path(&random), path(&random))
        let text = [UInt8](repeating: 120, count: Int.random(in: 0..<4, using: &random))
        let steps: [TreeStep] = [
            .create(one), .write(one, text), .append(one, text), .rewrite(one, text), .truncate(one, text.count),
            .mkdir(one), .mkdir(one), .mkdirs(one), .rm(one), .rmdir(one), .mv(one, other), .mv(one, other),
            .exchange(one, other), .exchange(one, other), .ln(one, other), .symlink(other, one), .chmod(0o700, one),
            .touch(one), .date(text.count, one), .fifo(one), .socket(one), .rmtree(one), .copy(one, other),
            .copytree(one, other),
        ]
        return steps.randomElement(using: &random) ?? .touch(one)
    }
}
