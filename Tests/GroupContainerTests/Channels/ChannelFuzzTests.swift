import SystemCalls
import TestSupport
import Testing

@testable import GroupContainer

/// Whatever the bytes of a channel's files are: messages or a typed error, and never the end of the process.
@Suite(.timeLimit(.minutes(runsLongTests ? 30 : 2)))
struct `A channel of any bytes` {
    /// Ten minutes of it, or a few seconds.
    private static let duration: Int64 = runsLongTests ? 600_000_000_000 : 3_000_000_000

    @Test func `is listened to and posted to, or is an error`() throws {
        var random = SeededGenerator(seed: faultSeed)
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
        let store = try model.writableStore("test")
        let file = try store.log.last()
        let whole = file.map.bytes(0, count: file.capacity)
        let end = try store.log.end().offset

        let stop = monotonicNanoseconds() + Self.duration
        var (rounds, errors) = (0, 0)
        while monotonicNanoseconds() < stop {
            rounds += 1
            let channel = "fuzz \(rounds)"
            let folder = try member.folder.ownFolder("channels/\(channel)")
            try BrokenLogFile.write(BrokenLogFile.broken(whole, end: end, by: &random), into: folder)
            do {
                let store = try #require(try ChannelStore.open(member, channel: channel, creating: false))
                var reader = try ChannelReader(store, listener: "one")
                for _ in 0..<500 { do { if try reader.next() == nil { break } } catch { errors += 1 } }
                let place = try #require(try store.append(model.record(.post([1, 2, 3]))) { _ in true })
                #expect(try store.read { $0.last } == place.sequence, "seed \(faultSeed), round \(rounds)")
                // What comes new is got, whatever was before it.
                var got: GroupMessage?
                for _ in 0..<500 where got?.number != place.sequence { got = (try? reader.next()) ?? got }
                #expect(got?.bytes == [1, 2, 3], "seed \(faultSeed), round \(rounds)")
            } catch let error as CoordinationError {
                errors += 1
                #expect([.damaged, .newerFormat, .limitReached].contains(error.code), "\(error)")
            }
            for name in try folder.entryNames() where name != [46] && name != [46, 46] { try folder.unlink(name) }
        }
        print("channels: \(rounds) broken ones, \(errors) errors")
    }
}
