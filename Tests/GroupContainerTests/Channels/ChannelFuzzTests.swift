import TestSupport
import Testing

@testable import GroupContainer

/// Whatever the bytes of a channel's files are: messages or a typed error, and never the end of the process.
@Suite(.timeLimit(.minutes(runsLongTests ? 30 : 2)))
struct `A channel of any bytes` {
    @Test func `is listened to and posted to, or is an error`() throws {
        let sample = try SampleContainer()
        let member = sample.container.member
        let model = try GroupChannel(sample.container, name: "model")
        let listener = try model.listener(named: "one")
        for number in 0..<200 {
            try model.post(bytes: Array(repeating: 7, count: number))
            if number % 20 == 0 { try listener.acknowledge(upTo: UInt64(number / 2)) }
            if number % 50 == 0 { _ = try model.listener(named: "other") }
        }
        try model.removeListener(named: "other")
        let log = try model.writableStore("test").log
        try BrokenLogs(kind: "channels", member: member).forEach(of: log) { channel, round, errors in
            let store = try #require(try ChannelStore.open(member, channel: channel, creating: false))
            var reader = try ChannelReader(store, listener: "one")
            for _ in 0..<500 { do { if try reader.next() == nil { break } } catch { errors += 1 } }
            let place = try #require(try store.append(model.record(.post([1, 2, 3]))) { _ in true })
            #expect(try store.checkedRead { $0.last } == place.sequence, "seed \(faultSeed), round \(round)")
            // What comes new is got, whatever was before it.
            var got: GroupMessage?
            for _ in 0..<500 where got?.number != place.sequence { got = (try? reader.next()) ?? got }
            #expect(got?.bytes == [1, 2, 3], "seed \(faultSeed), round \(round)")
        }
    }
}
