/// Checks six properties of what a follower received, in one run or in several that each went on where the one before
/// was. The checker knows nothing of the tree; `StreamedTree` does.
package struct StreamChecker {
    /// A run of a follower from its start to its end, or to its death.
    package struct Run: Sendable {
        /// The cursor from which it began; nil for the beginning of everything.
        package var cursor: String?
        package var lines: [JSONChange]

        package init(since cursor: String?, _ lines: [JSONChange]) { (self.cursor, self.lines) = (cursor, lines) }
    }

    package enum Property: String, Sendable, CaseIterable {
        /// The sequence never goes back.
        case ordered
        /// No change comes twice, and one number is one change.
        case unique
        /// Within a run nothing is left out.
        case reliable
        /// The changes of a transaction come one after the other, all of them, or, after a death, all of them again.
        case atomic
        /// Behind a cursor comes what is next, or one `rescan`.
        case resumable
        /// A `bookmark` names the place that was reached.
        case bookmarkable
    }

    package struct Fault: Equatable, CustomStringConvertible {
        package var property: Property
        package var run: Int
        package var description: String
    }

    private var faults: [Fault] = []
    /// The change at each number, and at each part of its transaction.
    private var known: [Place: JSONChange] = [:]
    private var places: [String: UInt64] = [:]

    private struct Place: Hashable {
        var sequence: UInt64
        var part: Int
    }

    package static func faults(in runs: [Run]) -> [Fault] {
        var checker = StreamChecker()
        for (number, run) in runs.enumerated() { checker.take(run, number) }
        return checker.faults
    }

    private static let remarks = ["rescan", "bookmark", "degraded"]

    private mutating func take(_ run: Run, _ number: Int) {
        func report(_ property: Property, _ line: JSONChange, _ text: String) {
            faults.append(
                Fault(
                    property: property, run: number,
                    description: "run \(number), \(line.sequence) \(line.summary): \(text)"))
        }
        /// The place of the last line that was no remark, or where the run began; nil if that is not known.
        var last: (sequence: UInt64, part: Int, count: Int)?
        if let cursor = run.cursor { last = places[cursor].map { ($0, 0, 1) } } else { last = (0, 0, 1) }
        var isFirst = true
        for line in run.lines {
            defer { isFirst = false }
            if Self.remarks.contains(line.kind) {
                if let last, last.part + 1 < last.count { report(.atomic, line, "it is within a transaction") }
                if line.kind == "bookmark", let last, line.sequence != last.sequence {
                    report(.bookmarkable, line, "up to \(last.sequence) was reported")
                }
                if line.kind == "rescan" {
                    if !isFirst { report(.resumable, line, "the place was known") }
                    last = (line.sequence, 0, 1)
                }
                places[line.cursor] = line.sequence
                continue
            }
            let (part, count) = (line.transaction?.index ?? 0, line.transaction?.count ?? 1)
            if let last {
                let expected: (UInt64, Int) =
                    last.part + 1 < last.count ? (last.sequence, last.part + 1) : (last.sequence + 1, 0)
                if (line.sequence, part) != expected {
                    let text = "\(expected.0), part \(expected.1), was next, rather than part \(part)"
                    if (line.sequence, part) == (last.sequence, last.part) {
                        report(isFirst ? .resumable : .unique, line, text)
                    } else if isFirst {
                        report(.resumable, line, text)
                    } else if line.sequence < last.sequence {
                        report(.ordered, line, text)
                    } else if expected.1 > 0 || part > 0 {
                        report(.atomic, line, text)
                    } else {
                        report(.reliable, line, text)
                    }
                }
            } else if part > 0 {
                report(.atomic, line, "it is part \(part) of a transaction whose others did not come")
            }
            if let before = known.updateValue(line, forKey: Place(sequence: line.sequence, part: part)), before != line
            {
                report(.unique, line, "before, it was \(before.summary)")
            }
            last = (line.sequence, part, count)
            // The lines of a transaction have the cursor behind all of it.
            if let place = places.updateValue(line.sequence, forKey: line.cursor), place != line.sequence {
                report(.unique, line, "its cursor was that of \(place)")
            }
        }
    }
}
