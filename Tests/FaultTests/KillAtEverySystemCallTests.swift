import GroupContainer
import Testing

/// SIGKILL at every single system call of a command.
@Suite(.ownThreads, .enabled(if: Strace.isThere, Strace.isMissing), .timeLimit(.minutes(FaultRun.isLong ? 30 : 5)))
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

    @Test(arguments: scenarios)
    func `leaves the old content or the new, with a record exactly if it is the new`(scenario: Scenario) throws {
        let container = try TestContainer()
        let other = scenario.isWatched ? try container.open() : nil
        // What a new file costs besides: the folders above it.
        let write = { (item: String) in
            [Executables.groupctl, "write", container.path, item] + (scenario.isRelaxed ? ["--relaxed"] : [])
        }
        _ = try container.groupctl("write", "warm/item", input: Self.content("0"))
        let calls = try Strace.calls(
            of: write(scenario.isNew ? "first/item" : "warm/item"), input: Self.content("1"), in: container)
        try #require(calls.contains { $0.name.hasPrefix("rename") })

        for (index, call) in Self.sample(calls).enumerated() {
            let item = scenario.isNew ? "folder\(index)/item" : "warm/item"
            let paths = scenario.isNew ? ["folder\(index)", item] : [item]
            let before = try container.changes(other).count
            let old = container.content(of: item)
            let new = Self.content("at \(call) for \(index)")
            _ = try Strace.run(write(item), input: new, fault: "signal=SIGKILL", at: call)

            // Before anybody repaired: whole already.
            let visible = container.content(of: item)
            #expect(visible == old || visible == new, "killed at \(call)")
            if let other {
                for path in paths { _ = try? other.coordinator(purpose: "heir").blocking.readBytes(ItemPath(path)) }
            }
            _ = try container.groupctl("read", item)
            #expect(container.content(of: item) == visible, "killed at \(call)")

            let records = try container.changes(other).dropFirst(before).map(\.path.description)
            let expected = paths.filter { scenario.isNew ? container.exists($0) : visible == new }
            #expect(records == expected, "killed at \(call)")
            #expect(container.staging.isEmpty, "killed at \(call)")
        }
    }

    @Test func `leaves of a container that is being made nothing that keeps it from being made`() throws {
        let model = try TestContainer(creating: false)
        let calls = try Strace.calls(of: [Executables.groupctl, "create", model.path], input: "", in: model)
        for call in Self.sample(calls) {
            let container = try TestContainer(creating: false)
            _ = try Strace.run([Executables.groupctl, "create", container.path], fault: "signal=SIGKILL", at: call)
            // Not yet there, or there: never damaged.
            let early = try container.groupctl("write", "early", input: "1")
            #expect(early.status == 0 || early.status == 66, "killed at \(call): \(early.text)")
            #expect(try container.groupctl("create").status == 0, "killed at \(call)")
            #expect(try container.groupctl("write", "late", input: "2").status == 0, "killed at \(call)")
            let expected = early.status == 0 ? ["early", "late"] : ["late"]
            #expect(try container.changes().map(\.path.description) == expected, "killed at \(call)")
            #expect(container.staging.isEmpty, "killed at \(call)")
            #expect(container.journalFiles == ["1.log"], "killed at \(call)")
        }
    }

    private static func content(_ word: String) -> String { String(repeating: word + "\n", count: 600) }

    /// All in the long run. In the short one the first and the last of each name, what surrounds the rename, and a few.
    private static func sample(_ calls: [Strace.Call]) -> [Strace.Call] {
        if FaultRun.isLong { return calls }
        var numbers = SeededNumbers(seed: FaultRun.seed)
        var chosen = Set(calls.indices.shuffled(using: &numbers).prefix(8))
        for name in Set(calls.map(\.name)) {
            let places = calls.indices.filter { calls[$0].name == name }
            if let place = places.randomElement(using: &numbers) { chosen.insert(place) }
        }
        for place in calls.indices where calls[place].name.hasPrefix("rename") {
            chosen.formUnion(max(0, place - 6)..<min(calls.count, place + 6))
        }
        return chosen.sorted().map { calls[$0] }
    }
}
