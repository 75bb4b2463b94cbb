/// A line of a scenario that changes something.
package enum ScenarioStep: Equatable, Sendable {
    case tree(TreeStep)
    /// A command of groupctl on the container, and what it reads.
    case groupctl([[UInt8]], input: [UInt8])
    /// Steps of a member in one transaction: `write`, `remove`, `move`, `copy` and `mkdir`.
    case transaction([[[UInt8]]])
    /// A shell script in the container, for what has no step of its own. `$1` is the container.
    case shell(String)

    /// Returns the steps of a line: several if it begins with `repeat N:`; `%` is the number, and `;` stands between
    /// them.
    package static func steps(of line: String) throws(Words.Fault) -> [ScenarioStep] {
        if line.hasPrefix("sh ") { return [.shell(String(line.dropFirst(3)))] }
        guard line.hasPrefix("repeat ") else { return [try step(of: try Words.split(line), line)] }
        let parts = line.dropFirst(7).split(separator: ":", maxSplits: 1)
        guard parts.count == 2, let count = Int(parts[0]), count > 0 else {
            throw Words.Fault(description: "'\(line)' is not 'repeat N: STEP; STEP'")
        }
        let templates = parts[1].split(separator: ";").map {
            $0.split(separator: "%", omittingEmptySubsequences: false)
        }
        var steps: [ScenarioStep] = []
        for number in 1...count {
            for template in templates {
                steps.append(try step(of: try Words.split(template.joined(separator: "\(number)")), line))
            }
        }
        return steps
    }

    private static func step(of words: [[UInt8]], _ line: String) throws(Words.Fault) -> ScenarioStep {
        switch words.first.map({ String(decoding: $0, as: UTF8.self) }) {
        case "groupctl":
            let mark = words.firstIndex(of: Array("<".utf8))
            let arguments = Array(words[1..<(mark ?? words.count)])
            if arguments.isEmpty || mark.map({ $0 + 2 != words.count }) ?? false {
                throw Words.Fault(description: "'\(line)' is not 'groupctl SUBCOMMAND WORD… [< TEXT]'")
            }
            return .groupctl(arguments, input: mark == nil ? [] : words[words.count - 1])
        case "transaction":
            let parts = words.dropFirst().split(separator: Array(";".utf8)).map(Array.init)
            if parts.isEmpty { throw Words.Fault(description: "a transaction of nothing") }
            return .transaction(parts)
        default:
            guard let step = TreeStep(words) else {
                throw Words.Fault(
                    description:
                        "'\(line)' is no step: those are \(TreeStep.names.joined(separator: ", ")), each with its "
                        + "one or two words; groupctl; transaction; sh; repeat")
            }
            return .tree(step)
        }
    }
}

extension ScenarioStep: CustomStringConvertible {
    package var description: String {
        switch self {
        case .tree(let step): return Words.joined(step.words)
        case .groupctl(let words, let input):
            return "groupctl \(Words.joined(words))" + (input.isEmpty ? "" : " < \(Words.joined([input]))")
        case .transaction(let parts): return "transaction " + parts.map(Words.joined).joined(separator: " ; ")
        case .shell(let script): return "sh \(script)"
        }
    }
}
