import TestSupport
import Testing

@testable import GroupContainer

@Suite struct `A picture of the tree, beside a naive one` {
    /// The tree as a list of names, changed as a file system would change it.
    private struct Naive {
        var items: [String: ItemState] = [:]
        /// Each time that its own record was written.
        var generations: [String: UInt64] = [:]
        /// Of the next record.
        var sequence: UInt64 = 1
        /// Those that once had two names at a time.
        var linked: Set<UInt64> = []
        private var newest: UInt64 = 0
        private static let names = ["a", "ab", "a-", "b"]

        private func isIn(_ path: String, _ directory: String) -> Bool { path.hasPrefix(directory + "/") }

        /// A place in a directory that exists.
        private func place(_ random: inout SeededGenerator) -> String {
            let directories = items.keys.filter { items[$0]?.type == .directory && $0.count < 12 }.sorted() + [""]
            let directory = directories.randomElement(using: &random) ?? ""
            let name = Self.names.randomElement(using: &random) ?? "a"
            return directory.isEmpty ? name : "\(directory)/\(name)"
        }

        private func isEmptyDirectory(_ path: String) -> Bool { !items.keys.contains { isIn($0, path) } }

        /// Carries out one change that a file system would allow, and answers its record; nil if it would not.
        mutating func step(_ random: inout SeededGenerator) -> ChangeRecord? {
            let chosen = items.keys.sorted().randomElement(using: &random)
            switch Int.random(in: 0..<12, using: &random) {
            case 0...3: return create(place(&random), Bool.random(using: &random) ? .directory : .file)
            case 4: return chosen.flatMap { link($0, place(&random)) }
            case 5: return chosen.flatMap { modify($0, size: UInt64.random(in: 0..<100, using: &random)) }
            case 6: return chosen.flatMap { replace($0) }
            case 7: return chosen.map { remove($0) }
            default: return chosen.flatMap { move($0, place(&random)) }
            }
        }

        private mutating func create(_ path: String, _ type: ItemType) -> ChangeRecord? {
            if items[path] != nil { return nil }
            newest += 1
            return set(.created, path, `A picture of the tree`.state(type, inode: newest))
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

        /// A temporary file renamed over it.
        private mutating func replace(_ path: String) -> ChangeRecord? {
            guard items[path]?.type == .file else { return nil }
            newest += 1
            return set(.modified, path, `A picture of the tree`.state(.file, inode: newest))
        }

        private mutating func remove(_ path: String) -> ChangeRecord {
            items = items.filter { $0.key != path && !isIn($0.key, path) }
            generations = generations.filter { items[$0.key] != nil }
            return `A picture of the tree`.record(.removed, path)
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
            return `A picture of the tree`.record(.moved, path, from: from, state)
        }

        private mutating func set(_ kind: ChangeRecord.Kind, _ path: String, _ state: ItemState) -> ChangeRecord {
            (items[path], generations[path]) = (state, sequence)
            return `A picture of the tree`.record(kind, path, state)
        }
    }

    @Test(arguments: UInt64(1)...5)
    func `is the same after each of many random changes`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        var naive = Naive()
        var picture = TreePicture()
        // Another one that stands on a checkpoint which is made every so often.
        var standing = TreePicture()
        var count = 0
        while count < 2_000 {
            guard let record = naive.step(&random) else { continue }
            count += 1
            if count % 100 == 1 {
                let checkpoint = Checkpoint.encode(picture, `A checkpoint`.header)
                try #require(try Checkpoint(checkpoint).picture().items == picture.items)
                standing = TreePicture(on: CheckpointInMemory(try Checkpoint(checkpoint)))
            }
            picture.apply(record, at: naive.sequence)
            standing.apply(record, at: naive.sequence)
            naive.sequence += 1
            let items = Dictionary(
                uniqueKeysWithValues: picture.items.map { (String(decoding: $0.bytes, as: UTF8.self), $1.state) })
            try #require(items == naive.items, "seed \(seed), change \(count): \(record)")
            for name in `A checkpoint`.names where count % 10 == 0 {
                let location = try `A picture of the tree`.location(name)
                try #require(standing.item(at: location) == picture.item(at: location), "seed \(seed), change \(count)")
                try #require(standing.below(location) == picture.below(location), "seed \(seed), change \(count)")
            }
            for (path, state) in naive.items {
                let location = try `A picture of the tree`.location(path)
                if count % 10 == 0 { try #require(standing.item(at: location) == picture.item(at: location)) }
                let generation = try picture.generation(of: `A picture of the tree`.location(path))
                try #require(generation == naive.generations[path], "seed \(seed), change \(count): \(path)")
                let place = picture.place(ofInode: state.inode)
                if let place {
                    try #require(picture[place]?.inode == state.inode, "seed \(seed), change \(count): \(record)")
                }
                if naive.linked.contains(state.inode) { continue }
                try #require(try place == `A picture of the tree`.location(path), "seed \(seed), change \(count)")
            }
        }
    }
}
