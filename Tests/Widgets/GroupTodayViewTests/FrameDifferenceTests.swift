import Testing
import TestSupport
import GroupTodayView
import TerminalModel

@Suite(.ownThreads) struct `Bytes from one frame to the next` {
    @Test func `a terminal shows the new frame after the bytes, whatever it showed before`() {
        for seed in 0..<300 as Range<UInt64> { follow(seed) }
    }

    private func follow(_ seed: UInt64) {
        var random = RandomToday(faultSeed &* 1_000 &+ seed)
        let look = TerminalLook(isColored: true, isUnicode: random.chance(0.8))
        var screen = TodayScreen(size: random.size(), look: look)
        var terminal = ModelTerminal(screen.size)
        var shown: Frame?
        screen.know([KnownWidget(kind: "z", title: "漢\u{1B}字")])
        for _ in 0..<12 {
            if random.chance(0.4) { screen.take(random.model()) }
            if random.chance(0.7) { _ = screen.press(random.key()) }
            if random.chance(0.1) {
                screen.resize(to: random.size())
                terminal = ModelTerminal(screen.size)
            }
            if random.chance(0.1) { screen.show(notice: "it leads nowhere: \u{1B}[5m") }
            let frame = screen.picture(at: TodayMoment(now: random.moment())).frame
            terminal.take(FrameDifference.bytes(from: shown, to: frame, isColored: true))
            #expect(terminal.cells == frame.rows && terminal.refused.isEmpty, "\(terminal.refused)\n\(frame.picture)")
            #expect(frame.rows.allSatisfy { row in row.map(\.width).reduce(0, +) == frame.size.columns })
            if !look.isUnicode { #expect(frame.picture.utf8.allSatisfy { 0x20 <= $0 && $0 < 0x7F || $0 == 0x0A }) }
            shown = frame
        }
    }

    @Test func `equal frames need no bytes, and similar frames few`() {
        var old = Frame(WidgetSize(columns: 40, rows: 3))
        old.put(Cell.of("in 4 s", CellStyle(.green)), row: 1, column: 2)
        var new = old
        #expect(FrameDifference.bytes(from: old, to: new, isColored: true).isEmpty)
        new.put(Cell.of("3", CellStyle(.green)), row: 1, column: 5)
        let bytes = FrameDifference.bytes(from: old, to: new, isColored: true)
        #expect(String(decoding: bytes, as: UTF8.self) == "\u{1B}[2;6H\u{1B}[0;32m3\u{1B}[0m")
        let plain = FrameDifference.bytes(from: old, to: new, isColored: false)
        #expect(!String(decoding: plain, as: UTF8.self).contains("32"))
    }

    @Test func `the cursor is placed anew after a character of two columns`() {
        var frame = Frame(WidgetSize(columns: 6, rows: 1))
        frame.put(Cell.of("漢a"), row: 0)
        let text = String(decoding: FrameDifference.bytes(from: nil, to: frame, isColored: false), as: UTF8.self)
        #expect(text.hasSuffix("\u{1B}[1;1H漢\u{1B}[1;3Ha"), "\(text.debugDescription)")
    }
}
