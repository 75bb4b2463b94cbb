import GroupCluster
import Testing

struct `The note of a machine` {
    @Test(arguments: ["alpha", "two words", "b\u{e9}ta", " ", "x  y "])
    func `a note is read as it was written`(host: String) {
        let note = MachineNote(index: 42, seconds: 1_700_000_000, host: host)
        #expect(MachineNote(bytes: note.bytes) == note)
        #expect(MachineNote(bytes: MachineNote(index: .max, seconds: 0, host: host).bytes)?.index == .max)
    }

    @Test func `a name that is too long is shortened, and a time that cannot be printed is limited`() {
        let note = MachineNote(index: 0, seconds: .max, host: String(repeating: "\u{e9}", count: 1_000))
        let read = MachineNote(bytes: note.bytes)
        #expect(read?.host.utf8.count == 254)
        #expect(read?.seconds == 253_402_300_799)
        #expect(MachineNote(bytes: MachineNote(index: 0, seconds: .min, host: "").bytes)?.host == "-")
    }

    @Test(arguments: [
        "", " ", "  ", "1", "1 2", "1 2 ", "-1 2 a", "1 -2 a", "+1 2 a", "a 2 b", "1  2 a",
        "18446744073709551616 2 a", "1 253402300800 a", "1 99999999999999999999 a", "1 2 \u{0}", "1\n2\na",
    ])
    func `bytes that are no note are none`(text: String) {
        let note = MachineNote(bytes: Array(text.utf8))
        #expect(note == nil || note?.host == "\u{0}")
        #expect(MachineNote(bytes: Array("1 2 ".utf8) + [0xFF]) == nil)
        #expect(MachineNote(bytes: Array("1 2 ".utf8) + [UInt8](repeating: 0x61, count: 256)) == nil)
    }

    @Test func `what is done rarely is done at once after a rest, and then in longer and longer intervals`() {
        var work = Rarely()
        let second: Int64 = 1_000_000_000
        var done: [Int64] = []
        for time in 0..<300 where work.isDue(at: Int64(time) * second) { done.append(Int64(time)) }
        #expect(done == [0, 4, 12, 28, 60, 120, 180, 240])
        let soon = work.isDue(at: 310 * second)
        #expect(soon)
        let isRested = work.isDue(at: 1_000 * second)
        let next = work.isDue(at: 1_004 * second)
        #expect(isRested && next)
    }
}
