import GroupSystemCalls
import TestSupport
import Testing

@testable import GroupContainer
@testable import GroupLog

/// Files of a channel with any bytes give messages or a typed error, and never end the process.
@Suite(.timeLimit(.minutes(runsLongTests ? 30 : 2)))
struct `Channel fuzzing` {
    @Test func `a channel of any bytes is read and posted to, or ends in a typed error`() throws {
        let sample = try SampleContainer()
        let member = sample.container.opened
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
            var reader = try MessageFeed(store, listener: "one")
            for _ in 0..<500 { do { if try reader.next() == nil { break } } catch { errors += 1 } }
            let place = try #require(try store.append(model.record(.post([1, 2, 3]))) { _ in true })
            let (state, present) = try store.present()
            #expect(state.last == place.sequence, "\(place) \(present) \(state.last) seed \(faultSeed), round \(round)")
            // A new message is delivered, whatever the bytes before it were.
            var got: GroupMessage?
            for _ in 0..<500 where got?.number != place.sequence { got = (try? reader.next()) ?? got }
            #expect(got?.bytes == [1, 2, 3], "seed \(faultSeed), round \(round)")
        }
    }

    @Test func `a channel that lost a record header goes on in the next segment, never behind the gap`()
        throws
    {
        let sample = try SampleContainer()
        let member = sample.container.opened
        let model = try GroupChannel(sample.container, name: "model")
        for number in 0..<10 { try model.post(bytes: [UInt8](repeating: UInt8(number), count: 3)) }
        let log = try model.writableStore("test").log
        var place = try log.start()
        for _ in 0..<4 {
            guard case .entry(let entry) = try log.step(behind: place) else { break }
            place = entry.position
        }
        #expect(place.sequence == 4)
        let file = try log.last()
        var bytes = file.map.bytes(0, count: file.capacity)
        for index in place.offset..<place.offset + 8 { bytes[index] = 0 }
        try BrokenSegment.write(bytes, into: try member.directory.ownDirectory("channels/broken"))
        let store = try #require(try ChannelStore.open(member, channel: "broken", creating: false))
        // The new record is as large as the lost one: in its place, the records behind it would follow it.
        let new = try #require(try store.append(model.record(.post([1, 2, 3]))) { _ in true })
        let (state, present) = try store.present()
        #expect(state.last == new.sequence && present == new)
        #expect(new.segment == 2 && new.sequence > 10, "no number is given twice")
    }
}
