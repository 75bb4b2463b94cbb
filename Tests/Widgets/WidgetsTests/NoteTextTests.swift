import NoteShared
import Testing

struct `The text of a note` {
    private static func text(_ note: NoteText) -> String { String(decoding: note.bytes, as: UTF8.self) }

    @Test(arguments: [
        ("- [ ] milk\n- [ ] bread\n", "1:milk", true, "- [x] milk\n- [ ] bread\n"),
        ("- [ ] milk\n- [X] bread", "2:bread", false, "- [ ] milk\n- [ ] bread"),
        // Another program's line ends and other bytes stay.
        ("a\r\n- [ ] milk\r\nb\r\n", "2:milk", true, "a\r\n- [x] milk\r\nb\r\n"),
        // The line has another number by now.
        ("new\n- [ ] milk\n", "1:milk", true, "new\n- [x] milk\n"),
        // Two lines have the title, and neither has the number; nothing has the title; the line is no task.
        ("\n- [ ] milk\n- [ ] milk\n", "1:milk", true, nil),
        ("- [ ] milk\n", "1:bread", true, nil),
        ("-[ ] milk\n- [y] milk\n - [ ] milk\n- [ ]\n", "1:milk", true, nil),
        ("- [ ] milk\n", "milk", true, nil),
        ("", "1:", true, nil),
    ])
    func `a task is found by its number and title, and only its mark changes`(
        text: String, id: String, isDone: Bool, expected: String?
    ) {
        var note = NoteText(Array(text.utf8))
        #expect(note.setDone(isDone, id) == (expected != nil))
        #expect(Self.text(note) == expected ?? text)
    }

    @Test func `removing what is done keeps the other lines, and a line is added after a line's end`() {
        var note = NoteText(Array("- [x] a\r\nb\r\n- [ ] c\n- [x] d".utf8))
        #expect(note.removeDone() == 2 && Self.text(note) == "b\r\n- [ ] c\n")
        #expect(note.removeDone() == 0)
        note.append("e")
        #expect(Self.text(note) == "b\r\n- [ ] c\ne\n")
        note = NoteText([0xFF])
        note.append("f")
        #expect(note.bytes == [0xFF, 0x0A, 0x66, 0x0A])
        #expect(note.lines.map(\.text) == ["\u{FFFD}", "f"])
    }
}
