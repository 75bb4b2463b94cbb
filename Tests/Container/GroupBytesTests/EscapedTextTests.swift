import GroupBytes
import Testing

struct EscapedTextTests {
    @Test(arguments: [
        (bytes(""), ""), (bytes("Library/todo.json"), "Library/todo.json"), (bytes("a\tb\nc\rd\\e"), #"a\tb\nc\rd\\e"#),
        (bytes("\r\n"), #"\r\n"#), ([0, 1, 0x1B, 0x1F, 0x20, 0x7E, 0x7F], #"\000\001\033\037 ~\177"#),
        (bytes("é 日本 😀 e\u{301}"), "é 日本 😀 e\u{301}"), ([0x61, 0xFF, 0x62], #"a\377b"#),
        // C1 controls, and their neighbors that are not controls.
        ([0xC2, 0x80, 0xC2, 0x9F, 0xC2, 0xA0], "\\302\\200\\302\\237\u{A0}"),
        // A sequence cut short, at the end and by a valid scalar.
        ([0xE6, 0x97], #"\346\227"#), ([0xE6, 0x97, 0x41], #"\346\227A"#),
        ([0xF0, 0x9F, 0x98, 0xC3, 0xA9], #"\360\237\230é"#),
        // Overlong, a surrogate, beyond U+10FFFF, a continuation alone.
        ([0xC0, 0xAF], #"\300\257"#), ([0xED, 0xA0, 0x80], #"\355\240\200"#),
        ([0xF4, 0x90, 0x80, 0x80], #"\364\220\200\200"#),
        ([0x80], #"\200"#), (bytes(#"\377"#), #"\\377"#),
    ])
    func `a field of a pipe line has no control characters and only valid UTF-8`(input: [UInt8], expected: String) {
        #expect(PipeText.escaped(input) == expected)
        #expect(Array(PipeText.escaped(input).utf8) == Array(expected.utf8))
    }

    @Test func `different pairs of bytes have different escapes`() {
        var seen: Set<[UInt8]> = []
        for first in UInt8.min...UInt8.max {
            for second in UInt8.min...UInt8.max { seen.insert(bytes(PipeText.escaped([first, second]))) }
        }
        #expect(seen.count == 65_536)
    }

    @Test func `a lossy string escapes only bytes that are not UTF-8`() {
        #expect(PipeText.lossyString(bytes("a\tb\\c\u{1B}é")) == "a\tb\\c\u{1B}é")
        #expect(PipeText.lossyString([0x61, 0x09, 0x5C, 0xC3, 0xA9, 0xFF]) == "a\t\\é\\377")
    }

    @Test(arguments: [
        (bytes("Library/é 日本"), "Library/é 日本"), (bytes(#"a\b"#), #"a\b"#),
        (bytes("é\n\u{7F}"), #"\303\251\012\177"#), ([0x61, 0xFF], #"a\377"#), ([], ""),
    ])
    func `a name in a message is octal where it has control characters or is not UTF-8`(
        input: [UInt8], expected: String
    ) {
        #expect(printable(input) == expected)
    }
}

private func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }
