import TestSupport
import Testing

@testable import GroupContainer
@testable import GroupLog

/// A checkpoint that is not written to a file.
final class CheckpointInMemory: TreeOverlay.Base {
    private let checkpoint: Checkpoint<[UInt8]>

    init(_ checkpoint: Checkpoint<[UInt8]>) { self.checkpoint = checkpoint }

    func item(at location: ItemLocation) -> TreeIndex.Item? { try? checkpoint.item(at: location) }

    func below(_ directory: ItemLocation) -> [ItemLocation] {
        ((try? checkpoint.below(directory)) ?? []).compactMap { try? ItemLocation($0.path) }
    }
}

@Suite struct `Checkpoint coding` {
    /// Paths, some of which are in the random trees.
    static let names = ["a", "ab", "a-", "b", "a/a", "a/b", "b/ab", "b/a-/a", "nobody", "a/nobody"]

    static let header = CheckpointHeader(
        container: [UInt8](1...16), position: LogPosition(segment: 3, offset: 4_096, sequence: 77, checksum: 9),
        segmentSalt: 0xfeed, newestTerm: 5, nonce: 0xabcd, made: -1)

    private static func sample() throws -> TreeIndex {
        var treeIndex = TreeIndex()
        for (number, path) in ["b", "a", "a/c", "a-", "a/b", "a/b/x", "ab", "a/c/\u{e4}"].enumerated() {
            let type: ItemType = ["a", "a/b", "a/c"].contains(path) ? .directory : .file
            var state = `Tree index`.state(type, inode: UInt64(number + 1), size: 9)
            if number % 2 == 0 { state.contentHash = UInt64(number) }
            treeIndex.apply(`Tree index`.record(.created, path, state), at: UInt64(number + 10))
        }
        return treeIndex
    }

    @Test func `a checkpoint comes back from its bytes with all items`() throws {
        let treeIndex = try Self.sample()
        let checkpoint = try Checkpoint(Checkpoint.encode(treeIndex, Self.header))
        #expect(checkpoint.header == Self.header)
        #expect(checkpoint.count == 8)
        #expect(try checkpoint.treeIndex() == treeIndex)
        for (location, item) in treeIndex.items { #expect(try checkpoint.item(at: location) == item) }
        for name in ["0", "a/", "a/b/", "a.", "zz", "a/b/x/y"] {
            #expect(try checkpoint.item(at: `Tree index`.location(name + "0")) == nil)
        }
        let below = try checkpoint.below(`Tree index`.location("a")).map(\.path)
        #expect(below == ["a/b", "a/b/x", "a/c", "a/c/\u{e4}"].map { Array($0.utf8) })
    }

    @Test func `a checkpoint may be empty`() throws {
        let checkpoint = try Checkpoint(Checkpoint.encode(TreeIndex(), Self.header))
        #expect(try checkpoint.treeIndex() == TreeIndex())
        #expect(try checkpoint.item(at: `Tree index`.location("a")) == nil)
        #expect(try checkpoint.below(`Tree index`.location("a")).isEmpty)
    }

    // fault: flipped-bit
    @Test func `a checkpoint with a bit flipped in any byte is refused`() throws {
        let treeIndex = try Self.sample()
        let whole = Checkpoint.encode(treeIndex, Self.header)
        for place in whole.indices {
            var bytes = whole
            bytes[place] ^= 1 << UInt8(place * 5 % 8)
            #expect(throws: CheckpointFault.self, "byte \(place)") { try Checkpoint(bytes).treeIndex() }
            guard let checkpoint = try? Checkpoint(bytes) else { continue }
            for (location, item) in treeIndex.items {
                // Damage somewhere else does not matter to this item.
                do { #expect(try checkpoint.item(at: location) == item, "byte \(place)") } catch {}
            }
        }
    }

    // fault: flipped-bit
    @Test func `a checkpoint with an entry in another one's place is refused`() throws {
        var bytes = Checkpoint.encode(try Self.sample(), Self.header)
        // "a-" is the second entry, "ab" the seventh; they are equally long.
        let begin = { (number: Int) in
            Int(CheckpointEntry.number(bytes[...], at: CheckpointHeader.size + number * 8))
        }
        let (one, other) = (begin(1)..<begin(2), begin(6)..<begin(7))
        try #require(one.count == other.count)
        bytes.replaceSubrange(other, with: Array(bytes[one]))
        #expect(throws: CheckpointFault.damaged) { try Checkpoint(bytes).treeIndex() }
        #expect(throws: CheckpointFault.damaged) {
            try Checkpoint(bytes).item(at: `Tree index`.location("ab"))
        }
    }

    // fault: empty-metadata
    @Test func `a checkpoint that is cut short or too long is refused`() throws {
        let whole = Checkpoint.encode(try Self.sample(), Self.header)
        for count in 0..<whole.count {
            #expect(throws: CheckpointFault.self) { try Checkpoint(Array(whole[..<count])) }
            let zeros = [UInt8](repeating: 0, count: whole.count - count)
            if Array(whole[count...]) == zeros { continue }
            #expect(throws: CheckpointFault.self) { try Checkpoint(whole[..<count] + zeros).treeIndex() }
        }
        #expect(throws: CheckpointFault.damaged) { try Checkpoint(whole + [0]) }
    }

    // fault: unknown-data
    @Test func `a checkpoint of a newer format is refused with that format's number`() throws {
        var bytes = Checkpoint.encode(try Self.sample(), Self.header)
        bytes[8] = 2
        #expect(throws: CheckpointFault.newer(2)) { try Checkpoint(bytes) }
    }

    @Test func `a checkpoint of any bytes crashes no reader`() throws {
        var random = SeededGenerator(seed: 5)
        let whole = Checkpoint.encode(try Self.sample(), Self.header)
        for _ in 0..<1_000 {
            var bytes = whole
            for _ in 0...Int.random(in: 0..<4, using: &random) {
                let place = Int.random(in: 0..<bytes.count, using: &random)
                bytes[place] = UInt8.random(in: .min ... .max, using: &random)
            }
            // With a header whose checksum fits, so that what it contains is used.
            if Bool.random(using: &random) {
                bytes.replaceSubrange(..<CheckpointHeader.size, with: whole.prefix(CheckpointHeader.size))
            }
            guard let checkpoint = try? Checkpoint(bytes) else { continue }
            _ = try? checkpoint.treeIndex()
            for name in Self.names { _ = try? checkpoint.item(at: `Tree index`.location(name)) }
            _ = try? checkpoint.below(`Tree index`.location("a"))
        }
    }

    @Test func `a tree index learns the hash of an item only if the item is still as it was seen`() throws {
        var treeIndex = try Self.sample()
        let place = try `Tree index`.location("a/b/x")
        let item = try #require(treeIndex.item(at: place))
        var other = item.state
        other.size += 1
        treeIndex.learn(hash: 7, of: place, seen: other)
        #expect(treeIndex.item(at: place) == item)
        treeIndex.learn(hash: 7, of: place, seen: item.state)
        #expect(treeIndex.item(at: place)?.state.contentHash == 7)
        #expect(treeIndex.item(at: place)?.generation == item.generation)
        let again = try Checkpoint(Checkpoint.encode(treeIndex, Self.header)).treeIndex()
        #expect(again[place]?.contentHash == 7)
    }
}
