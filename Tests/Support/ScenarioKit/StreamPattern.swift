/// A line of the stream, as far as scenarios use it.
package struct ReportedLine: Equatable, Hashable, Sendable {
    package var kind: String
    package var path: [UInt8]
    /// The place before a move, or the other one of an exchange.
    package var from: [UInt8]?
    package var isCoordinated: Bool

    package init(_ kind: String, _ path: [UInt8], from: [UInt8]? = nil, isCoordinated: Bool = false) {
        self.kind = kind
        self.path = path
        self.from = from
        self.isCoordinated = isCoordinated
    }
}

extension ReportedLine: CustomStringConvertible {
    package var description: String {
        (isCoordinated ? "@" : "") + kind + " " + Words.joined([from, path].compactMap(\.self))
    }
}

/// What a stream should report: a pattern over its lines.
package indirect enum StreamPattern: Equatable, Sendable {
    package struct Line: Equatable, Sendable {
        /// The kind; `any` for every kind.
        package var kind: String
        package var path: [UInt8]
        package var from: [UInt8]?
        /// Whether the path is a directory, and the line is about everything below it.
        package var isBelow = false
        package var isCoordinated = false
        package var atLeast = 1
        package var atMost = 1

        package init(_ kind: String, _ path: [UInt8], from: [UInt8]? = nil) {
            self.kind = kind
            self.path = path
            self.from = from
        }

        func matches(_ line: ReportedLine) -> Bool {
            if (kind != "any" && kind != line.kind) || isCoordinated != line.isCoordinated { return false }
            if isBelow { return line.path.starts(with: path + [UInt8(ascii: "/")]) }
            if kind == "exchanged" { return Set([path, from]) == Set([line.path, line.from]) }
            return path == line.path && (kind == "any" || from == line.from)
        }
    }

    case line(Line)
    case anyOrder([Line])
    case either([[StreamPattern]])

    /// Returns whether the lines are all that is expected, and nothing else.
    package static func matches(_ expectations: [StreamPattern], _ lines: [ReportedLine]) -> Bool {
        allEnds(expectations, lines, Set([0])).contains(lines.count)
    }

    /// Returns where a match can end that begins at one of these places.
    private static func allEnds(_ expectations: [StreamPattern], _ lines: [ReportedLine], _ starts: Set<Int>) -> Set<
        Int
    > {
        expectations.reduce(starts) { starts, expectation in
            Set(starts.flatMap { expectation.ends(lines, from: $0) })
        }
    }

    private func ends(_ lines: [ReportedLine], from start: Int) -> Set<Int> {
        switch self {
        case .line(let line):
            let count = lines[start...].prefix(line.atMost).prefix { line.matches($0) }.count
            return count < line.atLeast ? [] : Set((start + line.atLeast)...(start + count))
        case .either(let branches):
            return Set(branches.flatMap { Self.allEnds($0, lines, Set([start])) })
        case .anyOrder(let members): return Self.ends(of: members, lines, from: start)
        }
    }

    /// Returns where the members can end. Each line goes to the first member that takes it: members with the least room
    /// first, those about directories last.
    private static func ends(of members: [Line], _ lines: [ReportedLine], from start: Int) -> Set<Int> {
        let members = members.sorted { $0.atMost < $1.atMost }
        let directories = members.indices.filter { members[$0].isBelow }
        var named: [[UInt8]: [Int]] = [:]
        for (index, member) in members.enumerated() where !member.isBelow {
            for name in Set([member.path, member.from ?? member.path]) { named[name, default: []].append(index) }
        }
        var counts = [Int](repeating: 0, count: members.count)
        var missing = members.count { $0.atLeast > 0 }
        var ends: Set<Int> = missing == 0 ? [start] : []
        for (place, line) in lines.enumerated().dropFirst(start) {
            let taker = ((named[line.path] ?? []) + directories).first {
                counts[$0] < members[$0].atMost && members[$0].matches(line)
            }
            guard let taker else { break }
            counts[taker] += 1
            if counts[taker] == members[taker].atLeast { missing -= 1 }
            if missing == 0 { ends.insert(place + 1) }
        }
        return ends
    }
}
