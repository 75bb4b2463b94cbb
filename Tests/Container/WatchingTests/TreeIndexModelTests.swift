import TestSupport
import Testing

@testable import GroupContainer

@Suite(.ownThreads) struct `Tree index beside a model` {
    /// The tree as a list of names, changed as a file system would change it.
    private struct Naive {
        var items: [String: ItemState] = [:]
        /// The number of each item's own last record.
        var generations: [String: UInt64] = [:]
        /// The number of the next record.
        var sequence: UInt64 = 1
        /// Inodes that once had two names at a time.
        var linked: Set<UInt64> = []
        private var newest: UInt64 = 0
        private static let names = ["a", "ab", "a-", "b"]

        private func isIn(_ path: String, _ directory: String) -> Bool { path.hasPrefix(directory + "/") }

        /// Returns a place in a directory that exists.
        private func place(_ random: inout SeededGenerator) -> String {
            let directories = items.keys.filter { items[$0]?.type == .directory && $0.count < 12 }.sorted() + [""]
            let directory = directories.randomElement(using: &random) ?? ""
            let name = Self.names.randomElement(using: &random) ?? "a"
            return directory.isEmpty ? name : "\(directory)/\(name)"
        }

        private func isEmptyDirectory(_ path: String) -> Bool { !items.keys.contains { isIn($0, path) } }

        /// Carries out one change that a file system would allow, and returns its record; nil if it would not.
        mutating func step(_ random: inout SeededGenerator) -> ChangeRecord? {
            let chosen = items.keys.sorted().randomElement(using: &random)
            switch Int.random(in: 0..<12, using: &random) {
            case 0...3: return create(place(&random), Bool.random(using: &random) ? .directory : .file)
            case 4: return chosen.flatMap { link($0, place(&random)) }
            case 5: return chosen.flatMap { modify($0, size: UInt64.random(in: 0..<100, using: &random)) }
            case 6: return chosen.flatMap { replace($0) }
            case 7: return chosen.map { remove($0) }
            case 8: return chosen.flatMap { exchange($0, items.keys.sorted().randomElement(using: &random) ?? $0) }
            default: return chosen.flatMap { move($0, place(&random)) }
            }
        }

        private mutating func create(_ path: String, _ type: ItemType) -> ChangeRecord? {
            if items[path] != nil { return nil }
            newest += 1
            return set(.created, path, `Tree index`.state(type, inode: newest))
        }

        private mutating func link(_ path: String, _ other: String) -> ChangeRecord? {
            guard let state = items[path], state.type == .file, items[other] == nil else { return nil }
            linked.insert(state.inode)
            return set(.created, other, state)
        }

        private mutating func modify(_ path: String, size: UInt64) -> ChangeRecord? {
            guard var state = items[path], state.type == .file else { return nil }
            state.size = size
            return set(size.isMultiple(of: 2) ? .modified : .touched, path, state)
        }

        /// Renames a temporary file over the file.
        private mutating func replace(_ path: String) -> ChangeRecord? {
            guard items[path]?.type == .file else { return nil }
            newest += 1
            return set(.modified, path, `Tree index`.state(.file, inode: newest))
        }

        private mutating func remove(_ path: String) -> ChangeRecord {
            items = items.filter { $0.key != path && !isIn($0.key, path) }
            generations = generations.filter { items[$0.key] != nil }
            return `Tree index`.record(.removed, path)
        }

        private mutating func move(_ from: String, _ path: String) -> ChangeRecord? {
            guard let state = items[from], path != from, !isIn(path, from) else { return nil }
            if let there = items[path],
                there.type != state.type || !isEmptyDirectory(path) || there.inode == state.inode
            {
                return nil
            }
            var moved: [String: ItemState] = [:]
            var kept: [String: UInt64] = [:]
            for (old, state) in items where old != path {
                let isTaken = old == from || isIn(old, from)
                let place = isTaken ? path + old.dropFirst(from.count) : old
                (moved[place], kept[place]) = (state, generations[old])
            }
            (items, generations) = (moved, kept)
            generations[path] = sequence
            return `Tree index`.record(.moved, path, from: from, state)
        }

        private mutating func exchange(_ path: String, _ other: String) -> ChangeRecord? {
            guard let here = items[path], let there = items[other], path != other, here.inode != there.inode,
                !isIn(path, other), !isIn(other, path)
            else { return nil }
            func new(_ old: String) -> String {
                for (from, to) in [(path, other), (other, path)] where old == from || old.hasPrefix(from + "/") {
                    return to + old.dropFirst(from.count)
                }
                return old
            }
            items = Dictionary(uniqueKeysWithValues: items.map { (new($0.key), $0.value) })
            generations = Dictionary(uniqueKeysWithValues: generations.map { (new($0.key), $0.value) })
            (generations[path], generations[other]) = (sequence, sequence)
            var record = `Tree index`.record(.exchanged, path, from: other, there)
            record.otherState = here
            return record
        }

        private mutating func set(_ kind: ChangeRecord.Kind, _ path: String, _ state: ItemState) -> ChangeRecord {
            (items[path], generations[path]) = (state, sequence)
            return `Tree index`.record(kind, path, state)
        }
    }

    private static func text(_ location: ItemLocation) -> String { String(decoding: location.bytes, as: UTF8.self) }

    @Test(arguments: UInt64(1)...5)
    func `a tree index is the same as its model after each of many random changes`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        var naive = Naive()
        var treeIndex = TreeIndex()
        // The overlay has the same tree. The checkpoint below it is made anew every so often.
        var standing = TreeOverlay(
            on: CheckpointInMemory(try Checkpoint(Checkpoint.encode(treeIndex, `Checkpoint coding`.header))))
        var count = 0
        while count < 2_000 {
            guard let record = naive.step(&random) else { continue }
            count += 1
            if count % 100 == 1 {
                let checkpoint = Checkpoint.encode(treeIndex, `Checkpoint coding`.header)
                try #require(try Checkpoint(checkpoint).treeIndex().items == treeIndex.items)
                standing = TreeOverlay(on: CheckpointInMemory(try Checkpoint(checkpoint)))
            }
            treeIndex.apply(record, at: naive.sequence)
            standing.apply(record, at: naive.sequence)
            naive.sequence += 1
            let items = Dictionary(
                uniqueKeysWithValues: treeIndex.items.map { (String(decoding: $0.bytes, as: UTF8.self), $1.state) })
            try #require(items == naive.items, "seed \(seed), change \(count): \(record)")
            try #require(treeIndex.count == items.count, "seed \(seed), change \(count): \(record)")
            let order = treeIndex.map(\.location.bytes)
            try #require(order == order.sorted { $0.lexicographicallyPrecedes($1) }, "seed \(seed), change \(count)")
            for name in `Checkpoint coding`.names where count % 10 == 0 {
                let location = try `Tree index`.location(name)
                try #require(
                    standing.item(at: location) == treeIndex.item(at: location), "seed \(seed), change \(count)")
                try #require(standing.below(location) == treeIndex.below(location), "seed \(seed), change \(count)")
                let below = naive.items.keys.filter { $0.hasPrefix(name + "/") }
                try #require(
                    Set(treeIndex.below(location).map(Self.text)) == Set(below), "seed \(seed), change \(count)")
                try #require(treeIndex.hasItems(below: location) == !below.isEmpty, "seed \(seed), change \(count)")
                let entries = Set(below.map { name + "/" + $0.dropFirst(name.count + 1).prefix { $0 != "/" } })
                try #require(
                    Set(treeIndex.entries(of: location).map(Self.text)) == entries, "seed \(seed), change \(count)")
                try #require(treeIndex.entryCount(of: location) == entries.count, "seed \(seed), change \(count)")
            }
            for (path, state) in naive.items {
                let location = try `Tree index`.location(path)
                if count % 10 == 0 { try #require(standing.item(at: location) == treeIndex.item(at: location)) }
                let generation = try treeIndex.generation(of: `Tree index`.location(path))
                try #require(generation == naive.generations[path], "seed \(seed), change \(count): \(path)")
                let place = treeIndex.location(ofInode: state.inode)
                if let place {
                    try #require(treeIndex[place]?.inode == state.inode, "seed \(seed), change \(count): \(record)")
                }
                let names = naive.items.filter { $0.value.inode == state.inode }.keys
                try #require(
                    Set(treeIndex.names(ofInode: state.inode).map(Self.text)) == (names.count > 1 ? Set(names) : []),
                    "seed \(seed), change \(count)")
                if naive.linked.contains(state.inode) { continue }
                try #require(try place == `Tree index`.location(path), "seed \(seed), change \(count)")
            }
        }
    }
}
