import GroupSystemCalls
import TestSupport
import Testing

@testable import GroupContainer
@testable import GroupLocking

@Suite(.timeLimit(.minutes(1)))
struct `Posting and listening` {
    struct Note: Codable, Equatable, Sendable { var text: String }

    /// Returns the numbers of all messages that there are now.
    private static func numbers(of listener: GroupListener) throws -> [UInt64] {
        var found: [UInt64] = []
        while let message = try listener.next(timeout: .zero) { found.append(message.number) }
        return found
    }

    @Test func `each listener gets every message, in order, with its poster`() throws {
        let sample = try SampleContainer()
        let channel = try GroupChannel(sample.container, name: "news", purpose: "clock")
        #expect(try channel.signal() == 1)
        let (one, two) = (try channel.listener(named: "one"), try channel.listener(named: "two"))
        #expect(try channel.post(bytes: [1, 2], durability: .durable) == 2)
        #expect(try channel.post(json: Note(text: "x")) == 3)
        #expect(try channel.signal() == 4)
        for listener in [one, two] {
            let first = try #require(try listener.next())
            #expect(first.number == 2 && first.bytes == [1, 2] && first.timeNanoseconds > 0)
            #expect(first.author == Change.Author(processIdentifier: processIdentifier(), purpose: "clock"))
            #expect(try listener.next()?.decode(as: Note.self) == Note(text: "x"))
            let last = try #require(try listener.next())
            #expect(last.bytes == nil && last.number == 4)
            #expect(code { try last.decode(as: Note.self) } == .invalidContent)
            #expect(try listener.next(timeout: .zero) == nil)
        }
    }

    @Test func `posting a value that is not JSON is refused`() throws {
        let sample = try SampleContainer()
        let channel = try GroupChannel(sample.container, name: "news")
        #expect(code { try channel.post(json: Double.nan) } == .invalidContent)
        #expect(try channel.post(json: 1.5) == 1)
    }

    @Test func `a listener that returns gets unacknowledged messages and those posted meanwhile`() throws {
        let sample = try SampleContainer()
        let channel = try GroupChannel(sample.container, name: "news")
        do {
            let listener = try channel.listener(named: "one")
            for _ in 1...3 { try channel.signal() }
            #expect(try Self.numbers(of: listener) == [1, 2, 3])
            try listener.acknowledge(upTo: 1, durability: .durable)
        }
        try channel.signal()
        do {
            let listener = try channel.listener(named: "one", since: .now)
            #expect(try Self.numbers(of: listener) == [2, 3, 4])
            // A message may be acknowledged before it is delivered.
            try channel.signal()
            try channel.signal()
            try listener.acknowledge(upTo: 5)
            try listener.acknowledge(upTo: 2, durability: .durable)
            #expect(try Self.numbers(of: listener) == [6])
            #expect(code { try listener.acknowledge(upTo: 7) } == .invalidArgument)
        }
        #expect(try Self.numbers(of: try channel.listener(named: "one")) == [6])
    }

    @Test func `a channel without listeners keeps its latest messages for one that begins with the oldest`() throws {
        let sample = try SampleContainer()
        let channel = try GroupChannel(sample.container, name: "news")
        for _ in 0..<ChannelState.unreadCount + 10 { try channel.signal() }
        let listener = try channel.listener(named: "late", since: .start)
        let numbers = try Self.numbers(of: listener)
        #expect(numbers == Array(11...UInt64(ChannelState.unreadCount + 10)))
        #expect(try Self.numbers(of: try channel.listener(named: "now")) == [])
    }

    @Test func `a second listener of the same name is refused until the first is gone`() throws {
        let sample = try SampleContainer()
        let channel = try GroupChannel(sample.container, name: "news")
        let other = try GroupChannel(sample.container, name: "other")
        var first: GroupListener? = try channel.listener(named: "one")
        #expect(code { try channel.listener(named: "one") } == .conflict)
        let elsewhere = try other.listener(named: "one")
        #expect(first?.name == "one" && elsewhere.name == "one")
        first = nil
        let second = try channel.listener(named: "one")
        #expect(code { try channel.listener(named: "one") } == .conflict)
        #expect(try second.next(timeout: .zero) == nil)
    }

    @Test func `listeners are listed slowest first, and can be removed`() throws {
        let sample = try SampleContainer()
        let channel = try GroupChannel(sample.container, name: "news", purpose: "me")
        #expect(try channel.listeners() == [] && channel.removeListener(named: "one") == false)
        let (slow, fast) = (try channel.listener(named: "slow"), try channel.listener(named: "fast"))
        for _ in 1...3 { try channel.signal() }
        try fast.acknowledge(upTo: 3)
        let found = try channel.listeners()
        #expect(found.map(\.name) == ["slow", "fast"] && found.map(\.waitingCount) == [3, 0])
        #expect(found[0].author.purpose == "me" && found[0].waitingSince != nil && found[1].waitingSince == nil)
        let store = try channel.writableStore("test")
        #expect(try store.checkedRead { $0.messages.count } == 3)
        #expect(try slow.next()?.number == 1)
        #expect(try channel.removeListener(named: "slow"))
        #expect(try store.checkedRead { $0.messages.count } == 0)
        // Messages from before the removal are still delivered.
        #expect(try slow.next()?.number == 2 && slow.next()?.number == 3)
        #expect(code { try slow.next() } == .notFound)
        #expect(code { try slow.acknowledge(upTo: 3) } == .notFound)
        #expect(try channel.removeListener(named: "slow") == false)
    }

    @Test func `a full channel refuses a message and names the slowest listener`() throws {
        let sample = try SampleContainer()
        let channel = try GroupChannel(sample.container, name: "news")
        #expect(code { try channel.post(bytes: Array(repeating: 0, count: 16 << 20 + 1)) } == .limitReached)
        let largest = Array(repeating: UInt8(3), count: 16 << 20)
        let listener = try channel.listener(named: "slow one")
        #expect(try channel.post(bytes: largest) == 1)
        #expect(try listener.next()?.bytes == largest)
        let store = try channel.writableStore("test")
        let state = try store.checkedRead { $0 }
        try store.checkRoom(for: ChannelLimits.channel - state.size, in: state)
        let error = #expect(throws: CoordinationError.self) {
            try store.checkRoom(for: ChannelLimits.channel - state.size + 1, in: state)
        }
        #expect(error?.code == .limitReached && error?.reason.contains("'slow one'") == true)
        #expect(error?.reason.contains("message 1, of 20") == true, "\(error?.reason ?? "")")
        for name in ["", ".a", "a/b", String(repeating: "x", count: 201)] {
            #expect(code { try GroupChannel(sample.container, name: name) } == .invalidArgument)
        }
        #expect(code { try channel.listener(named: "") } == .invalidArgument)
    }

    @Test func `a post wakes listeners on a thread and in a task`() async throws {
        let sample = try SampleContainer()
        let channel = try GroupChannel(sample.container, name: "news")
        let (waiting, blocked) = (try channel.listener(named: "task"), try channel.listener(named: "thread"))
        let side = Side { try (1...50).map { _ in try blocked.next(timeout: patience)?.number } }
        let task = Task {
            var found: [UInt64] = []
            for try await message in waiting.messages {
                found.append(message.number)
                try waiting.acknowledge(upTo: message.number)
                if message.number == 50 { break }
            }
            return found
        }
        let store = try channel.writableStore("test")
        #expect(await eventually { store.sleeper.isWatching })
        for _ in 1...50 { try channel.signal() }
        #expect(try await task.value == Array(1...50))
        #expect(try side.answer() == Array(1...50))
        let cancelled = Task {
            for try await _ in waiting.messages { return false }
            return true
        }
        #expect(await eventually { store.sleeper.isWatching })
        cancelled.cancel()
        #expect(try await cancelled.value)
    }
}
