import GroupContainer
import GroupSystemCalls
import TestSupport
import Testing

/// Faults at the system calls of a process that sets values and makes its suite's log begin another segment.
@Suite(
    .ownThreads, .enabled(if: Strace.isThere, Strace.isMissing), .timeLimit(.minutes(runsLongTests ? 30 : 5)),
    .tags(.process))
struct `Compaction of a suite under faults` {
    private static func container() throws -> TemporaryContainer {
        let container = try TemporaryContainer()
        let defaults = try GroupDefaults(container.open())
        try defaults.set("kept", forKey: "kept")
        for key in ["first", "last"] { try defaults.set("old", forKey: key) }
        return container
    }

    private static func compact(_ container: TemporaryContainer, _ text: String, _ durability: String) -> [String] {
        ["test-member", "defaults-compact", container.path, text, durability]
    }

    /// Expects the acknowledged values; others may be set or not. Further values can be set.
    private func expectWhole(
        _ container: TemporaryContainer, _ reader: Container?, _ text: String, printed: String, _ what: String
    ) throws {
        let defaults = try GroupDefaults(reader ?? container.open())
        #expect(defaults.string(forKey: "kept") == "kept", "\(what)")
        let (first, last) = (defaults.string(forKey: "first"), defaults.string(forKey: "last"))
        #expect(first == text || first == "old" && !printed.contains("first"), "\(what)")
        #expect(last == text || last == "old" && !printed.contains("last"), "\(what)")
        if last == text { #expect(first == text, "\(what)") }
        for key in ["first", "last"] { try defaults.set("old", forKey: key) }
        #expect(try defaults.update(.init("count", default: 0)) { $0 += 1 } > 0, "\(what)")
    }

    // fault: appender-stopped
    @Test func `a suite is usable while a process that compacts it is stopped at any of its system calls`() throws {
        let container = try Self.container()
        let reader = try container.open()
        let calls = try Strace.calls(of: Self.compact(container, "model", "durable"), input: "", in: container)
        // From the creation of the next segment on.
        let begin = try #require(calls.firstIndex { $0.name == "fallocate" })
        // How often one of its threads has waited for another by then is not the same each time.
        let stops = calls[begin...].filter { $0.name != "futex" }
        for (number, stop) in stops.enumerated() where runsLongTests || number % 2 == 0 {
            let process = try Strace.start(
                Self.compact(container, "\(number)", "durable"), input: "", fault: .stop, at: stop)
            let isStopped = try process.waitUntilStopped()
            // Other processes set values, and compact the suite themselves.
            let other = try RunningProcess(Self.compact(container, "other", "durable")).finish()
            #expect(other.status == 0, "\(stop): \(other.text)")
            #expect(
                try GroupDefaults(reader).update(.init("n", default: 0), durability: .durable) { $0 += 1 } > 0,
                "\(stop)")
            if isStopped { process.resume() }
            // When the process goes on, neither its values nor the others' are lost.
            let printed = try process.finish()
            #expect(printed.status == 0, "\(stop): \(printed.text)")
            let defaults = try GroupDefaults(reader)
            #expect(defaults.string(forKey: "kept") == "kept", "\(stop)")
            #expect(["\(number)", "other"].contains(defaults.string(forKey: "last")), "\(stop)")
        }
    }

    // fault: directory-sync-fails
    @Test func `a value is set, and reported as not durable, where the disk refuses`() throws {
        let container = try Self.container()
        let call = Strace.Call(name: "fdatasync", number: 1)
        let (_, text) = try Strace.run(Self.compact(container, "new", "durable"), fault: .error("EIO"), at: call)
        #expect(text.contains("error notDurable"), "\(text)")
        let defaults = try GroupDefaults(container.open())
        #expect(defaults.string(forKey: "first") == "new")
        // Then the log is made anew, and is durable.
        try defaults.set("newer", forKey: "first", durability: .durable)
        #expect(defaults.string(forKey: "first") == "newer" && defaults.string(forKey: "kept") == "kept")
    }

    // fault: disk-full
    @Test func `a set is refused where there is no room for the next segment, and nothing is lost`() throws {
        let container = try Self.container()
        let model = try EverySystemCall(of: Self.compact(container, "model", "relaxed"), in: container)
        try expectWhole(container, nil, "model", printed: "", "model")
        let allocations = model.calls.filter { $0.name == "fallocate" }
        let call = try #require(allocations.last)
        let (_, text) = try Strace.run(Self.compact(container, "new", "relaxed"), fault: .error("ENOSPC"), at: call)
        #expect(text.hasPrefix("first\n") && text.contains("error noSpace"), "\(text)")
        try expectWhole(container, nil, "new", printed: "first", "no room")
    }
}
