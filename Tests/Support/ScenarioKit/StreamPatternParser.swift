extension StreamPattern {
    /// Parses lines as they stand below `reported:`, without their common indentation.
    package static func parse(_ lines: [(number: Int, text: String)]) throws(ScenarioFault) -> [StreamPattern] {
        var rest = lines[...]
        let all = try block(&rest, depth: 0)
        if let line = rest.first { throw ScenarioFault(line.number, "'\(line.text)' is indented too far") }
        return all
    }

    private static func depth(_ text: String) -> Int { text.prefix { $0 == " " }.count }

    private static func block(
        _ rest: inout ArraySlice<(number: Int, text: String)>, depth: Int
    ) throws(ScenarioFault) -> [StreamPattern] {
        var expectations: [StreamPattern] = []
        while let line = rest.first, self.depth(line.text) == depth {
            rest.removeFirst()
            switch line.text.dropFirst(depth) {
            case "nothing": continue
            case "in any order:":
                var members: [Line] = []
                for inner in try block(&rest, depth: depth + 2) {
                    guard case .line(let member) = inner else {
                        throw ScenarioFault(line.number, "'in any order:' holds lines only")
                    }
                    members.append(member)
                }
                expectations.append(.anyOrder(members))
            case "either:":
                var branches = [try block(&rest, depth: depth + 2)]
                while let next = rest.first, next.text == String(repeating: " ", count: depth) + "or:" {
                    rest.removeFirst()
                    branches.append(try block(&rest, depth: depth + 2))
                }
                if branches.count < 2 { throw ScenarioFault(line.number, "'either:' has no 'or:'") }
                expectations.append(.either(branches))
            default:
                do {
                    expectations += try self.lines(String(line.text.dropFirst(depth))).map { .line($0) }
                } catch {
                    throw ScenarioFault(line.number, error.description)
                }
            }
        }
        return expectations
    }

    private static func lines(_ text: String) throws(Words.Fault) -> [Line] {
        guard text.hasPrefix("repeat ") else { return [try line(text)] }
        let parts = text.dropFirst(7).split(separator: ":", maxSplits: 1)
        guard parts.count == 2, let count = Int(parts[0]), count > 0 else {
            throw Words.Fault(description: "'\(text)' is not 'repeat N: LINE'")
        }
        var lines: [Line] = []
        for number in 1...count {
            let numbered = parts[1].split(separator: "%", omittingEmptySubsequences: false).joined(
                separator: "\(number)")
            lines.append(try line(numbered))
        }
        return lines
    }

    private static let kinds = ["created", "modified", "removed", "moved", "exchanged", "touched", "degraded", "any"]

    private static func line(_ text: String) throws(Words.Fault) -> Line {
        var words = try Words.split(text)
        var kind = words.isEmpty ? "" : String(decoding: words.removeFirst(), as: UTF8.self)
        var line = Line("", [])
        if kind.hasPrefix("@") {
            line.isCoordinated = true
            kind.removeFirst()
        }
        switch kind.last {
        case "+": line.atMost = .max
        case "*": (line.atLeast, line.atMost) = (0, .max)
        case "?": line.atLeast = 0
        default: kind += " "
        }
        line.kind = String(kind.dropLast())
        let expected = ["moved", "exchanged"].contains(line.kind) ? 2 : 1
        guard kinds.contains(line.kind), words.count == expected else {
            throw Words.Fault(
                description: "'\(text)' is not '[@]KIND[+*?] PATH' or '… FROM PATH', with one of \(kinds)")
        }
        line.path = words[expected - 1]
        line.from = expected == 2 ? words[0] : nil
        if line.path.suffix(3) == Array("/**".utf8)[...] {
            line.isBelow = true
            line.path.removeLast(3)
        }
        return line
    }
}
