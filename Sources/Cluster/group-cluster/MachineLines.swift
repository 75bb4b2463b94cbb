import Cluster
import FoundationEssentials
import GroupCommandLine

/// How `group-cluster status` shows another machine.
extension ClusterStatus.Machine {
    private static func text(_ date: Date) -> String { date.formatted(.iso8601) }

    private func behind(_ count: UInt64) -> UInt64? { index.map { count - min($0, count) } }

    func json(of count: UInt64) -> JSONValue {
        func number(_ number: UInt64?) -> JSONValue { number.map { .integer(Int64(clamping: $0)) } ?? .null }
        func date(_ date: Date?) -> JSONValue { date.map { .string(Self.text($0)) } ?? .null }
        return .object([
            ("machine", .string(machine)), ("host", .string(host)), ("running", .bool(isRunning)),
            ("index", number(index)), ("behind", number(behind(count))), ("seenAt", date(seenAt)),
            ("notedAt", date(notedAt)), ("withheld", .integer(Int64(withheld ?? 0))),
            ("unmirroredCount", .integer(Int64(unmirrored?.count ?? 0))),
            ("unmirrored", .array((unmirrored?.first ?? []).map { .string($0) })),
        ])
    }

    /// The lines for a cluster with this number of entries, the first one with whether the machine runs and how far it is,
    /// and the others with what it differs in. `isFresh` is whether this machine is connected.
    func lines(of count: UInt64, isFresh: Bool) -> [String] {
        var lines = [line(of: count, isFresh: isFresh)]
        if let withheld, withheld > 0 {
            lines.append("\(host) withholds \(withheld) removals: see 'group-cluster accept' there")
        }
        guard let unmirrored, unmirrored.count > 0 else { return lines }
        lines += unmirrored.first.map { "\(host) only: \($0)" }
        let rest = unmirrored.count - unmirrored.first.count
        if rest > 0 { lines.append("\(host) only: \(rest) more items") }
        return lines
    }

    private func line(of count: UInt64, isFresh: Bool) -> String {
        var line = "\(host) (\(machine.prefix(8))) "
        line += isRunning ? (isFresh ? "runs" : "ran at the last look") : "does not run"
        if let behind = behind(count) { line += ", \(behind) entries behind" }
        if isRunning { return line }
        if let seenAt { return line + ", last seen \(Self.text(seenAt))" }
        return line + (notedAt.map { ", last seen \(Self.text($0)) by its own clock" } ?? "")
    }
}
