import TestSupport
import Testing

@Suite(.ownThreads, .timeLimit(.minutes(1)), .tags(.process)) struct `Stream checker` {
    typealias Run = StreamChecker.Run

    /// Records a real stream: three changes, a transaction of three, and three more.
    private static func recorded() async throws -> (container: TemporaryContainer, lines: [JSONChange]) {
        let container = try TemporaryContainer()
        for name in ["a", "b", "c"] { try await container.done("write", name, input: name) }
        let member = try container.start(
            "test-member", ["steps", container.path], input: "transaction write t/1 x ; write t/2 y\n")
        guard try await member.finish().text == "ok 1\n" else { throw TemporaryContainer.Failed(description: "steps") }
        for name in ["d", "e", "f"] { try await container.done("write", name, input: name) }
        let lines = try await container.done("changes", "--json", "--since", "start").lines.map { try JSONChange($0) }
        guard lines.map(\.sequence) == [1, 2, 3, 4, 4, 4, 5, 6, 7] else {
            throw TemporaryContainer.Failed(description: "\(lines.map(\.summary))")
        }
        return (container, lines)
    }

    private func properties(_ runs: [Run]) -> Set<StreamChecker.Property> {
        Set(StreamChecker.faults(in: runs).map(\.property))
    }

    @Test func `the stream checker finds no fault in a recorded stream, in one run or in several`() async throws {
        let (container, lines) = try await Self.recorded()
        #expect(StreamChecker.faults(in: [Run(since: nil, lines)]) == [])
        for cut in lines.indices {
            // The run died behind a line; the cursor that it had kept is behind the last whole change.
            let whole = lines[...cut].lastIndex { ($0.transaction?.index ?? 0) + 1 == $0.transaction?.count ?? 1 }
            let cursor = whole.map { lines[$0].cursor }
            let words = ["changes", container.path, "--json", "--since", cursor ?? "start"]
            let outcome = try await container.start("groupctl", words).finish()
            let rest = try outcome.lines.map { try JSONChange($0) }
            #expect(rest == Array(lines[((whole ?? -1) + 1)...]))
            let runs = [Run(since: nil, Array(lines[...cut])), Run(since: cursor, rest)]
            #expect(StreamChecker.faults(in: runs) == [])
        }
    }

    @Test func `the stream checker finds no fault in a rescan and what follows it`() async throws {
        let (container, lines) = try await Self.recorded()
        let other = try TemporaryContainer()
        try await other.done("write", "x", input: "x")
        let cursor = try await JSONStatus(of: other).journal.cursor
        let watcher = try await container.watching("--json", "--count", "2", "--since", cursor)
        try await container.done("write", "g", input: "g")
        let rest = try await watcher.finish().lines.map { try JSONChange($0) }
        #expect(rest.map(\.kind) == ["rescan", "created"])
        #expect(StreamChecker.faults(in: [Run(since: nil, lines), Run(since: cursor, rest)]) == [])
    }

    private struct Planted: Sendable {
        var property: StreamChecker.Property
        var change: @Sendable (inout [JSONChange]) -> [Run]
    }

    /// Each of these does one thing to a stream that is in order.
    private static let planted: [Planted] = [
        Planted(property: .ordered) {
            $0.swapAt(6, 7)
            return [Run(since: nil, $0)]
        },
        Planted(property: .unique) { [Run(since: nil, Array($0[...2] + $0[2...]))] },
        Planted(property: .unique) { lines in
            var again = lines[8]
            again.path = "other"
            return [Run(since: nil, lines), Run(since: lines[7].cursor, [again])]
        },
        Planted(property: .reliable) {
            $0.remove(at: 1)
            return [Run(since: nil, $0)]
        },
        Planted(property: .atomic) {
            $0.remove(at: 4)
            return [Run(since: nil, $0)]
        },
        Planted(property: .atomic) {
            $0.removeSubrange(4...5)
            return [Run(since: nil, $0)]
        },
        Planted(property: .atomic) { lines in
            // The run died within the transaction, and the next one went on in the middle of it.
            [Run(since: nil, Array(lines[...3])), Run(since: "of nobody knows where", Array(lines[4...]))]
        },
        Planted(property: .resumable) { lines in
            [Run(since: nil, Array(lines[...6])), Run(since: lines[6].cursor, Array(lines[8...]))]
        },
        Planted(property: .resumable) { lines in
            [Run(since: nil, Array(lines[...6])), Run(since: lines[6].cursor, Array(lines[6...]))]
        },
        Planted(property: .resumable) { lines in
            var rescan = lines[7]
            rescan.kind = "rescan"
            return [Run(since: nil, Array(lines[...6]) + [rescan])]
        },
        Planted(property: .bookmarkable) { lines in
            var bookmark = lines[7]
            bookmark.kind = "bookmark"
            return [Run(since: nil, Array(lines[...6]) + [bookmark] + Array(lines[7...]))]
        },
    ]

    @Test func `the stream checker finds each fault that is put into a stream, and no other`() async throws {
        let (_, lines) = try await Self.recorded()
        for (number, planted) in Self.planted.enumerated() {
            var changed = lines
            #expect(properties(planted.change(&changed)).contains(planted.property), "fault \(number)")
        }
        #expect(Set(Self.planted.map(\.property)) == Set(StreamChecker.Property.allCases))
        var bookmark = lines[6]
        bookmark.kind = "bookmark"
        let marked = Array(lines[...6]) + [bookmark] + Array(lines[7...])
        #expect(StreamChecker.faults(in: [Run(since: nil, marked)]) == [])
    }
}
