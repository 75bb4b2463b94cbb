import Testing

@testable import GroupWidgetHosting

@Suite struct `A limit of a widget's standard error` {
    private static let second: Int64 = 1_000_000_000

    private func pausedUntil(_ errorLimit: inout ErrorStreamLimit, after count: Int, at now: Int64) -> Int64? {
        errorLimit.note(count, at: now)
        return errorLimit.pausedUntil
    }

    @Test func `standard error is read at once up to a mebibyte, and then at its rate`() {
        var errorLimit = ErrorStreamLimit()
        for _ in 0..<16 { #expect(pausedUntil(&errorLimit, after: 65_536, at: 0) == nil) }
        #expect(pausedUntil(&errorLimit, after: 65_536, at: 0) == Self.second)
        #expect(pausedUntil(&errorLimit, after: 131_072, at: Self.second) == 3 * Self.second)
    }

    @Test func `a paused standard error is resumed once, also if nothing is written`() {
        var errorLimit = ErrorStreamLimit()
        errorLimit.note(1_048_576 + 65_536, at: 0)
        let begun = [Self.second - 1, Self.second, 2 * Self.second].map { errorLimit.endsPause(at: $0) }
        #expect(begun == [false, true, false])
        #expect(errorLimit.pausedUntil == nil)
    }

    @Test func `a quiet time gives a widget's standard error its whole limit back`() {
        var errorLimit = ErrorStreamLimit()
        errorLimit.note(2 << 20, at: 0)
        #expect(pausedUntil(&errorLimit, after: 1 << 20, at: 40 * Self.second) == nil)
        #expect(pausedUntil(&errorLimit, after: 1, at: 40 * Self.second) != nil)
    }

    @Test func `the rate of standard error holds at any value of the clock`() {
        var (errorLimit, now) = (ErrorStreamLimit(), Int64.max / 2)
        for _ in 0..<10_000 {
            if let until = pausedUntil(&errorLimit, after: 65_536, at: now) { now = until }
        }
        #expect(now - Int64.max / 2 == (10_000 - 16) * Self.second)
    }
}
