import Testing

@testable import GroupContainer

@Suite struct `Leader probes` {
    private static let second: Int64 = 1_000_000_000

    @Test func `a leader is probed at most once a second, whichever process probed last`() {
        var patience = LeaderProbe()
        #expect(patience.look(asked: 7, answered: 7, askedAt: 0, now: Self.second) == .ask)
        #expect(patience.look(asked: 8, answered: 8, askedAt: Self.second, now: Self.second + 5) == .nothing)
        #expect(patience.look(asked: 8, answered: 8, askedAt: Self.second, now: 2 * Self.second) == .ask)
    }

    @Test(arguments: [.min, -1, .max] as [Int64]) func `a leader is probed if the time of the last probe is impossible`(
        askedAt: Int64
    ) {
        var patience = LeaderProbe()
        #expect(patience.look(asked: 7, answered: 7, askedAt: askedAt, now: Self.second) == .ask)
    }

    @Test func `a candidate takes over after a second and several checks without a reply`() {
        var patience = LeaderProbe()
        for look in 0..<10 {
            #expect(patience.look(asked: 8, answered: 7, askedAt: 0, now: Int64(look) * Self.second / 10) == .nothing)
        }
        #expect(patience.look(asked: 8, answered: 7, askedAt: 0, now: Self.second) == .takeOver)
    }

    @Test func `a candidate that was stopped itself does not take over at its first check`() {
        var patience = LeaderProbe()
        #expect(patience.look(asked: 8, answered: 7, askedAt: 0, now: 0) == .nothing)
        #expect(patience.look(asked: 8, answered: 7, askedAt: 0, now: 100 * Self.second) == .nothing)
        #expect(patience.look(asked: 8, answered: 8, askedAt: 0, now: 100 * Self.second) == .ask)
        #expect(patience.look(asked: 9, answered: 8, askedAt: 0, now: 100 * Self.second) == .nothing)
    }

    @Test func `the wait for a reply begins again with each reply, also when the probe's number wraps`() {
        var patience = LeaderProbe()
        #expect(patience.look(asked: 0, answered: .max, askedAt: 0, now: 0) == .nothing)
        #expect(patience.look(asked: 0, answered: .max, askedAt: 0, now: 9) == .nothing)
        #expect(patience.look(asked: 1, answered: 0, askedAt: 0, now: Self.second) == .nothing)
        #expect(patience.look(asked: 1, answered: 0, askedAt: 0, now: Self.second + 1) == .nothing)
        #expect(patience.look(asked: 1, answered: 0, askedAt: 0, now: 2 * Self.second) == .takeOver)
    }

    // case 36
    @Test func `a leader is probed if the last probe lies ahead: the clock is of another boot`() {
        var patience = LeaderProbe()
        #expect(patience.look(asked: 7, answered: 7, askedAt: 90 * Self.second, now: Self.second) == .ask)
    }
}
