import Testing

@testable import GroupContainer

@Suite
struct `Cursor texts` {
    private static let sample = Cursor(
        container: 0x0102_0304_0506_0708, segment: .max, offset: 4_096, sequence: 9, checksum: .max)

    @Test(arguments: [sample, Cursor(container: 0, segment: 0, offset: 0, sequence: 0, checksum: 0)])
    func `a cursor comes back from its text`(cursor: Cursor) {
        #expect(Cursor(cursor.description) == cursor)
        #expect(cursor.description.utf8.count == 67)
        #expect(cursor.description.hasPrefix("g1-"))
        #expect(!cursor.description.contains(" "))
    }

    @Test func `a cursor's text that is cut short or too long is refused`() {
        let text = Self.sample.description
        for count in 0..<text.count { #expect(Cursor(String(text.prefix(count))) == nil) }
        for more in ["0", "00", " ", "\n", "g1-"] { #expect(Cursor(text + more) == nil) }
    }

    @Test(arguments: ["", "g1-", "g2-", "now", "start", "0", "g1", "G1-", "-1", "g1-é"])
    func `a text that is not a cursor's is refused`(text: String) {
        #expect(Cursor(text) == nil)
        let digits = Self.sample.description.dropFirst(3)
        if text != "g1-" { #expect(Cursor(text + digits) == nil) }
    }

    @Test func `a cursor's text with a wrong digit is refused`() {
        let text = Self.sample.description
        for place in text.indices.dropFirst(3) {
            for wrong in ["g", "F", " ", "-", "é", "\0"] {
                #expect(Cursor(text.replacingCharacters(in: place, with: wrong)) == nil)
            }
        }
    }
}

extension String {
    fileprivate func replacingCharacters(in place: Index, with text: String) -> String {
        self[..<place] + text + self[index(after: place)...]
    }
}
