import TestSupport

@testable import GroupContainer
@testable import GroupLog

/// A tree that changes at random, as a file system allows, with each change as a record contains it.
struct ModelTree {
    private(set) var items: [String: ItemState] = [:]
    private var newest: UInt64 = 0
    private var random: SeededGenerator
    private let names: [String]
    private let moves: Bool

    init(seed: UInt64, names: [String] = ["a", "b", "c.txt"], moves: Bool = true) {
        random = SeededGenerator(seed: seed)
        self.names = names
        self.moves = moves
    }

    mutating func number(below limit: Int) -> Int { Int.random(in: 0..<limit, using: &random) }

    /// Makes the next change; returns nil if the random choice is impossible.
    mutating func step() -> ChangePart? {
        switch number(below: moves ? 12 : 8) {
        case 0...3: create(place(), number(below: 2) == 0 ? .directory : .file)
        case 4, 5: item().flatMap { modify($0) }
        case 6, 7: item().map { remove($0) }
        case 8: exchange()
        default: move()
        }
    }

    private mutating func item() -> String? { items.keys.sorted().randomElement(using: &random) }

    /// Returns a place in a directory that exists.
    private mutating func place() -> String {
        let directories = items.keys.filter { items[$0]?.type == .directory && $0.count < 8 }.sorted() + [""]
        let directory = directories.randomElement(using: &random) ?? ""
        let name = names.randomElement(using: &random) ?? "a"
        return directory.isEmpty ? name : "\(directory)/\(name)"
    }

    private func isIn(_ path: String, _ directory: String) -> Bool { path.hasPrefix(directory + "/") }

    private mutating func create(_ path: String, _ type: ItemType) -> ChangePart? {
        if items[path] != nil { return nil }
        newest += 1
        items[path] = Self.state(type, newest)
        return part(.created, path)
    }

    private mutating func modify(_ path: String) -> ChangePart? {
        newest += 1
        items[path]?.size = newest
        return part(items[path]?.type == .file && newest.isMultiple(of: 2) ? .modified : .touched, path)
    }

    private mutating func remove(_ path: String) -> ChangePart {
        let wasDirectory = items[path]?.type == .directory
        items = items.filter { $0.key != path && !isIn($0.key, path) }
        return ChangePart(kind: .removed, path: Array(path.utf8), state: nil, wasDirectory: wasDirectory)
    }

    private mutating func move() -> ChangePart? {
        guard let from = item() else { return nil }
        let path = place()
        if path == from || isIn(path, from) { return nil }
        if let there = items[path] {
            let isEmpty = !items.keys.contains { isIn($0, path) }
            if there.type != items[from]?.type || !isEmpty { return nil }
        }
        items[path] = nil
        items = Self.renamed(items, [(from, path)])
        return part(.moved, path, from: from)
    }

    private mutating func exchange() -> ChangePart? {
        guard let one = item(), let other = item(), one != other, !isIn(one, other), !isIn(other, one) else {
            return nil
        }
        items = Self.renamed(items, [(one, other), (other, one)])
        return part(.exchanged, one, from: other)
    }

    private func part(_ kind: ChangeRecord.Kind, _ path: String, from: String? = nil) -> ChangePart {
        ChangePart(
            kind: kind, path: Array(path.utf8), from: from.map { Array($0.utf8) }, state: items[path],
            otherState: kind == .exchanged ? from.flatMap { items[$0] } : nil)
    }

    static func state(_ type: ItemType, _ number: UInt64) -> ItemState {
        ItemState(
            type: type, inode: number, size: 0, modified: 0, changed: 0, mode: 0, owner: 0, group: 0, contentHash: nil)
    }

    /// Renames items, each with everything below it, all at once.
    static func renamed<Value>(_ items: [String: Value], _ moves: [(from: String, to: String)]) -> [String: Value] {
        var renamed: [String: Value] = [:]
        for (path, value) in items {
            let move = moves.first { path == $0.from || path.hasPrefix($0.from + "/") }
            renamed[move.map { $0.to + path.dropFirst($0.from.count) } ?? path] = value
        }
        return renamed
    }
}

/// The tree as it is known from delivered changes alone. An item is known by its type and its size, which is another
/// one after each change.
struct ModelCopy: Equatable {
    struct Entry: Equatable {
        var type: ItemType?
        var size: UInt64?
    }
    private(set) var items: [String: Entry] = [:]

    init() {}

    init(of tree: ModelTree, where isIn: (String) -> Bool = { _ in true }) {
        items = tree.items.filter { isIn($0.key) }.mapValues { Entry(type: $0.type, size: $0.size) }
    }

    mutating func apply(_ change: Change) {
        let path = change.path.description
        let entry = Entry(type: change.type, size: change.size)
        switch change.kind {
        case .created, .modified, .touched, .present: items[path] = entry
        case .removed: take(path)
        case .moved(let from):
            take(path)
            // A directory outside a filter may be reported because of what is in it.
            let wasIn = items[from.description] != nil
            items = ModelTree.renamed(items, [(from.description, path)])
            if wasIn { items[path] = entry }
        case .exchanged(let other):
            items = ModelTree.renamed(items, [(other.description, path), (path, other.description)])
        case .rescan, .degraded, .bookmark: break
        }
    }

    private mutating func take(_ path: String) {
        items = items.filter { $0.key != path && !$0.key.hasPrefix(path + "/") }
    }
}

extension Change {
    /// Returns the changes of one record with these parts.
    static func changes(
        _ parts: [ChangePart], at sequence: UInt64, by filter: ChangeFilter = .everything, before: TreeIndex? = nil
    ) throws -> [Change]? {
        let record =
            parts.count == 1
            ? ChangeRecord(
                parts[0].kind, path: parts[0].path, from: parts[0].from, state: parts[0].state, isCoordinated: true,
                processIdentifier: 1, purpose: [], time: 0)
            : ChangeRecord(
                transaction: parts, operation: ChangeRecord.noOperation, processIdentifier: 1, purpose: [], time: 0)
        var whole = record
        whole.otherState = parts.count == 1 ? parts[0].otherState : nil
        whole.wasDirectory = parts.count == 1 && parts[0].wasDirectory
        let position = LogPosition(segment: 1, offset: Int(sequence), sequence: sequence, checksum: 0)
        return try Change.changes(
            in: Journal.Entry(record: whole, isControl: false, position: position), cursor: .sample(sequence),
            by: filter, before: { before })
    }

    /// A short text such as `moved b from a`.
    var summary: String { "\(kind.name) \(path)" + (kind.otherPath.map { " from \($0)" } ?? "") }
}

extension Cursor {
    static func sample(_ sequence: UInt64) -> Cursor {
        Cursor(container: 1, segment: 1, offset: UInt32(sequence), sequence: sequence, checksum: 0)
    }
}
