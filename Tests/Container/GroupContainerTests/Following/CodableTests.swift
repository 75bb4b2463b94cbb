import Foundation
import GroupContainer
import TestSupport
import Testing

@Suite
struct `Values that programs store` {
    @Test func `a cursor is coded as its text, and other text is refused`() throws {
        let sample = try SampleContainer()
        let cursor = try sample.container.status().cursor
        let text = try JSONEncoder().encode([cursor])
        #expect(String(decoding: text, as: UTF8.self) == "[\"\(cursor)\"]")
        #expect(try JSONDecoder().decode([Cursor].self, from: text) == [cursor])
        #expect(throws: DecodingError.self) { try JSONDecoder().decode([Cursor].self, from: Data("[\"g1-x\"]".utf8)) }
    }

    @Test func `paths are ordered by their bytes`() {
        #expect((["b", "a/b", "a"] as [ItemPath]).sorted() == ["a", "a/b", "b"])
    }
}
