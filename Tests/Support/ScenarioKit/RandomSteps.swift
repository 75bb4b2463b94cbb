/// Random steps in a small tree of few names, so that they get in each other's way.
package enum RandomSteps {
    private static let names = ["a", "ab", "b", "c"]

    private static func path(_ random: inout some RandomNumberGenerator, leadsOut: Bool) -> [UInt8] {
        let depth = Int.random(in: 1...3, using: &random)
        let components = (0..<depth).map { _ in names.randomElement(using: &random) ?? "a" }
        return Array(((leadsOut ? [".."] : []) + components).joined(separator: "/").utf8)
    }

    /// Returns a step of a member under a lock, alone or in a transaction.
    package static func nextCoordinated(_ random: inout some RandomNumberGenerator) -> ScenarioStep {
        let (one, other) = (path(&random, leadsOut: false), path(&random, leadsOut: false))
        let text = [UInt8](
            repeating: UInt8.random(in: 97...122, using: &random), count: Int.random(in: 1...4, using: &random))
        let word = { (text: String) in Array(text.utf8) }
        let steps: [ScenarioStep] = [
            .groupctl([word("write"), one], input: text), .groupctl([word("write"), one], input: text),
            .groupctl([word("mkdir"), one], input: []), .groupctl([word("remove"), one], input: []),
            .groupctl([word("remove"), word("-r"), one], input: []), .groupctl([word("move"), one, other], input: []),
            .groupctl([word("move"), one, other], input: []), .groupctl([word("copy"), one, other], input: []),
            .groupctl([word("copy"), word("-r"), one, other], input: []),
            .transaction([[word("write"), one, text], [word("write"), other, text + text]]),
            .transaction([[word("move"), one, other], [word("write"), one, text]]),
            .transaction([[word("remove"), one], [word("write"), other, text]]),
        ]
        return steps.randomElement(using: &random) ?? steps[0]
    }

    /// Returns a random step, which often cannot be done. With `linking` false there are no hard links: what is written
    /// through one name of a file is not reported for another.
    package static func next(_ random: inout some RandomNumberGenerator, linking: Bool = true) -> TreeStep {
        let out = Int.random(in: 0..<24, using: &random)
        let (one, other) = (path(&random, leadsOut: out == 0), path(&random, leadsOut: out == 1))
        let text = [UInt8](repeating: UInt8.random(in: 97...122, using: &random), count: out % 4)
        var steps: [TreeStep] = [
            .create(one), .write(one, text), .append(one, text), .rewrite(one, text), .truncate(one, text.count),
            .mkdir(one), .mkdir(one), .mkdirs(one), .rm(one), .rmdir(one), .mv(one, other), .mv(one, other),
            .mv(one, other), .exchange(one, other), .exchange(one, other), .symlink(other, one), .chmod(0o700, one),
            .touch(one), .date(text.count, one), .fifo(one), .socket(one), .rmtree(one), .copy(one, other),
            .copytree(one, other),
        ]
        if linking { steps.append(.ln(one, other)) }
        return steps.randomElement(using: &random) ?? .touch(one)
    }

    /// Returns a random step on directories of few names that come, go and take each other's places, with little in
    /// them.
    package static func nextOfDirectories(_ random: inout some RandomNumberGenerator) -> TreeStep {
        let places = ["d", "d/deep", "d/deep/item", "e", "e/deep", "e/deep/item", "f"].map { Array($0.utf8) }
        let place = places.randomElement(using: &random) ?? places[0]
        let directories = [places[0], places[3], places[6]].shuffled(using: &random)
        let text = Array("\(Int.random(in: 0..<1_000, using: &random))".utf8)
        let steps: [TreeStep] = [
            .mkdir(place), .write(place, text), .rmtree(place), .rmdir(place), .mv(directories[0], directories[1]),
            .mv(directories[0], directories[1]), .mv(directories[0], directories[1]),
        ]
        return steps.randomElement(using: &random) ?? .mkdir(place)
    }
}
