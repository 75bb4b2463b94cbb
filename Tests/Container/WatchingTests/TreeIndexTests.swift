import Testing

@testable import GroupContainer

@Suite struct `Tree index` {
    static func state(_ type: ItemType, inode: UInt64, size: UInt64 = 0) -> ItemState {
        ItemState(
            type: type, inode: inode, size: size, modified: 1, changed: 1, mode: 0o644, owner: 0, group: 0,
            contentHash: nil)
    }

    static func record(
        _ kind: ChangeRecord.Kind, _ path: String, from: String? = nil, _ state: ItemState? = nil
    ) -> ChangeRecord {
        ChangeRecord(
            kind, path: Array(path.utf8), from: from.map { Array($0.utf8) }, state: state, isCoordinated: false,
            processIdentifier: 0, purpose: [], time: 0)
    }

    static func location(_ path: String) throws -> ItemLocation { try ItemLocation(Array(path.utf8)) }

    static func paths(_ treeIndex: TreeIndex) -> [String] {
        treeIndex.map { String(decoding: $0.location.bytes, as: UTF8.self) }
    }

    /// Directory a with a/f and a/b with a/b/g; beside them the file ab.
    private func sample() -> TreeIndex {
        var treeIndex = TreeIndex()
        treeIndex.apply(Self.record(.created, "a", Self.state(.directory, inode: 1)))
        treeIndex.apply(Self.record(.created, "a/f", Self.state(.file, inode: 2)))
        treeIndex.apply(Self.record(.created, "a/b", Self.state(.directory, inode: 3)))
        treeIndex.apply(Self.record(.created, "a/b/g", Self.state(.file, inode: 4)))
        treeIndex.apply(Self.record(.created, "ab", Self.state(.file, inode: 5)))
        return treeIndex
    }

    @Test func `a tree index has two directories at each other's place after an exchange`() throws {
        var treeIndex = sample()
        treeIndex.apply(Self.record(.created, "c", Self.state(.directory, inode: 6)))
        treeIndex.apply(Self.record(.created, "c/h", Self.state(.file, inode: 7)))
        var exchange = Self.record(.exchanged, "a", from: "c", Self.state(.directory, inode: 6))
        exchange.otherState = Self.state(.directory, inode: 1)
        treeIndex.apply(exchange)
        #expect(Self.paths(treeIndex) == ["a", "a/h", "ab", "c", "c/b", "c/b/g", "c/f"])
        #expect(treeIndex[try Self.location("a")]?.inode == 6)
        #expect(treeIndex[try Self.location("c")]?.inode == 1)
        #expect(treeIndex.location(ofInode: 4) == (try Self.location("c/b/g")))
    }

    @Test func `a tree index has an item as it was last created, modified or touched`() throws {
        var treeIndex = TreeIndex()
        treeIndex.apply(Self.record(.created, "f", Self.state(.file, inode: 1)))
        treeIndex.apply(Self.record(.modified, "f", Self.state(.file, inode: 1, size: 9)))
        #expect(try treeIndex[Self.location("f")] == Self.state(.file, inode: 1, size: 9))
        treeIndex.apply(Self.record(.touched, "f", Self.state(.file, inode: 2, size: 9)))
        #expect(try treeIndex[Self.location("f")]?.inode == 2)
        #expect(treeIndex.location(ofInode: 1) == nil)
        #expect(try treeIndex.location(ofInode: 2) == Self.location("f"))
    }

    @Test func `a tree index applies all changes of a transaction, one after the other`() throws {
        var treeIndex = sample()
        let part = { (kind: ChangeRecord.Kind, path: String, from: String?, state: ItemState?) in
            ChangePart(kind: kind, path: Array(path.utf8), from: from.map { Array($0.utf8) }, state: state)
        }
        treeIndex.apply(
            ChangeRecord(
                transaction: [
                    part(.created, "n", nil, Self.state(.directory, inode: 6)),
                    part(.created, "n/f", nil, Self.state(.file, inode: 7)), part(.removed, "ab", nil, nil),
                    part(.moved, "n/b", "a/b", nil), part(.modified, "a/f", nil, Self.state(.file, inode: 8)),
                ],
                operation: ChangeRecord.noOperation, processIdentifier: 1, purpose: [], time: 0))
        #expect(Self.paths(treeIndex) == ["a", "a/f", "n", "n/b", "n/b/g", "n/f"])
        #expect(try treeIndex[Self.location("a/f")]?.inode == 8)
        #expect(treeIndex.location(ofInode: 5) == nil && treeIndex.location(ofInode: 2) == nil)
        #expect(try treeIndex.location(ofInode: 4) == Self.location("n/b/g"))
    }

    @Test func `removing a directory takes everything in it out of the tree index, and nothing beside it`() throws {
        var treeIndex = sample()
        treeIndex.apply(Self.record(.removed, "a"))
        #expect(Self.paths(treeIndex) == ["ab"])
        #expect((1...4).allSatisfy { treeIndex.location(ofInode: $0) == nil })
        #expect(try treeIndex.location(ofInode: 5) == Self.location("ab"))
    }

    @Test func `moving a directory moves everything in it in the tree index, and nothing beside it`() throws {
        var treeIndex = sample()
        treeIndex.apply(Self.record(.moved, "z", from: "a", Self.state(.directory, inode: 1)))
        #expect(Self.paths(treeIndex) == ["ab", "z", "z/b", "z/b/g", "z/f"])
        #expect(try treeIndex.location(ofInode: 4) == Self.location("z/b/g"))
        #expect(try treeIndex[Self.location("z/b/g")] == Self.state(.file, inode: 4))
    }

    @Test func `moving a file over another replaces that in the tree index`() throws {
        var treeIndex = sample()
        treeIndex.apply(Self.record(.moved, "ab", from: "a/f"))
        #expect(Self.paths(treeIndex) == ["a", "a/b", "a/b/g", "ab"])
        #expect(try treeIndex.location(ofInode: 2) == Self.location("ab"))
        #expect(treeIndex.location(ofInode: 5) == nil)
    }

    @Test func `an item's generation in the tree index is that of its own last record`() throws {
        var treeIndex = TreeIndex()
        treeIndex.apply(Self.record(.created, "a", Self.state(.directory, inode: 1)), at: 1)
        treeIndex.apply(Self.record(.created, "a/f", Self.state(.file, inode: 2)), at: 2)
        treeIndex.apply(Self.record(.moved, "b", from: "a", Self.state(.directory, inode: 1)), at: 3)
        #expect(try treeIndex.generation(of: Self.location("b")) == 3)
        #expect(try treeIndex.generation(of: Self.location("b/f")) == 2)
        #expect(try treeIndex.generation(of: Self.location("a/f")) == nil)
        treeIndex.apply(Self.record(.touched, "b/f", Self.state(.file, inode: 2)), at: 4)
        #expect(try treeIndex.generation(of: Self.location("b/f")) == 4)
        // The record of a repair has no state of the item.
        treeIndex.apply(Self.record(.moved, "g", from: "b/f"), at: 5)
        #expect(try treeIndex.generation(of: Self.location("g")) == 5)
        treeIndex.apply(Self.record(.removed, "g"), at: 6)
        #expect(try treeIndex.generation(of: Self.location("g")) == nil)
    }

    @Test func `a tree index lists the items below a directory deepest first`() throws {
        let below = try sample().below(Self.location("a")).map { String(decoding: $0.bytes, as: UTF8.self) }
        #expect(below == ["a/f", "a/b/g", "a/b"])
    }

    @Test func `a tree index returns the last place of an inode that has several names`() throws {
        var treeIndex = TreeIndex()
        treeIndex.apply(Self.record(.created, "f", Self.state(.file, inode: 1)))
        treeIndex.apply(Self.record(.created, "g", Self.state(.file, inode: 1)))
        #expect(try treeIndex.location(ofInode: 1) == Self.location("g"))
        treeIndex.apply(Self.record(.removed, "f"))
        #expect(try treeIndex.location(ofInode: 1) == Self.location("g"))
        treeIndex.apply(Self.record(.removed, "g"))
        #expect(treeIndex.location(ofInode: 1) == nil)
    }

    @Test func `a tree index ignores terms, and paths that name no item`() {
        var treeIndex = sample()
        treeIndex.apply(Self.record(.term, ""))
        treeIndex.apply(Self.record(.created, "../out", Self.state(.file, inode: 9)))
        treeIndex.apply(Self.record(.moved, "q", from: "/etc", Self.state(.file, inode: 9)))
        #expect(treeIndex == sample())
    }

    @Test func `a tree index of many items, with names of every length, has each at its place after moves`() throws {
        var treeIndex = TreeIndex()
        var expected: [ItemLocation: UInt64] = [:]
        let name = { (number: Int) in
            String(repeating: "n", count: number % (number % 9 == 0 ? 240 : 20)) + String(number)
        }
        for number in 0..<5_000 {
            let location = try Self.location("d\(number % 30)/\(name(number))")
            treeIndex.set(.init(state: Self.state(.file, inode: UInt64(number)), generation: 1), at: location)
            expected[location] = UInt64(number)
        }
        for round in 0..<3 {
            for number in 0..<30 {
                let (from, to) = (try Self.location("d\(number)"), try Self.location("e\(round)/d\(number)"))
                _ = treeIndex.moveTrees([(from, to)])
                _ = treeIndex.moveTrees([(to, from)])
            }
            // Their places are used again by other names.
            for (location, inode) in expected where inode % 3 == UInt64(round) {
                treeIndex.remove(location)
                expected[location] = nil
                let other = try Self.location("d\(inode % 30)/\(round)-\(name(Int(inode) * 7))")
                treeIndex.set(.init(state: Self.state(.file, inode: inode), generation: 2), at: other)
                expected[other] = inode
            }
        }
        #expect(treeIndex.count == expected.count)
        #expect(Dictionary(uniqueKeysWithValues: treeIndex.map { ($0.location, $0.item.state.inode) }) == expected)
        #expect(expected.allSatisfy { treeIndex.location(ofInode: $0.value) == $0.key })
        for number in 0..<30 { treeIndex.removeTree(at: try Self.location("d\(number)")) }
        #expect(treeIndex.count == 0 && treeIndex.entryCount(of: nil) == 0)
        #expect(expected.allSatisfy { treeIndex.location(ofInode: $0.value) == nil })
    }

    @Test
    func `a directory that is moved onto another keeps what the other has besides, and one into itself stays apart`()
        throws
    {
        var treeIndex = sample()
        treeIndex.apply(Self.record(.created, "z", Self.state(.directory, inode: 8)))
        treeIndex.apply(Self.record(.created, "z/b", Self.state(.directory, inode: 9)))
        treeIndex.apply(Self.record(.created, "z/b/h", Self.state(.file, inode: 10)))
        treeIndex.apply(Self.record(.moved, "z", from: "a", Self.state(.directory, inode: 1)))
        #expect(Self.paths(treeIndex) == ["ab", "z", "z/b", "z/b/g", "z/b/h", "z/f"])
        #expect(treeIndex.location(ofInode: 8) == nil && treeIndex.location(ofInode: 9) == nil)
        #expect(try treeIndex.location(ofInode: 3) == Self.location("z/b"))
        // Events that come out of order may say so.
        treeIndex.apply(Self.record(.moved, "z/b/y", from: "z", Self.state(.directory, inode: 1)))
        #expect(Self.paths(treeIndex) == ["ab", "z/b/y", "z/b/y/b", "z/b/y/b/g", "z/b/y/b/h", "z/b/y/f"])
        #expect(try treeIndex.entries(of: nil) == [Self.location("z"), Self.location("ab")])
    }

    @Test func `items that a move brings too deep for a path are left out, and are back when they can be named`() throws
    {
        var treeIndex = sample()
        let deep = Array(repeating: String(repeating: "d", count: 250), count: 16).joined(separator: "/")
        treeIndex.apply(Self.record(.created, deep, Self.state(.directory, inode: 20)))
        treeIndex.apply(Self.record(.moved, deep + "/" + String(repeating: "e", count: 78), from: "a"))
        #expect(treeIndex.map(\.location.bytes.count).max() == 4_094)
        #expect(treeIndex.location(ofInode: 4) == nil)
        #expect(try treeIndex.hasItems(below: Self.location(deep)))
        treeIndex.apply(Self.record(.moved, "a", from: deep + "/" + String(repeating: "e", count: 78)))
        #expect(try treeIndex.location(ofInode: 4) == Self.location("a/b/g"))
    }
}
