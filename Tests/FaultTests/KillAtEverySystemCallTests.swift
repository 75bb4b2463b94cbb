import GroupContainer
import TestSupport
import Testing

/// SIGKILL at every single system call of a command.
@Suite(.ownThreads, .enabled(if: Strace.isThere, Strace.isMissing), .timeLimit(.minutes(runsLongTests ? 30 : 5)))
struct `A command killed at any of its system calls` {
    struct Scenario: Sendable, CustomTestStringConvertible {
        var isNew: Bool
        var isRelaxed: Bool
        /// Another member lives and repairs when it gets the lease; otherwise whoever joins next.
        var isWatched: Bool

        var testDescription: String {
            "\(isNew ? "new" : "replaced"), \(isRelaxed ? "relaxed" : "durable"), \(isWatched ? "watched" : "alone")"
        }
    }

    static let scenarios = [true, false].flatMap { isNew in
        [true, false].flatMap { isRelaxed in
            [true, false].map { Scenario(isNew: isNew, isRelaxed: isRelaxed, isWatched: $0) }
        }
    }

    // case 2
    @Test(arguments: scenarios)
    func `leaves the old content or the new, with a record exactly if it is the new`(scenario: Scenario) throws {
        let container = try TemporaryContainer()
        let other = scenario.isWatched ? try container.open() : nil
        // What a new file costs besides: the folders above it.
        let write = { (item: String) in
            ["groupctl", "write", container.path, item] + (scenario.isRelaxed ? ["--relaxed"] : [])
        }
        _ = try container.groupctl("write", "warm/item", input: Self.content("0"))
        let kills = try EverySystemCall(
            of: write(scenario.isNew ? "first/item" : "warm/item"), input: Self.content("1"), in: container)
        try #require(kills.calls.contains { $0.name.hasPrefix("rename") })

        try kills.forEachIfLong { kill in
            let item = scenario.isNew ? "folder\(kill.number)/item" : "warm/item"
            let paths = scenario.isNew ? ["folder\(kill.number)", item] : [item]
            let before = try container.changes(other).count
            let old = container.content(of: item)
            let new = Self.content("at \(kill.call) for \(kill.number)")
            try kill.run(write(item), input: new)

            // Before anybody repaired: whole already.
            let visible = container.content(of: item)
            #expect(visible == old || visible == new, "\(kill)")
            if let other {
                for path in paths { _ = try? other.coordinator(purpose: "heir").blocking.readBytes(ItemPath(path)) }
            }
            _ = try container.groupctl("read", item)
            #expect(container.content(of: item) == visible, "\(kill)")

            let records = try container.changes(other).dropFirst(before).map(\.path.description)
            let expected = paths.filter { scenario.isNew ? container.exists($0) : visible == new }
            #expect(records == expected, "\(kill)")
            #expect(container.staging.isEmpty, "\(kill)")
        }
        #expect(try Invariants.broken(in: container, isWhole: { Self.isWhole($1) }) == [])
    }

    @Test func `leaves of a container that is being made nothing that keeps it from being made`() throws {
        let model = try TemporaryContainer(creating: false)
        let kills = try EverySystemCall(of: ["groupctl", "create", model.path], in: model)
        try kills.forEachIfLong { kill in
            let container = try TemporaryContainer(creating: false)
            try kill.run(["groupctl", "create", container.path])
            // Not yet there, or there: never damaged.
            let early = try container.groupctl("write", "early", input: "1")
            #expect(early.status == 0 || early.status == 66, "\(kill): \(early.text)")
            #expect(try container.groupctl("create").status == 0, "\(kill)")
            #expect(try container.groupctl("write", "late", input: "2").status == 0, "\(kill)")
            let expected = early.status == 0 ? ["early", "late"] : ["late"]
            #expect(try container.changes().map(\.path.description) == expected, "\(kill)")
            #expect(container.journalFiles == ["1.log"], "\(kill)")
            #expect(try Invariants.broken(in: container) == [], "\(kill)")
        }
    }

    private static func content(_ word: String) -> String { String(repeating: word + "\n", count: 600) }

    private static func isWhole(_ bytes: [UInt8]) -> Bool {
        let lines = bytes.split(separator: 10, omittingEmptySubsequences: false)
        return lines.count == 601 && Set(lines.dropLast()).count == 1 && lines.last?.isEmpty == true
    }
}
