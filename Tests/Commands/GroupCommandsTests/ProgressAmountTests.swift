import Testing

@testable import GroupCommands

@Suite struct `An amount of work` {
    @Test(arguments: [
        (0, "0 bytes"), (1_023, "1023 bytes"), (1_024, "1.0 KiB"), (1_536, "1.5 KiB"), (12 << 20, "12.0 MiB"),
        (3 << 40, "3.0 TiB"), (5 << 50, "5.0 PiB"),
        (.max, "15.9 EiB"),
    ])
    func `an amount of bytes is printed in the unit that suits it`(count: UInt64, text: String) {
        #expect(Progress.amount(count, .bytes) == text)
    }

    @Test func `an amount of items is printed with the singular for one item`() {
        #expect(Progress.amount(1, .items) == "1 item" && Progress.amount(2, .items) == "2 items")
    }

    @Test(arguments: [("short", 5, "short"), ("0123456789", 5, "01…89"), ("0123456789", 6, "01…789"), ("ab", 1, "…")])
    func `a long text keeps its beginning and its end`(text: String, limit: Int, shown: String) {
        let shortened = Progress.shortened(text, to: limit)
        #expect(shortened == shown && shortened.count <= limit)
    }

    @Test(arguments: [
        (0 as UInt64, 5 as UInt64, "[----------------] 0 %"), (1, 2, "[########--------] 50 %"),
        (99, 100, "[###############-] 99 %"), (7, 5, "[################] 100 %"), (1, 0, "[----------------] 0 %"),
        (.max, .max, "[################] 100 %"),
    ])
    func `a bar shows the part that is done`(done: UInt64, total: UInt64, text: String) {
        #expect(Progress.bar(done, of: total) == text)
    }
}
