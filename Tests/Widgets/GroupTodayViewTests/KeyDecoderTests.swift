import TestSupport
import Testing
import GroupTodayView

struct `A key decoder` {
    private static let sequences: [(String, [Key])] = [
        ("j", [.character("j")]), ("\u{1B}[A", [.up]), ("\u{1B}OB", [.down]), ("\u{1B}[1;2A", [.shiftUp]),
        ("\u{1B}[1;2B", [.shiftDown]), ("\u{1B}[5~", [.pageUp]), ("\u{1B}[6~", [.pageDown]), ("\u{1B}[H", [.home]),
        ("\u{1B}[4~", [.end]), ("\r", [.enter]), ("\u{3}", [.control("c")]), ("\u{1C}", [.control("\\")]),
        ("\u{C}", [.control("l")]),
        ("\u{1A}", [.control("z")]), ("é", [.character("é")]), ("漢", [.character("漢")]), ("😀", [.character("😀")]),
        ("\u{1B}q", [.unknown]), ("\u{1B}[[A", [.unknown]), ("\u{1B}[200~q\u{3}\u{1B}[Ax\u{1B}[201~", [.pasted]),
        ("\u{1B}[200~\u{1B}[201~", [.pasted]), ("\u{1B}[?1;2c", [.unknown]), ("\u{1B}[M", [.enter]), ("\t", [.tab]),
        ("\u{1B}[<0;3;12M", [.click(column: 2, row: 11)]), ("\u{1B}[<0;3;12m", [.unknown]),
        ("\u{1B}[<65;1;1M", [.wheel(1)]), ("\u{1B}[<64;1;1M", [.wheel(-1)]), ("\u{1B}[<2;1;1M", [.unknown]),
        ("\u{1B}[<0M", [.unknown]), ("\u{1B}[<0;-9223372036854775808;1M", [.unknown]),
        ("\u{1B}[<0;1;9223372036854775807M", [.unknown]), ("\u{1B}[<0;0;1M", [.unknown]), ("\u{1B}[<M", [.unknown]),
        ("\u{7F}", [.backspace]), ("\u{1B}\u{1B}[A", [.escape, .up]), ("\u{1B}[3;99999999999999999999~", [.unknown]),
    ]

    @Test(arguments: sequences.indices) func `the bytes of a key are decoded as the key`(place: Int) {
        let (text, keys) = Self.sequences[place]
        var decoder = KeyDecoder()
        #expect(decoder.take(text.utf8) == keys && !decoder.isWaiting, "\(text.debugDescription)")
    }

    @Test func `bytes are decoded as the same keys however they are cut`() {
        for seed in 0..<1_000 as Range<UInt64> { cut(seed) }
    }

    private func cut(_ seed: UInt64) {
        var random = SeededGenerator(seed: faultSeed &+ seed)
        var bytes: [UInt8] = []
        for _ in 0..<20 {
            // These include bytes that no terminal sends.
            if Int.random(in: 0..<4, using: &random) == 0 {
                bytes.append([0x1B, 0x5B, 0xE6, 0xFF, 0xC2, 0x80, 0x3B, 0x7E].randomElement(using: &random) ?? 0)
            } else {
                bytes += Self.sequences.randomElement(using: &random)?.0.utf8 ?? "".utf8
            }
        }
        var whole = KeyDecoder()
        let expected = whole.take(bytes) + whole.timeIsOver()
        var cut = KeyDecoder()
        var keys: [Key] = []
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = Int.random(in: 1...5, using: &random)
            keys += cut.take(rest.prefix(count))
            rest = rest.dropFirst(count)
        }
        keys += cut.timeIsOver()
        #expect(keys == expected, "\(bytes)")
    }

    @Test func `a lone Escape is decoded as the key when no more bytes come`() {
        var decoder = KeyDecoder()
        #expect(decoder.take([0x1B]) == [] && decoder.isWaiting)
        #expect(decoder.timeIsOver() == [.escape] && !decoder.isWaiting)
        #expect(decoder.take([0x1B]) == [] && decoder.take("[B".utf8) == [.down])
    }

    @Test func `pasted bytes are not decoded as keys, and are not kept`() {
        var decoder = KeyDecoder()
        #expect(decoder.take("\u{1B}[200~".utf8) == [.pasted])
        for _ in 0..<1_000 { #expect(decoder.take("quit qqq \u{3}\u{1B}[20".utf8) == []) }
        #expect(MemoryLayout.size(ofValue: decoder) < 64 && !decoder.isWaiting)
        #expect(decoder.timeIsOver() == [] && decoder.take("1~q".utf8) == [.character("q")])
    }

    @Test func `bytes that are not UTF-8 are not decoded as characters`() {
        var decoder = KeyDecoder()
        #expect(decoder.take([0xFF, 0x80, 0xC0, 0x71]) == [.unknown, .unknown, .unknown, .character("q")])
        #expect(decoder.take([0xE6, 0x71]) == [.unknown, .character("q")])
        #expect(decoder.take([0xED, 0xA0, 0x80]).allSatisfy { $0 == .unknown })
    }
}
