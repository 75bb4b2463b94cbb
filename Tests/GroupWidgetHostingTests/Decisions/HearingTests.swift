import Testing

@testable import GroupWidgetHosting

@Suite struct `A widget that says much on its standard error` {
    private static let second: Int64 = 1_000_000_000

    private func deafUntil(_ hearing: inout Hearing, after count: Int, at now: Int64) -> Int64? {
        hearing.note(count, at: now)
        return hearing.deafUntil
    }

    @Test func `is heard at once up to a mebibyte, and then waits as long as the rest takes`() {
        var hearing = Hearing()
        for _ in 0..<16 { #expect(deafUntil(&hearing, after: 65_536, at: 0) == nil) }
        #expect(deafUntil(&hearing, after: 65_536, at: 0) == Self.second)
        #expect(deafUntil(&hearing, after: 131_072, at: Self.second) == 3 * Self.second)
    }

    @Test func `is listened to again once, and is not waited for any more then, even if it says nothing`() {
        var hearing = Hearing()
        hearing.note(1_048_576 + 65_536, at: 0)
        let begun = [Self.second - 1, Self.second, 2 * Self.second].map { hearing.beginsAgain(at: $0) }
        #expect(begun == [false, true, false])
        #expect(hearing.deafUntil == nil)
    }

    @Test func `is heard as before once it has said little for a while`() {
        var hearing = Hearing()
        hearing.note(2 << 20, at: 0)
        #expect(deafUntil(&hearing, after: 1 << 20, at: 40 * Self.second) == nil)
        #expect(deafUntil(&hearing, after: 1, at: 40 * Self.second) != nil)
    }

    @Test func `is heard for ever at that rate, wherever the clock stands`() {
        var (hearing, now) = (Hearing(), Int64.max / 2)
        for _ in 0..<10_000 {
            if let until = deafUntil(&hearing, after: 65_536, at: now) { now = until }
        }
        #expect(now - Int64.max / 2 == (10_000 - 16) * Self.second)
    }
}
