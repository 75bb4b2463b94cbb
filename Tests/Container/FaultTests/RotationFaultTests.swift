import GroupContainer
import GroupSystemCalls
import TestSupport
import Testing

/// A change with which the journal begins a new segment, makes a checkpoint, and drops the oldest segment.
// fault: compaction-killed
@Suite(
    .ownThreads, .enabled(if: Strace.isThere, Strace.isMissing), .timeLimit(.minutes(runsLongTests ? 30 : 5)),
    .tags(.process))
struct `Journal rotation under faults` {
    private static func container() throws -> TemporaryContainer {
        let container = try TemporaryContainer(creating: false)
        _ = try Container(path: container.path, creating: true, retention: JournalRetention(size: 128 << 10))
        for item in ["kept", "directory/kept"] {
            _ = try container.groupctl("write", item, input: "1")
        }
        // The records of those items have been dropped by now.
        for _ in 0..<4 { _ = try Self.rotate(container, "0") }
        return container
    }

    private static func rotate(_ container: TemporaryContainer, _ text: String) throws -> String {
        try container.member("rotate", "warm", text).finish().text
    }

    private static func generation(_ container: TemporaryContainer, _ item: String) throws -> Generation? {
        try Container(path: container.path).coordinator(purpose: "asker").blocking.generation(of: ItemPath(item))
    }

    // fault: writer-killed, compaction-killed
    @Test(arguments: [true, false])
    func `a journal is whole for every process after its rotation was killed at any system call`(isWatched: Bool) throws
    {
        let container = try Self.container()
        let other = isWatched ? try container.open() : nil
        #expect(!container.journalFiles.contains("1.log"))
        let kept = (try Self.generation(container, "kept"), try Self.generation(container, "directory/kept"))
        #expect(kept.0 == 1 && kept.1 == 3)
        let kills = try EverySystemCall(
            of: ["test-member", "rotate", container.path, "item", "model"], in: container)
        try #require(kills.calls.filter { $0.name.hasPrefix("rename") }.count >= 3)
        try #require(kills.calls.contains { $0.name.hasPrefix("unlink") })
        try kills.forEachIfLong { kill in
            let before = try (other ?? container.open()).status()
            let old = container.content(of: "item")
            let new = "at \(kill)"
            try kill.run(["test-member", "rotate", container.path, "item", new])
            #expect([old, new].contains(container.content(of: "item")), "\(kill)")
            // The next member finds the generations whose records are gone, and that of the record that may be there.
            let reader = try container.open()
            let asker = reader.coordinator(purpose: "asker").blocking
            #expect(try asker.generation(of: "kept") == kept.0, "\(kill)")
            #expect(try asker.generation(of: "directory/kept") == kept.1, "\(kill)")
            let version = try asker.readVersion("item")
            #expect([old, new].contains(String(decoding: version.value, as: UTF8.self)), "\(kill)")
            // A follower from before gets the change once, or one rescan.
            var follower = try reader.recordedChanges(since: .cursor(before.cursor))
            var rescans = 0
            var changes = 0
            while let change = try follower.next(timeout: .zero) {
                if change.kind == .rescan { rescans += 1 }
                if change.path == "item" { changes += 1 }
            }
            let isNew = container.content(of: "item") == new
            #expect(changes == (isNew && rescans == 0 ? 1 : 0) || rescans == 1, "\(kill)")
            #expect(rescans <= 1, "\(kill)")
            // No process is kept from rotating for good.
            if kill.number % 8 == 7 {
                for text in ["one", "two"] { _ = try Self.rotate(container, text) }
                #expect(container.journalFiles.filter { $0.hasSuffix(".log") }.count <= 3, "\(kill)")
            }
        }
        #expect(try Self.generation(container, "kept") == 1)
    }

    /// Stops, for example, between the looks at the process's own new segment and at the directory.
    // fault: appender-stopped
    @Test func `a journal keeps what is appended while a process that makes a segment is stopped`() throws {
        let model = try Self.containerOfSmallFiles()
        let calls = try EverySystemCall(
            of: ["test-member", "rotate", model.path, "item", "model"], in: model, fault: .stop
        ).calls
        let made = try #require(calls.firstIndex { $0.name == "renameat2" && $0.arguments.contains("\"2.log\"") })
        var stops = 0
        for call in calls[made...].prefix(24) {
            let container = try Self.containerOfSmallFiles()
            let process = try Strace.start(
                ["test-member", "rotate", container.path, "item", "new"], fault: .stop, at: call)
            // A call for memory may not be made each time.
            let isStopped = try process.waitUntilStopped()
            if isStopped {
                stops += 1
                #expect(try container.member("append", "2000", "other").finish().status == 0, "\(call)")
                process.resume()
            }
            #expect(try process.finish().status == 0, "\(call)")
            var reader = try container.open().follow(since: .start)
            var (sequence, next) = (UInt64(0), 1)
            while let change = try reader.next(timeout: .zero), change.sequence.rawValue == sequence + 1 {
                sequence += 1
                if change.path == ItemPath("other/\(next)") { next += 1 }
            }
            #expect(next == (isStopped ? 2_001 : 1), "\(call): \(sequence) records")
            #expect(container.journalFiles.contains("2.log"), "\(call)")
        }
        #expect(stops > 12)
    }

    private static func containerOfSmallFiles() throws -> TemporaryContainer {
        let container = try TemporaryContainer(creating: false)
        _ = try Container(path: container.path, creating: true, retention: JournalRetention(size: 1 << 20))
        return container
    }
}
