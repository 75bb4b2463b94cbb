import Testing

@testable import GroupContainer

@Suite
struct `A lease block` {
    private static let key = SipHash(key: (1, 2))

    private static func block(_ text: String, key: SipHash = key) throws -> LeaseBlock {
        LeaseBlock(try ItemLocation(Array(text.utf8)), key: key)
    }

    /// All offsets that share the components of a folder that lies `depth` components deep.
    private static func interval(_ folder: String) throws -> Range<Int64> {
        let depth = folder.split(separator: "/").count
        let low = Int64(62 - 11 * depth)
        let first = try (block(folder).start >> low) << low
        return first..<(first + 1 << low)
    }

    @Test(arguments: ["a", "a/b", "a/b/c", "Library", "Library/Caches"])
    func `of everything below a folder lies in the folder's interval`(folder: String) throws {
        let interval = try Self.interval(folder)
        #expect(interval.contains(try Self.block(folder).start))
        for name in 0..<500 {
            for inner in [
                "\(folder)/\(name)", "\(folder)/\(name)/x", "\(folder)/x/\(name)/y", "\(folder)/x/y/z/\(name)",
            ] {
                let block = try Self.block(inner)
                #expect(interval.contains(block.start) && interval.contains(block.start + LeaseBlock.length - 1))
                #expect(try Self.block(folder).interval.contains(block.span))
            }
        }
    }

    @Test(arguments: ["a", "a/b"])
    func `of a folder sorts before all that is below it`(folder: String) throws {
        let own = try Self.block(folder)
        for name in 0..<500 {
            #expect(own < (try Self.block("\(folder)/\(name)")))
            #expect(own < (try Self.block("\(folder)/\(name)/\(name)")))
        }
    }

    @Test func `lies above what the container locks for itself and below the end of a file`() throws {
        for name in 0..<2_000 {
            let block = try Self.block("\(name)/\(name * 7)/\(name * 13)/x")
            #expect(block.start >= 1 << 62)
            #expect(block.start <= .max - LeaseBlock.length)
            #expect(block.start.isMultiple(of: LeaseBlock.length))
            #expect((0..<MemberTableLayout.bucketCount / 2).contains(block.span.bucket))
        }
        #expect(LeaseBlock.opening < 1 << 62)
        #expect((0..<3_000).allSatisfy { LeaseBlock.election(term: $0) < 1 << 62 })
    }

    @Test func `has the turnstile first and the lock next to it`() throws {
        let block = try Self.block("a/b")
        #expect(block.span.turnstile == block.start)
        #expect(block.span.lock == block.start + 1)
    }

    @Test func `is another with another key`() throws {
        let same = try (0..<200).filter {
            try Self.block("item-\($0)") == Self.block("item-\($0)", key: SipHash(key: (1, 3)))
        }
        #expect(same.count <= 1)
    }

    @Test func `is seldom shared by two items, nor is its bucket`() throws {
        let blocks = try (0..<1_000).map { try Self.block("Library/item-\($0)") }
        #expect(Set(blocks).count > 950)
        #expect(Set(blocks.map(\.span.bucket)).count > 200)
    }
}
