import GroupSystemCalls
import TestSupport
import Testing

@Suite struct `Comparing a file's content` {
    private static let sizes = [0, 1, 4_095, 4_096, 4_097, 65_536 + 4_096, 200_000]

    private func isHeld(_ content: [UInt8], by stands: [UInt8]) throws -> Bool {
        let directory = try TemporaryDirectory()
        try directory.open("file", [.writing, .creating]).writeAll(stands)
        return try directory.open("file", .reading).holds(content)
    }

    @Test(arguments: sizes) func `a file holds its own content`(size: Int) throws {
        let content = (0..<size).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        #expect(try isHeld(content, by: content))
    }

    @Test(arguments: sizes) func `a file does not hold a content that ends earlier or later`(size: Int) throws {
        let content = (0..<size).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        #expect(try !isHeld(content + [0], by: content))
        #expect(try !isHeld(content, by: content + [0]))
    }

    @Test(arguments: sizes.dropFirst()) func `a file does not hold a content of which one byte is different`(size: Int)
        throws
    {
        let content = (0..<size).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        for place in Set([0, size / 2, size - 1]) {
            var other = content
            other[place] ^= 1
            #expect(try !isHeld(other, by: content), "byte \(place)")
        }
    }
}
