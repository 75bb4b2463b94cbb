import GroupSystemCalls
import TestSupport
import Testing

@testable import GroupContainer

@Suite(.timeLimit(.minutes(2)))
struct `Contended locks` {
    /// Between the grant of a lock and its release, a task is resumed twice. Other tests block the two threads that all
    /// tasks share, for seconds at times; two hundred waits in a row would then take longer than one may.
    private static let threads = ThreadExecutor(threads: 2)

    // fault: lost-update
    @Test func `tasks that increase a number at the same time lose no update`() async throws {
        let sample = try SampleContainer()
        let tester = sample.coordinator()
        try await withTaskExecutorPreference(Self.threads) {
            try await withThrowingTaskGroup { group in
                for _ in 0..<200 {
                    group.addTask { try await tester.update("counter", default: 0, durability: .relaxed) { $0 += 1 } }
                }
                try await group.waitForAll()
            }
        }
        #expect(try await tester.read("counter", as: Int.self) == 200)
        let status = try sample.container.status()
        #expect(status.sequence == 200)
        #expect(try sample.waiting().isEmpty && sample.holding().isEmpty)
    }

    @Test func `threads that increase a number at the same time lose no update`() throws {
        let sample = try SampleContainer()
        let tester = sample.coordinator().blocking
        let sides = (0..<8).map { _ in
            Side { for _ in 0..<50 { try tester.update("counter", default: 0, durability: .relaxed) { $0 += 1 } } }
        }
        for side in sides { try side.answer() }
        #expect(try tester.read("counter", as: Int.self) == 400)
    }

    @Test func `requests of threads for the same items in opposite orders all complete`() throws {
        let sample = try SampleContainer()
        let tester = sample.coordinator().blocking
        let orders: [[AccessIntent]] = [
            [.writing("a"), .writing("b"), .reading("c")], [.reading("c"), .writing("b"), .writing("a")],
            [.writing("c"), .reading("a")], [.reading("a"), .writing("c")],
        ]
        let sides = orders.map { intents in
            Side {
                for _ in 0..<100 {
                    try tester.run(ItemCall(operation: "test", intents: intents), .relaxed, patience) { _ in }
                }
            }
        }
        for side in sides { try side.answer() }
    }

    // fault: opposite-order
    @Test func `requests of tasks for two items in opposite orders all complete`() async throws {
        let sample = try SampleContainer()
        let tester = sample.coordinator()
        try await withTaskExecutorPreference(Self.threads) {
            try await withThrowingTaskGroup { group in
                for number in 0..<60 {
                    let (one, two): (ItemPath, ItemPath) = number.isMultiple(of: 2) ? ("a", "b") : ("b", "a")
                    group.addTask {
                        try await tester.coordinate(.writing(one), .writing(two), durability: .relaxed) { access in
                            for path in [one, two] {
                                let old = try access.readBytesIfPresent(path)?.first ?? 0
                                _ = try access.write(bytes: [old + 1], to: path)
                            }
                        }
                    }
                }
                try await group.waitForAll()
            }
        }
        #expect(try await tester.readBytes("a") == [60])
        #expect(try await tester.readBytes("b") == [60])
    }

    @Test func `requests of tasks for different items run at the same time, though their closures block`() async throws
    {
        let sample = try SampleContainer()
        let tester = sample.coordinator()
        let entered = Guarded(0)
        let all = Event()
        try await withThrowingTaskGroup { group in
            for number in 0..<16 {
                group.addTask {
                    try await tester.coordinate(.writing("item-\(number)")) { _ in
                        let count = entered.withLock { entered in
                            entered += 1
                            return entered
                        }
                        if count == 16 { all.happen() }
                        #expect(all.await())
                    }
                }
            }
            try await group.waitForAll()
        }
    }

    // fault: torn-read
    @Test func `a reader gets a whole file while it is written, and never an older one than before`() throws {
        let sample = try SampleContainer()
        let tester = sample.coordinator().blocking
        @Sendable func content(_ number: Int) -> [UInt8] { [UInt8](repeating: UInt8(number), count: 10_000 + number) }
        _ = try tester.write(bytes: content(0), to: "file")
        let writer = Side {
            for number in 1..<100 { _ = try tester.write(bytes: content(number), to: "file", durability: .relaxed) }
        }
        var last = 0
        while last < 99 {
            let bytes = try tester.readBytes("file")
            let number = Int(try #require(bytes.first))
            #expect(bytes == content(number) && number >= last)
            last = number
        }
        try writer.answer()
    }
}
