import Testing

@testable import GroupCommands
@testable import GroupContainer

@Suite struct `The history of an item` {
    /// Returns the numbers of the changes of an item, in a container with these changes.
    private func history(
        of item: ItemPath, isThere: Bool, isComplete: Bool = true, _ changes: [Change]
    ) -> [Int] {
        let moves = changes.filter { [.moved, .exchanged].contains($0.kind.word) }
        let names = ItemHistory.names(of: item, moved: moves)
        var history = ItemHistory(of: item, isThere: isThere)
        for (number, change) in changes.enumerated().reversed() where ItemHistory.concerns(names, change) {
            history.note(change, number: number)
        }
        return history.numbers(isComplete: isComplete)
    }

    @Test func `the history of an item has its changes only`() {
        let changes = [
            sample(.created, "a"), sample(.created, "ab"), sample(.modified, "a"), sample(.touched, "a/b"),
            sample(.touched, "a"), sample(.bookmark, "a"),
        ]
        #expect(history(of: "a", isThere: true, changes) == [0, 2, 4])
    }

    @Test func `the history of an item goes back through its names, and through those of its directories`() {
        let changes = [
            sample(.created, "d"), sample(.created, "d/a"), sample(.moved(from: "d"), "e"), sample(.created, "d/a"),
            sample(.moved(from: "e/a"), "b"), sample(.created, "c"), sample(.exchanged(with: "b"), "c"),
            sample(.modified, "b"), sample(.modified, "c"),
        ]
        #expect(history(of: "c", isThere: true, changes) == [1, 2, 4, 6, 8])
        #expect(history(of: "b", isThere: true, changes) == [5, 6, 7])
    }

    @Test func `the history of a removed item ends with its end: its removal, that of a directory above, or a move`() {
        let changes = [
            sample(.created, "d"), sample(.created, "d/a"), sample(.created, "d/b"), sample(.removed, "d/b"),
            sample(.created, "d/c"), sample(.moved(from: "d/c"), "c"), sample(.removed, "d"), sample(.created, "d"),
            sample(.removed, "d"),
        ]
        #expect(history(of: "d/a", isThere: false, changes) == [1, 6])
        #expect(history(of: "d/b", isThere: false, changes) == [2, 3])
        #expect(history(of: "d/c", isThere: false, changes) == [4, 5])
        #expect(history(of: "d/never", isThere: false, changes) == [])
        // Without its beginning, the journal does not show what was in a directory.
        #expect(history(of: "d/never", isThere: false, isComplete: false, Array(changes[6..<7])) == [0])
    }

    @Test func `an item that was made again has the history of both`() {
        let changes = [
            sample(.created, "d"), sample(.created, "d/a"), sample(.removed, "d"), sample(.created, "d"),
            sample(.created, "d/a"), sample(.moved(from: "x"), "d/x"), sample(.removed, "d/a"), sample(.created, "d/a"),
        ]
        #expect(history(of: "d/a", isThere: true, changes) == [1, 2, 4, 6, 7])
    }

    @Test func `an item that is saved by renaming another file has the history of both files`() {
        let changes = [
            sample(.created, "d"), sample(.created, "d/a"), sample(.moved(from: "d"), "e"), sample(.created, "e/tmp"),
            sample(.modified, "e/tmp"), sample(.moved(from: "e/tmp"), "e/a"), sample(.modified, "e/a"),
        ]
        #expect(history(of: "e/a", isThere: true, changes) == [1, 2, 3, 4, 5, 6])
        // What had ended before is another item.
        let ended = [
            sample(.created, "a"), sample(.removed, "a"), sample(.created, "b"), sample(.moved(from: "b"), "a"),
        ]
        #expect(history(of: "a", isThere: true, ended) == [2, 3])
    }

    /// A container that changes at random, in which each item has an identity.
    private struct Model {
        var random: UInt64
        var items: [ItemPath: Int] = [:]
        var directories: Set<ItemPath> = []
        var changes: [Change] = []
        /// The changes of each item by its identity.
        var own: [Int: [Int]] = [:]
        /// The items that a move or an exchange names, by the number of that change.
        var moved: [Int: [Int]] = [:]

        mutating func number(below limit: Int) -> Int {
            random = random &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int(random >> 33) % limit
        }

        mutating func path() -> ItemPath {
            let parents = [nil] + directories.sorted().map { Optional($0) }
            let name = Array("abc".utf8)[number(below: 3)]
            guard let parent = parents[number(below: parents.count)] else { return ItemPath(bytes: [name]) }
            return ItemPath(bytes: parent.bytes + [UInt8(ascii: "/"), name])
        }

        mutating func record(_ change: Change, of identities: [Int]) {
            for identity in identities { own[identity, default: []].append(changes.count) }
            changes.append(change)
        }

        func below(_ path: ItemPath) -> [ItemPath] { items.keys.filter { $0 == path || $0.isBelow(path) } }

        mutating func rename(_ from: ItemPath, _ to: ItemPath) {
            for path in below(from) {
                let now = ItemPath(bytes: to.bytes + path.bytes[from.bytes.count...])
                items[now] = items.removeValue(forKey: path)
                if directories.remove(path) != nil { directories.insert(now) }
            }
        }

        mutating func step() {
            let (path, other) = (path(), path())
            guard let identity = items[path] else {
                items[path] = own.count
                if path.bytes.count < 6 && number(below: 2) == 0 { directories.insert(path) }
                return record(sample(.created, path), of: [own.count])
            }
            switch number(below: 5) {
            case 0, 1: record(sample(number(below: 2) == 0 ? .modified : .touched, path), of: [identity])
            case 2:
                record(sample(.removed, path), of: below(path).compactMap { items[$0] })
                for gone in below(path) {
                    items[gone] = nil
                    directories.remove(gone)
                }
            default:
                if path == other || path.isBelow(other) || other.isBelow(path) { return }
                let isFree = items[other] == nil
                let moved = below(path) + (isFree ? [] : below(other))
                self.moved[changes.count] = [identity, items[other]].compactMap { $0 }
                let kind: Change.Kind = isFree ? .moved(from: path) : .exchanged(with: path)
                record(sample(kind, other), of: moved.compactMap { items[$0] })
                if isFree { return rename(path, other) }
                rename(path, "aside")
                rename(other, path)
                rename("aside", other)
            }
        }
    }

    @Test(arguments: 1...200)
    func `the last change of each item in a directory is the last of its history`(seed: UInt64) {
        var model = Model(random: seed)
        for _ in 0..<80 { model.step() }
        let moves = model.changes.filter { [.moved, .exchanged].contains($0.kind.word) }
        for directory in [nil] + model.directories.map({ Optional($0) }) {
            var last = LastChanges(of: directory.map { ItemHistory.names(of: $0, moved: moves) })
            for (number, change) in model.changes.enumerated() {
                var change = change
                change.generation = Generation(rawValue: UInt64(number))
                last.note(change)
            }
            for (path, identity) in model.items {
                let parent = path.bytes.lastIndex(of: UInt8(ascii: "/")).map {
                    ItemPath(bytes: Array(path.bytes[..<$0]))
                }
                if parent != directory { continue }
                // A move of a directory above is no change of the item.
                let expected = model.own[identity]?.last { number in
                    let change = model.changes[number]
                    guard let other = change.kind.otherPath else { return true }
                    return model.moved[number]?.contains(identity) ?? (change.path == path || other == path)
                }
                #expect(
                    last.changes[path]?.generation.rawValue == expected.map { UInt64($0) }, "\(path) of seed \(seed)")
            }
        }
    }

    @Test(arguments: 1...200)
    func `the history of an item ends with all of its changes, whatever was done`(seed: UInt64) {
        var model = Model(random: seed)
        for _ in 0..<80 { model.step() }
        for (path, identity) in model.items {
            let expected = model.own[identity] ?? []
            let found = history(of: path, isThere: true, model.changes)
            #expect(found.suffix(expected.count) == expected[...], "\(path) of seed \(seed)")
        }
    }
}
