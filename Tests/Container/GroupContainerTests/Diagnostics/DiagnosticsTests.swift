import GroupSystemCalls
import TestSupport
import Testing

@testable import GroupContainer
@testable import GroupLog

@Suite(.timeLimit(.minutes(1)), .ownThreads) struct `Diagnostic events` {
    private func next(
        _ code: Diagnostic.Code, _ follower: inout Follower<Diagnostic>
    ) throws -> Diagnostic {
        while let event = follower.next(timeout: patience) { if event.code == code { return event } }
        throw TemporaryContainer.Failed(description: "\(code) did not come")
    }

    @Test func `diagnostics report that a member becomes leader and stops being leader`() throws {
        let temporary = try TemporaryDirectory()
        let container = try Container(path: temporary.path, creating: true)
        var follower = container.followDiagnostics()
        var changes: Follower<Change>? = try container.follow()
        #expect(try next(.leadershipTaken, &follower).text.contains("term 1"))
        #expect(try changes?.next(timeout: .zero) == nil)
        changes = nil
        #expect(try next(.leadershipEnded, &follower).item == nil)
        #expect(follower.next(timeout: .zero) == nil)
    }

    @Test func `each listener gets diagnostics from when it listens, in a sequence and on a thread`() async throws {
        let temporary = try TemporaryDirectory()
        let container = try Container(path: temporary.path, creating: true)
        let feed = container.opened.diagnostics
        var early = container.followDiagnostics()
        feed.report(.damageMet, item: "file", "the first")
        let late = container.diagnostics
        let collector = Task {
            var texts: [String] = []
            for await event in late {
                texts.append(event.description)
                if texts.count == 2 { break }
            }
            return texts
        }
        feed.report(.checkpointWritten, count: 7, "the second")
        feed.report(.checkpointFailed, "the third")
        #expect(await collector.value == ["the second", "the third"])
        #expect(early.next(timeout: .zero)?.description == "file: the first")
        #expect(early.next()?.count == 7)
        #expect(early.next()?.code == .checkpointFailed)
        #expect(early.next(timeout: .milliseconds(1)) == nil)
    }

    @Test func `a task that waits gets diagnostics one after the other`() async throws {
        let temporary = try TemporaryDirectory()
        let container = try Container(path: temporary.path, creating: true)
        let events = container.diagnostics
        let (received, continuation) = AsyncStream<String>.makeStream()
        // Both tasks run on the test's thread: on those of the pool, each of the hundred turns would wait for other
        // tests.
        await withTaskGroup { tasks in
            tasks.addTask { for await event in events { continuation.yield(event.text) } }
            var texts = received.makeAsyncIterator()
            for number in 0..<100 {
                container.opened.diagnostics.report(.damageMet, "\(number)")
                let text = await texts.next()
                #expect(text == "\(number)")
                // Sometimes the listener waits by now, sometimes not yet.
                await Task.yield()
            }
            tasks.cancelAll()
        }
    }

    @Test func `a diagnostics sequence ends when its task is cancelled`() async throws {
        let temporary = try TemporaryDirectory()
        let container = try Container(path: temporary.path, creating: true)
        for _ in 0..<100 {
            let listener = Task { [container] in
                var count = 0
                for await _ in container.diagnostics { count += 1 }
                return count
            }
            listener.cancel()
            #expect(await listener.value == 0)
        }
    }

    @Test func `diagnostics for a slow listener are bounded, and report how many were dropped`() throws {
        let temporary = try TemporaryDirectory()
        let container = try Container(path: temporary.path, creating: true)
        var follower = container.followDiagnostics()
        for number in 0..<1_000 { container.opened.diagnostics.report(.damageMet, "\(number)") }
        let first = follower.next(timeout: .zero)
        #expect(first?.code == .eventsDropped && first?.count == 1_000 - DiagnosticQueue.limit)
        #expect(follower.next(timeout: .zero)?.text == "\(1_000 - DiagnosticQueue.limit)")
    }

    @Test func `a diagnostic's text is not made where nothing listens`() throws {
        let temporary = try TemporaryDirectory()
        let container = try Container(path: temporary.path, creating: true)
        func words() -> String {
            Issue.record("no listener needs the text")
            return ""
        }
        container.opened.diagnostics.report(.damageMet, words())
        var follower: Follower<Diagnostic>? = container.followDiagnostics()
        #expect(follower?.next(timeout: .zero) == nil)
        follower = nil
        container.opened.diagnostics.report(.damageMet, words())
    }

    @Test func `diagnostics report checkpoints and dropped journal segments`() throws {
        let small = try SmallJournal(files: 1)
        var follower = small.container.followDiagnostics()
        try small.rotate(files: 3)
        let checkpoint = try next(.checkpointWritten, &follower)
        #expect(checkpoint.item == ".group/checkpoint" && checkpoint.text.contains("as of change"))
        #expect(try next(.journalFilesDropped, &follower).count == 1)
        // A checkpoint that cannot be written is reported, too.
        try small.temporary.run("mkdir", ".group/checkpoint.new")
        try small.fill(files: 1)
        small.member.tendJournal()
        #expect(try next(.checkpointFailed, &follower).item == ".group/checkpoint")
    }

    @Test func `diagnostics report damage in the journal and where it was cut`() throws {
        let small = try SmallJournal()
        for number in 0..<5 { _ = try small.tester.write(bytes: [1], to: "\(number)") }
        var diagnostics = small.container.followDiagnostics()
        let end = try small.log.end()
        var changes = try small.container.recordedChanges(since: .start)
        let first = try #require(try changes.next(timeout: .zero))
        #expect(first.path == "0")
        let place = SegmentHeader.size + (end.offset - SegmentHeader.size) / 5 * 2
        try small.flipBit(of: ".group/journal/1.log", at: place + 20)
        #expect(code { while try changes.next(timeout: .zero) != nil {} } == .damaged)
        #expect(try next(.damageMet, &diagnostics).item == ".group/journal/1.log")
        try small.flipBit(of: ".group/journal/1.log", at: place + 1)
        small.log.forgetAll(last: 1)
        _ = try small.tester.write(bytes: [1], to: "new")
        #expect(try next(.journalCut, &diagnostics).text.contains("it ends at byte \(place) now"))
    }

    @Test func `diagnostics report to the first listener what was repaired during opening`() throws {
        let temporary = try TemporaryDirectory()
        do {
            let container = try Container(path: temporary.path, creating: true)
            _ = try container.coordinator(purpose: "tester").blocking.write(bytes: [1], to: "a")
        }
        // The member table gets the identifier of another boot: no real one has an x.
        do {
            let memberTable = try WritableMap(temporary.open(".group/members"), size: 4_096)
            memberTable.write([UInt8(ascii: "x")], at: 32)
        }
        let container = try Container(path: temporary.path)
        var follower = container.followDiagnostics()
        #expect(follower.next(timeout: .zero)?.code == .journalRecovered)
        var second = container.followDiagnostics()
        #expect(second.next(timeout: .zero) == nil, "only for the first listener")
    }
}
