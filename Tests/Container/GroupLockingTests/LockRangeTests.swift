import GroupBytes
import Testing

@testable import GroupLocking

@Suite
struct `Lock ranges` {
    private static let key = SipHash(key: (1, 2))

    private static func range(_ text: String, key: SipHash = key) throws -> LockRange {
        LockRange(path: Array(text.utf8), key: key)
    }

    /// Returns the offsets of all items that share a directory's components.
    private static func interval(_ directory: String) throws -> Range<Int64> {
        let depth = directory.split(separator: "/").count
        let low = Int64(62 - 11 * depth)
        let first = try (range(directory).start >> low) << low
        return first..<(first + 1 << low)
    }

    @Test(arguments: ["a", "a/b", "a/b/c", "Library", "Library/Caches"])
    func `lock ranges of everything below a directory lie in the directory's subtree`(directory: String) throws {
        let interval = try Self.interval(directory)
        #expect(interval.contains(try Self.range(directory).start))
        for name in 0..<500 {
            for inner in [
                "\(directory)/\(name)", "\(directory)/\(name)/x", "\(directory)/x/\(name)/y",
                "\(directory)/x/y/z/\(name)",
            ] {
                let range = try Self.range(inner)
                #expect(interval.contains(range.start) && interval.contains(range.start + LockRange.itemLength - 1))
                #expect(try Self.range(directory).subtree.contains(range))
            }
        }
    }

    @Test(arguments: ["a", "a/b"])
    func `a directory's lock range sorts before those of everything below it`(directory: String) throws {
        let own = try Self.range(directory)
        for name in 0..<500 {
            #expect(own.start < (try Self.range("\(directory)/\(name)")).start)
            #expect(own.start < (try Self.range("\(directory)/\(name)/\(name)")).start)
        }
    }

    @Test func `lock ranges lie above the container's own locks and below the largest offset`() throws {
        for name in 0..<2_000 {
            let range = try Self.range("\(name)/\(name * 7)/\(name * 13)/x")
            #expect(range.start >= 1 << 62)
            #expect(range.start <= .max - LockRange.itemLength)
            #expect(range.start.isMultiple(of: LockRange.itemLength))
            #expect((0..<MemberTableLayout.bucketCount / 2).contains(range.bucket))
        }
    }

    @Test func `a lock range begins with the turnstile, and the lock follows it`() throws {
        let range = try Self.range("a/b")
        #expect(range.turnstile == range.start)
        #expect(range.sharedByte == range.start + 1)
    }

    @Test func `lock ranges differ with the key`() throws {
        let same = try (0..<200).filter {
            try Self.range("item-\($0)") == Self.range("item-\($0)", key: SipHash(key: (1, 3)))
        }
        #expect(same.count <= 1)
    }

    @Test func `two items seldom share a lock range or a bucket`() throws {
        let ranges = try (0..<1_000).map { try Self.range("Library/item-\($0)") }
        #expect(Set(ranges).count > 950)
        #expect(Set(ranges.map(\.bucket)).count > 200)
    }
}
