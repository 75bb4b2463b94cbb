import TestSupport
import Testing

@testable import GroupContainer

/// A checkpoint that nobody has written to a file.
final class CheckpointInMemory: TreeIndex.Base {
    private let checkpoint: Checkpoint<[UInt8]>

    init(_ checkpoint: Checkpoint<[UInt8]>) { self.checkpoint = checkpoint }

    func item(at location: ItemLocation) -> TreeIndex.Item? { try? checkpoint.item(at: location) }

    func below(_ directory: ItemLocation) -> [ItemLocation] {
        ((try? checkpoint.below(directory)) ?? []).compactMap { try? ItemLocation($0.path) }
    }
}

@Suite struct `A checkpoint` {
    /// Some that stand in the random trees, and some that do not.
    static let names = ["a", "ab", "a-", "b", "a/a", "a/b", "b/ab", "b/a-/a", "nobody", "a/nobody"]

    static let header = CheckpointHeader(
        container: [UInt8](1...16), position: LogPosition(file: 3, offset: 4_096, sequence: 77, checksum: 9),
        fileSalt: 0xfeed, newestTerm: 5, nonce: 0xabcd, made: -1)

    private static func sample() throws -> TreeIndex {
        var treeIndex = TreeIndex()
        for (number, path) in ["b", "a", "a/c", "a-", "a/b", "a/b/x", "ab", "a/c/\u{e4}"].enumerated() {
            let type: ItemType = ["a", "a/b", "a/c"].contains(path) ? .directory : .file
            var state = `A tree index`.state(type, inode: UInt64(number + 1), size: 9)
            if number % 2 == 0 { state.contentHash = UInt64(number) }
            treeIndex.apply(`A tree index`.record(.created, path, state), at: UInt64(number + 10))
        }
        return treeIndex
    }

    @Test func `has everything again`() throws {
        let treeIndex = try Self.sample()
        let checkpoint = try Checkpoint(Checkpoint.encode(treeIndex, Self.header))
        #expect(checkpoint.header == Self.header)
        #expect(checkpoint.count == 8)
        #expect(try checkpoint.treeIndex() == treeIndex)
        for (location, item) in treeIndex.items { #expect(try checkpoint.item(at: location) == item) }
        for name in ["0", "a/", "a/b/", "a.", "zz", "a/b/x/y"] {
            #expect(try checkpoint.item(at: `A tree index`.location(name + "0")) == nil)
        }
        let below = try checkpoint.below(`A tree index`.location("a")).map(\.path)
        #expect(below == ["a/b", "a/b/x", "a/c", "a/c/\u{e4}"].map { Array($0.utf8) })
    }

    @Test func `may be empty`() throws {
        let checkpoint = try Checkpoint(Checkpoint.encode(TreeIndex(), Self.header))
        #expect(try checkpoint.treeIndex() == TreeIndex())
        #expect(try checkpoint.item(at: `A tree index`.location("a")) == nil)
        #expect(try checkpoint.below(`A tree index`.location("a")).isEmpty)
    }

    // case 9
    @Test func `with a bit flipped in any byte is not believed`() throws {
        let treeIndex = try Self.sample()
        let whole = Checkpoint.encode(treeIndex, Self.header)
        for place in whole.indices {
            var bytes = whole
            bytes[place] ^= 1 << UInt8(place * 5 % 8)
            #expect(throws: CheckpointFault.self, "byte \(place)") { try Checkpoint(bytes).treeIndex() }
            guard let checkpoint = try? Checkpoint(bytes) else { continue }
            for (location, item) in treeIndex.items {
                // Damage somewhere else does not matter to it.
                do { #expect(try checkpoint.item(at: location) == item, "byte \(place)") } catch {}
            }
        }
    }

    // case 9
    @Test func `with an entry in another one's place is not believed`() throws {
        var bytes = Checkpoint.encode(try Self.sample(), Self.header)
        // "a-" is the second, "ab" the seventh; they are as long.
        let begin = { (number: Int) in
            Int(CheckpointEntry.number(bytes[...], at: CheckpointHeader.size + number * 8))
        }
        let (one, other) = (begin(1)..<begin(2), begin(6)..<begin(7))
        try #require(one.count == other.count)
        bytes.replaceSubrange(other, with: Array(bytes[one]))
        #expect(throws: CheckpointFault.damaged) { try Checkpoint(bytes).treeIndex() }
        #expect(throws: CheckpointFault.damaged) {
            try Checkpoint(bytes).item(at: `A tree index`.location("ab"))
        }
    }

    // case 11
    @Test func `that was cut short, or is longer, is not believed`() throws {
        let whole = Checkpoint.encode(try Self.sample(), Self.header)
        for count in 0..<whole.count {
            #expect(throws: CheckpointFault.self) { try Checkpoint(Array(whole[..<count])) }
            let zeros = [UInt8](repeating: 0, count: whole.count - count)
            if Array(whole[count...]) == zeros { continue }
            #expect(throws: CheckpointFault.self) { try Checkpoint(whole[..<count] + zeros).treeIndex() }
        }
        #expect(throws: CheckpointFault.damaged) { try Checkpoint(whole + [0]) }
    }

    // case 37
    @Test func `of a newer format says so`() throws {
        var bytes = Checkpoint.encode(try Self.sample(), Self.header)
        bytes[8] = 2
        #expect(throws: CheckpointFault.newer(2)) { try Checkpoint(bytes) }
    }

    @Test func `of any bytes brings nobody down`() throws {
        var random = SeededGenerator(seed: 5)
        let whole = Checkpoint.encode(try Self.sample(), Self.header)
        for _ in 0..<1_000 {
            var bytes = whole
            for _ in 0...Int.random(in: 0..<4, using: &random) {
                let place = Int.random(in: 0..<bytes.count, using: &random)
                bytes[place] = UInt8.random(in: .min ... .max, using: &random)
            }
            // With a header whose checksum fits, so that what it claims is looked at.
            if Bool.random(using: &random) {
                bytes.replaceSubrange(..<CheckpointHeader.size, with: whole.prefix(CheckpointHeader.size))
            }
            guard let checkpoint = try? Checkpoint(bytes) else { continue }
            _ = try? checkpoint.treeIndex()
            for name in Self.names { _ = try? checkpoint.item(at: `A tree index`.location(name)) }
            _ = try? checkpoint.below(`A tree index`.location("a"))
        }
    }

    @Test func `learns the hash of what is still as it was seen, and nothing else`() throws {
        var treeIndex = try Self.sample()
        let place = try `A tree index`.location("a/b/x")
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
