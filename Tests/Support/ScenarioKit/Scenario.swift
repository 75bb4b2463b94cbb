/// What is wrong with a scenario's file, and where.
package struct ScenarioFault: Error, Equatable, CustomStringConvertible {
    package var line: Int
    package var reason: String

    init(_ line: Int, _ reason: String) { (self.line, self.reason) = (line, reason) }

    package var description: String { "line \(line): \(reason)" }
}

/// One behavior of the watching: what is done to a container, and what the stream reports of it.
/// `Tests/Support/Scenarios/README.md` has the notation.
package struct Scenario: Equatable, Sendable {
    /// Some steps, and what is reported once they are done. The next phase begins when all of it was reported.
    package struct Phase: Equatable, Sendable {
        package var steps: [ScenarioStep] = []
        package var reported: [StreamPattern]?
        /// What is reported where the leader gets all events at once, when everything has happened; nil if it is the
        /// same.
        package var reportedInOneRound: [StreamPattern]?
        /// What is reported to the next follower where no process watched; nil if that is not tried.
        package var reportedUnwatched: [StreamPattern]?

        package func expected(_ mode: Mode) -> [StreamPattern]? {
            switch mode {
            case .live: reported
            case .inOneRound: reportedInOneRound ?? reported
            case .unwatched: reportedUnwatched
            }
        }
    }

    /// When the leader learns of the steps.
    package enum Mode: Sendable {
        /// While the steps are done.
        case live
        /// The leader is stopped meanwhile, and gets all events at once.
        case inOneRound
        /// There is no leader meanwhile.
        case unwatched
    }

    package var title: String
    /// The numbers of the behaviors that the scenario shows.
    package var behaviors: [Int] = []
    /// Programs without which the scenario cannot be played.
    package var needs: [String] = []
    /// Why the scenario is not played where the leader gets all events at once.
    package var notInOneRound: String?
    /// Why the stream does not yet report what it should.
    package var open: String?
    /// Steps that are done before the container is watched.
    package var before: [ScenarioStep] = []
    package var phases: [Phase] = []

    /// Returns whether the scenario has what is reported in this mode.
    package func isPlayed(_ mode: Mode) -> Bool {
        if mode == .inOneRound && notInOneRound != nil { return false }
        return phases.allSatisfy { $0.expected(mode) != nil }
    }

    /// Whether there are only changes of the tree, which a simulation can carry out, too.
    package var isPure: Bool {
        (before + phases.flatMap(\.steps)).allSatisfy { if case .tree = $0 { true } else { false } }
    }

    package init(parsing text: String) throws(ScenarioFault) {
        var lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init).enumerated()
            .map { (number: $0.offset + 1, text: $0.element) }
            .filter { !$0.text.hasPrefix("#") && !$0.text.allSatisfy { $0 == " " } }[...]
        guard let first = lines.popFirst(), !first.text.hasPrefix(" "), !first.text.hasSuffix(":") else {
            throw ScenarioFault(1, "the first line is not a title")
        }
        title = first.text
        while let line = lines.popFirst() {
            if line.text.hasPrefix(" ") { throw ScenarioFault(line.number, "'\(line.text)' stands below no heading") }
            let body = lines.prefix { $0.text.hasPrefix(" ") }
            lines = lines.dropFirst(body.count)
            if body.contains(where: { !$0.text.hasPrefix("  ") }) {
                throw ScenarioFault(line.number, "what is below a heading is indented by two spaces")
            }
            let inner = body.map { (number: $0.number, text: String($0.text.dropFirst(2))) }
            if inner.isEmpty { try takeHeader(line) } else { try takeSection(line, inner) }
        }
        guard phases.contains(where: { !$0.steps.isEmpty }) else {
            throw ScenarioFault(first.number, "nothing happens: there is no 'steps:'")
        }
    }

    private mutating func takeHeader(_ line: (number: Int, text: String)) throws(ScenarioFault) {
        let parts = line.text.split(separator: ":", maxSplits: 1).map { String($0.drop { $0 == " " }) }
        guard parts.count == 2 else { throw ScenarioFault(line.number, "'\(line.text)' has no value") }
        switch parts[0] {
        case "behavior":
            for number in parts[1].split(separator: ",") {
                guard let number = Int(number.drop { $0 == " " }), (1...40).contains(number) else {
                    throw ScenarioFault(line.number, "'\(parts[1])' are not numbers of behaviors, 1 to 40")
                }
                behaviors.append(number)
            }
        case "needs": needs += parts[1].split(separator: " ").map(String.init)
        case "not in one round": notInOneRound = parts[1]
        case "open": open = parts[1]
        default: throw ScenarioFault(line.number, "'\(parts[0]):' is no heading, or has nothing below it")
        }
    }

    private mutating func takeSection(
        _ heading: (number: Int, text: String), _ lines: [(number: Int, text: String)]
    ) throws(ScenarioFault) {
        switch heading.text {
        case "before:": before += try Self.steps(lines)
        case "steps:": phases.append(Phase(steps: try Self.steps(lines)))
        case "reported:", "reported in one round:", "reported unwatched:":
            if phases.isEmpty { throw ScenarioFault(heading.number, "no steps come before these lines") }
            let reported = try StreamPattern.parse(lines)
            let last = phases.count - 1
            if heading.text == "reported:" { phases[last].reported = reported }
            if heading.text == "reported in one round:" { phases[last].reportedInOneRound = reported }
            if heading.text == "reported unwatched:" { phases[last].reportedUnwatched = reported }
        default: throw ScenarioFault(heading.number, "'\(heading.text)' is no heading that has something below it")
        }
    }

    private static func steps(_ lines: [(number: Int, text: String)]) throws(ScenarioFault) -> [ScenarioStep] {
        var steps: [ScenarioStep] = []
        for line in lines {
            do {
                steps += try ScenarioStep.steps(of: line.text)
            } catch {
                throw ScenarioFault(line.number, error.description)
            }
        }
        return steps
    }
}
