import FoundationEssentials
import GroupSystemCalls
import TestSupport
import Testing

@testable import GroupContainer

@Suite(.timeLimit(.minutes(1)))
struct `Sequence numbers and points in time` {
    @Test func `sequence numbers are ordered, encoded and printed as numbers`() throws {
        let (one, ten) = (SequenceNumber(rawValue: 1), SequenceNumber(rawValue: 10))
        #expect(one < ten && one != ten && "\(ten)" == "10")
        #expect(try JSONDecoder().decode(SequenceNumber.self, from: JSONEncoder().encode(ten)) == ten)
    }

    @Test func `changes, keys, messages and items have their time as a date`() throws {
        let begin = Date(nanoseconds: wallNanoseconds() - 1_000_000_000)
        let sample = try SampleContainer()
        let defaults = try GroupDefaults(sample.container)
        var keys = try defaults.follow(since: .start)
        let channel = try GroupChannel(sample.container, name: "news")
        let listener = try channel.listener(named: "one")
        try defaults.set(.integer(1), forKey: "k")
        try channel.signal()
        _ = try sample.container.coordinator(purpose: "tester").blocking.write(bytes: [1], to: "a")
        let change = try #require(try sample.container.recordedChanges(since: .start).collected().first)
        let times = [
            change.time, try keys.next(timeout: .zero)?.time, try listener.next(timeout: .zero)?.time,
            try sample.container.items().first?.modifiedAt, try channel.listeners().first?.since,
            try sample.container.status().members.first?.since,
        ]
        let end = Date(nanoseconds: wallNanoseconds() + 1_000_000_000)
        #expect(times.allSatisfy { $0.map { begin < $0 && $0 < end } == true }, "\(times)")
        #expect(abs(change.time.timeIntervalSince1970 - Double(change.timeNanoseconds) / 1e9) < 1e-6)
    }

    @Test func `the value of a snapshot has no time`() throws {
        let sample = try SampleContainer()
        let defaults = try GroupDefaults(sample.container)
        try defaults.set(.integer(1), forKey: "k")
        var keys = try defaults.follow(since: .snapshot)
        let change = try #require(try keys.next(timeout: .zero))
        #expect(change.kind == .present && change.time == nil)
    }

    @Test func `a follower that does not settle returns a transaction as one batch`() throws {
        let sample = try SampleContainer()
        let tester = sample.container.coordinator(purpose: "tester").blocking
        _ = try tester.write(bytes: [1], to: "a")
        try tester.transaction(.writing("b"), .writing("c")) { access in
            _ = try access.write(bytes: [1], to: "b")
            _ = try access.write(bytes: [1], to: "c")
        }
        var follower = try sample.container.follow(since: .start)
        #expect(try follower.nextBatch(timeout: .zero).map(\.path) == ["a"])
        #expect(try follower.nextBatch(timeout: .zero).map(\.path) == ["b", "c"] && follower.isSettled)
        #expect(try follower.nextBatch(timeout: .zero) == [])
    }
}
