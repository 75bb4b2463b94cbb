import Glibc
import GroupContainer
import ScenarioKit

/// Carries out what it reads, a line at a time as the scenarios have it, and prints for each `ok` or the reason of a
/// failure, and the number of lines so far: `groupctl` and `transaction` as a member, anything else without
/// coordination. `container PATH` changes to another container.
func performSteps(in path: String) throws {
    var stage = StepStage(path)
    var count = 0
    while let line = nextLine() {
        count += 1
        var answer = "ok"
        do {
            if line.hasPrefix("container ") {
                stage = StepStage(String(line.dropFirst(10)))
            } else {
                for step in try ScenarioStep.steps(of: line) { try stage.perform(step) }
            }
        } catch {
            answer = "refused: " + "\(error)".split(separator: "\n").joined(separator: " ")
        }
        printLine("\(answer) \(count)")
    }
}

private struct StepStage {
    private let path: String
    private var tree: DiskTree
    private var coordinator: BlockingCoordinator?

    init(_ path: String) { (self.path, tree) = (path, DiskTree(path)) }

    struct Unknown: Error {}

    /// Joins the container at the first coordinated step.
    private mutating func member() throws -> BlockingCoordinator {
        if let coordinator { return coordinator }
        let joined = try Container(path: path).coordinator(purpose: "test-member").blocking
        coordinator = joined
        return joined
    }

    mutating func perform(_ step: ScenarioStep) throws {
        switch step {
        case .tree(let step): try tree.perform(step)
        case .shell: throw Unknown()
        case .groupctl(let words, let input): try perform(words, input, as: try member())
        case .transaction(let parts): try transact(parts, as: try member())
        }
    }

    private func perform(_ words: [[UInt8]], _ input: [UInt8], as member: BlockingCoordinator) throws {
        let isRecursive = words.contains(Array("-r".utf8))
        let paths = words.dropFirst().filter { $0.first != UInt8(ascii: "-") }.map { ItemPath(bytes: $0) }
        switch (String(decoding: words[0], as: UTF8.self), paths.count) {
        case ("write", 1): _ = try member.write(bytes: input, to: paths[0], durability: .relaxed)
        case ("mkdir", 1): _ = try member.createDirectory(paths[0], durability: .relaxed)
        case ("remove", 1): try member.remove(paths[0], recursively: isRecursive, durability: .relaxed)
        case ("move", 2): try member.move(paths[0], to: paths[1], replacing: true, durability: .relaxed)
        case ("copy", 2):
            _ = try member.copy(paths[0], to: paths[1], recursively: isRecursive, replacing: true, durability: .relaxed)
        default: throw Unknown()
        }
    }

    private func transact(_ parts: [[[UInt8]]], as member: BlockingCoordinator) throws {
        let intents = try parts.flatMap(Self.intents)
        let body = { (access: Access) in for part in parts { try Self.perform(part, access) } }
        // The call takes the intents one by one.
        switch intents.count {
        case 1: try member.transaction(intents[0], durability: .relaxed, body)
        case 2: try member.transaction(intents[0], intents[1], durability: .relaxed, body)
        case 3: try member.transaction(intents[0], intents[1], intents[2], durability: .relaxed, body)
        case 4: try member.transaction(intents[0], intents[1], intents[2], intents[3], durability: .relaxed, body)
        default: throw Unknown()
        }
    }

    private static func intents(_ words: [[UInt8]]) throws -> [AccessIntent] {
        let paths = words.dropFirst().map { ItemPath(bytes: $0) }
        switch (words.first.map { String(decoding: $0, as: UTF8.self) }, paths.count) {
        case ("write", 2), ("mkdir", 1): return [.writing(paths[0])]
        case ("remove", 1): return [.writing(paths[0], .forDeleting)]
        case ("move", 2): return [.writing(paths[0], .forMoving), .writing(paths[1], .forReplacing)]
        case ("copy", 2): return [.reading(paths[0]), .writing(paths[1], .forReplacing)]
        default: throw Unknown()
        }
    }

    private static func perform(_ words: [[UInt8]], _ access: Access) throws {
        let paths = words.dropFirst().map { ItemPath(bytes: $0) }
        switch String(decoding: words[0], as: UTF8.self) {
        case "write": try access.write(bytes: words[2], to: paths[0])
        case "mkdir": try access.createDirectory(paths[0])
        case "remove": try access.remove(paths[0], recursively: true)
        case "move": try access.move(paths[0], to: paths[1], replacing: true)
        default: try access.copy(paths[0], to: paths[1], replacing: true)
        }
    }
}
