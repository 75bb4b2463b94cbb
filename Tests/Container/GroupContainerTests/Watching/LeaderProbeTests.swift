import Testing

@testable import GroupContainer

@Suite struct `Leader probes` {
    private static let second: Int64 = 1_000_000_000

    @Test func `a leader is probed at most once a second, whichever process probed last`() {
        var probe = LeaderProbe()
        #expect(probe.check(probed: 7, replied: 7, probedAt: 0, now: Self.second) == .probe)
        #expect(probe.check(probed: 8, replied: 8, probedAt: Self.second, now: Self.second + 5) == .nothing)
        #expect(probe.check(probed: 8, replied: 8, probedAt: Self.second, now: 2 * Self.second) == .probe)
    }

    @Test(arguments: [.min, -1, .max] as [Int64]) func `a leader is probed if the time of the last probe is impossible`(
        probedAt: Int64
    ) {
        var probe = LeaderProbe()
        #expect(probe.check(probed: 7, replied: 7, probedAt: probedAt, now: Self.second) == .probe)
    }

    @Test func `a candidate takes over after a second and several checks without a reply`() {
        var probe = LeaderProbe()
        for look in 0..<10 {
            #expect(probe.check(probed: 8, replied: 7, probedAt: 0, now: Int64(look) * Self.second / 10) == .nothing)
        }
        #expect(probe.check(probed: 8, replied: 7, probedAt: 0, now: Self.second) == .takeOver)
    }

    @Test func `a candidate that was stopped itself does not take over at its first check`() {
        var probe = LeaderProbe()
        #expect(probe.check(probed: 8, replied: 7, probedAt: 0, now: 0) == .nothing)
        #expect(probe.check(probed: 8, replied: 7, probedAt: 0, now: 100 * Self.second) == .nothing)
        #expect(probe.check(probed: 8, replied: 8, probedAt: 0, now: 100 * Self.second) == .probe)
        #expect(probe.check(probed: 9, replied: 8, probedAt: 0, now: 100 * Self.second) == .nothing)
    }

    @Test func `the wait for a reply begins again with each reply, also when the probe's number wraps`() {
        var probe = LeaderProbe()
        #expect(probe.check(probed: 0, replied: .max, probedAt: 0, now: 0) == .nothing)
        #expect(probe.check(probed: 0, replied: .max, probedAt: 0, now: 9) == .nothing)
        #expect(probe.check(probed: 1, replied: 0, probedAt: 0, now: Self.second) == .nothing)
        #expect(probe.check(probed: 1, replied: 0, probedAt: 0, now: Self.second * 3 / 2) == .nothing)
        #expect(probe.check(probed: 1, replied: 0, probedAt: 0, now: 2 * Self.second) == .takeOver)
    }

    @Test func `checks in quick succession after a stop of the machine leave the leader time to reply`() {
        var probe = LeaderProbe()
        #expect(probe.check(probed: 8, replied: 7, probedAt: 0, now: 0) == .nothing)
        for nanoseconds in 0..<20 as Range<Int64> {
            #expect(probe.check(probed: 8, replied: 7, probedAt: 0, now: 100 * Self.second + nanoseconds) == .nothing)
        }
        #expect(probe.check(probed: 8, replied: 7, probedAt: 0, now: 100 * Self.second + Self.second / 5) == .takeOver)
    }

    @Test func `a leader is probed if the last probe lies ahead: the clock is of another boot`() {
        var probe = LeaderProbe()
        #expect(probe.check(probed: 7, replied: 7, probedAt: 90 * Self.second, now: Self.second) == .probe)
    }
}
