import GroupSystemCalls
import TestSupport
import Testing

@testable import GroupContainer

@Suite(.timeLimit(.minutes(1)))
struct `Asynchronous change sequences` {
    @Test func `an asynchronous sequence returns changes that another task makes`() async throws {
        let sample = try SampleContainer()
        let changes = sample.container.changes(since: .now)
        let consumer = Task {
            var paths: [String] = []
            for try await change in changes {
                paths.append(change.path.description)
                if paths.count == 30 { break }
            }
            return paths
        }
        let tester = sample.coordinator()
        for number in 0..<30 { try await tester.write(bytes: [1], to: "\(number)", durability: .relaxed) }
        #expect(try await consumer.value == (0..<30).map { "\($0)" })
    }

    @Test func `an asynchronous sequence begins where it was made, for each iterator anew`() async throws {
        let sample = try SampleContainer()
        let tester = sample.coordinator()
        try await tester.write(bytes: [1], to: "before")
        let changes = sample.container.changes(since: .now, matching: ["a*"])
        for path in ["x", "after"] as [ItemPath] { try await tester.write(bytes: [1], to: path) }
        for _ in 0..<2 {
            var iterator = changes.makeAsyncIterator()
            #expect(try await iterator.next()?.path == "after")
        }
    }

    @Test func `an asynchronous sequence ends when its task is cancelled`() async throws {
        let sample = try SampleContainer()
        try await sample.coordinator().write(bytes: [1], to: "file")
        let changes = sample.container.changes(since: .start)
        let (first, continuation) = AsyncStream<Void>.makeStream()
        let task = Task {
            var count = 0
            for try await _ in changes {
                count += 1
                continuation.finish()
            }
            return count
        }
        for await _ in first {}
        task.cancel()
        #expect(try await task.value == 1)
    }

    @Test func `each of many tasks that iterate over a change sequence gets every change`() async throws {
        let sample = try SampleContainer()
        let changes = sample.container.changes(since: .start)
        let tester = sample.coordinator()
        try await withThrowingTaskGroup(of: [UInt64].self) { group in
            for _ in 0..<10 {
                group.addTask {
                    var sequences: [UInt64] = []
                    for try await change in changes {
                        sequences.append(change.sequence.rawValue)
                        if sequences.count == 20 { break }
                    }
                    return sequences
                }
            }
            for number in 0..<20 { try await tester.write(bytes: [UInt8(number)], to: "file", durability: .relaxed) }
            for try await sequences in group { #expect(sequences == Array(1...20)) }
        }
    }

    @Test func `an asynchronous sequence from another container's cursor gives one rescan, then goes on`() async throws
    {
        let (one, two) = (try SampleContainer(), try SampleContainer())
        try await one.coordinator().write(bytes: [1], to: "file")
        let changes = two.container.changes(since: .cursor(try one.container.status().cursor))
        var iterator = changes.makeAsyncIterator()
        #expect(try await iterator.next()?.kind == .rescan)
        try await two.coordinator().write(bytes: [1], to: "new")
        let change = try await iterator.next()
        #expect(change?.kind == .created && change?.path == "new")
    }
}
