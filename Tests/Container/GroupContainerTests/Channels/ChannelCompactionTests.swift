import GroupSystemCalls
import TestSupport
import Testing

@testable import GroupContainer
@testable import GroupLog

@Suite(.timeLimit(.minutes(1)))
struct `Channel compaction` {
    /// Posts messages until the channel has this many segments; returns the last message's number.
    private static func fill(_ channel: GroupChannel, files: UInt64) throws -> UInt64 {
        let store = try channel.writableStore("post")
        var number: UInt64 = 0
        while try store.log.last().header.number < files {
            number = try channel.post(bytes: Array(repeating: UInt8(truncatingIfNeeded: number), count: 1_000))
        }
        return number
    }

    private static func fresh(_ sample: SampleContainer) throws -> ChannelStore {
        try #require(try ChannelStore.open(sample.container.opened, channel: "news", creating: false))
    }

    @Test func `each new segment of a channel begins with unacknowledged messages and the listeners' places`() throws {
        let sample = try SampleContainer()
        let channel = try GroupChannel(sample.container, name: "news")
        let (slow, fast) = (try channel.listener(named: "slow"), try channel.listener(named: "fast"))
        try channel.post(bytes: [42])
        try channel.signal()
        #expect(try slow.next()?.number == 1)
        try slow.acknowledge(upTo: 1)
        let last = try Self.fill(channel, files: 3)
        while let message = try fast.next(timeout: .zero) { try fast.acknowledge(upTo: message.number) }
        let store = try channel.writableStore("test")
        let other = try Self.fresh(sample)
        #expect(try other.checkedRead { $0 } == store.checkedRead { $0 })
        #expect(try other.checkedRead { $0.listeners.mapValues(\.acknowledged) } == ["slow": 1, "fast": last])
        // The slow listener's reader is in a segment that was dropped meanwhile.
        #expect(store.log.drop(1))
        store.log.forgetAll(last: try store.log.last().header.number)
        var expected: UInt64 = 2
        while let message = try slow.next(timeout: .zero) {
            #expect(message.number == expected && (message.bytes == nil) == (expected == 2))
            expected += 1
        }
        #expect(expected == last + 1)
        try slow.acknowledge(upTo: last)
        #expect(try store.checkedRead { $0.messages.isEmpty && $0.size == 0 })
        // Messages that every listener has acknowledged are not carried on, so the next segment is as small as before.
        let number = try store.log.last().header.number
        while try store.log.last().header.number == number {
            let posted = try channel.post(bytes: Array(repeating: 1, count: 30_000))
            for listener in [slow, fast] { try listener.acknowledge(upTo: posted) }
        }
        #expect(try store.log.last().firstAppended < 65_536)
    }

    @Test func `compacting a channel keeps records that only a newer version understands`() throws {
        let sample = try SampleContainer()
        let channel = try GroupChannel(sample.container, name: "news")
        let listener = try channel.listener(named: "one")
        let store = try channel.writableStore("test")
        _ = try store.log.append([99, 1, 2, 3], isControl: true)
        _ = try store.log.append([98, 7])
        #expect(try channel.signal() == 2)
        _ = try Self.fill(channel, files: 3)
        let other = try Self.fresh(sample)
        #expect(try other.checkedRead { $0.unknown } == [[99, 1, 2, 3]])
        let file = try store.log.last()
        var bodies: [[UInt8]] = []
        _ = try file.forEachCommitted(before: file.firstAppended) { body, _, _ in bodies.append(body) }
        let steps = bodies.compactMap { try? ChannelRecord(decoding: $0).step }
        #expect(bodies.contains([99, 1, 2, 3]) && steps.contains(.carriedUnknown(number: 1, [98, 7])))
        // The record is no message to this version, and no message is missing.
        #expect(try listener.next()?.number == 2)
        var again = try MessageFeed(other, listener: "one")
        #expect(try again.next()?.number == 2)
    }

    @Test func `a listener gets an error for a damaged message, and then the next message`() throws {
        let sample = try SampleContainer()
        let channel = try GroupChannel(sample.container, name: "news")
        let listener = try channel.listener(named: "one")
        let diagnostics = sample.container.followDiagnostics()
        try channel.post(bytes: [1])
        let store = try channel.writableStore("test")
        let place = store.fold.withLock { $0.position }
        try channel.post(bytes: [2])
        try channel.post(bytes: [3])
        let file = try store.log.last()
        file.writableMap?.store32(place.offset + 20, 0xffff_ffff)
        #expect(try listener.next()?.number == 1)
        #expect(code { try listener.next() } == .damaged)
        #expect(try listener.next()?.number == 3)
        var feed = diagnostics
        #expect(feed.next(timeout: .zero)?.code == .channelDamaged)
        // The same holds for a listener that comes later, after the log was compacted.
        _ = try Self.fill(channel, files: 3)
        var late = try MessageFeed(try Self.fresh(sample), listener: "one")
        #expect(try late.next()?.number == 1)
        #expect(code { try late.next() } == .damaged)
        #expect(try late.next()?.number == 3 && late.next()?.number == 4)
    }

    @Test func `a channel with a broken record header continues in the next segment; listeners get one error`() throws {
        let sample = try SampleContainer()
        let channel = try GroupChannel(sample.container, name: "news")
        let listener = try channel.listener(named: "one")
        try channel.post(bytes: [1])
        let store = try channel.writableStore("test")
        let place = store.fold.withLock { $0.position }
        try channel.post(bytes: [2])
        try store.log.last().writableMap?.store64(place.offset, 0x1234)
        let other = try Self.fresh(sample)
        let record = channel.record(.post([3]))
        let next = try #require(try other.append(record) { _ in true })
        #expect(next.sequence > 2 && next.segment == 2)
        #expect(try listener.next()?.number == 1)
        #expect(code { try listener.next() } == .damaged)
        #expect(try listener.next()?.bytes == [3])
        #expect(try channel.listeners().map(\.waitingCount) == [2])
    }
}
