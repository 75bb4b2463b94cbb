import Testing

@testable import WidgetHosting

@Suite struct `A widget that says much on its standard error` {
    private static let second: Int64 = 1_000_000_000

    @Test func `is heard at once up to a mebibyte, and then waits as long as the rest takes`() {
        var hearing = Hearing()
        for _ in 0..<16 { #expect(hearing.heard(65_536, at: 0) == nil) }
        #expect(hearing.heard(65_536, at: 0) == Self.second)
        #expect(hearing.heard(131_072, at: Self.second) == 3 * Self.second)
    }

    @Test func `is heard as before once it has said little for a while`() {
        var hearing = Hearing()
        _ = hearing.heard(2 << 20, at: 0)
        #expect(hearing.heard(1 << 20, at: 40 * Self.second) == nil)
        #expect(hearing.heard(1, at: 40 * Self.second) != nil)
    }

    @Test func `is heard for ever at that rate, wherever the clock stands`() {
        var (hearing, now) = (Hearing(), Int64.max / 2)
        for _ in 0..<10_000 {
            if let until = hearing.heard(65_536, at: now) { now = until }
        }
        #expect(now - Int64.max / 2 == (10_000 - 16) * Self.second)
    }
}
