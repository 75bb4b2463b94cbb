package import GroupContainer

/// Finds the changes of an item among those of a container, which are noted from the newest back to the oldest: also
/// those of the names that the item had before a move, and those of directories above it that moved or removed the
/// item with them. An item that was removed and made again, or was replaced by one that was moved to its path, has the
/// changes of both: many programs save by writing another file and renaming it.
package struct ItemHistory {
    private var trails: [Trail]

    /// Begins the history of the item that has this name now, or had it last.
    package init(of item: ItemPath, isThere: Bool) { trails = [Trail(name: item, isThere: isThere)] }

    /// Notes the change before those that were noted.
    package mutating func note(_ change: Change, number: Int) {
        for index in trails.indices {
            let (name, isOwnMove) = (trails[index].name, trails[index].isMovedItself(by: change))
            trails[index].note(change, number: number)
            if isOwnMove { trails.append(Trail(name: name, isThere: nil, isCandidate: true)) }
        }
        trails.removeAll(where: \.isOver)
    }

    /// Returns the numbers of the item's changes, the oldest first. `isComplete`: no older changes were dropped.
    package func numbers(isComplete: Bool) -> [Int] {
        Set(trails.flatMap { $0.numbers(isComplete: isComplete) }).sorted()
    }

    /// Returns all names that the item may have had, given the moves and exchanges of the container, the oldest first.
    package static func names(of item: ItemPath, moved moves: [Change]) -> Set<ItemPath> {
        var names: Set = [item]
        for change in moves.reversed() {
            guard let other = change.kind.otherPath else { continue }
            for name in names {
                if let before = name.replacing(prefix: change.path, by: other) { names.insert(before) }
                if change.kind.word == .exchanged, let before = name.replacing(prefix: other, by: change.path) {
                    names.insert(before)
                }
            }
        }
        return names
    }

    /// Returns whether a change is one of a name, or of a directory above it.
    package static func concerns(_ names: Set<ItemPath>, _ change: Change) -> Bool {
        names.contains { name in
            name.isAt(orBelow: change.path) || (change.kind.otherPath.map { name.isAt(orBelow: $0) } ?? false)
        }
    }
}

/// The changes of one item, back through its names.
private struct Trail {
    private(set) var name: ItemPath
    /// Whether the item is there before the changes that were noted; nil if that is not known.
    private var isThere: Bool?
    /// Whether there may have been no such item: one that the move of another to its path has replaced.
    private var isCandidate: Bool
    /// Whether there was no such item.
    private(set) var isOver = false
    /// The numbers of the item's changes.
    private var found: [Int] = []
    /// Changes of directories above that concern the item if an older change shows that it was there.
    private var unconfirmed: [Int] = []

    init(name: ItemPath, isThere: Bool?, isCandidate: Bool = false) {
        self.name = name
        self.isThere = isThere
        self.isCandidate = isCandidate
    }

    func isMovedItself(by change: Change) -> Bool {
        if case .moved = change.kind { return change.path == name }
        return false
    }

    /// Notes the change before those that were noted.
    mutating func note(_ change: Change, number: Int) {
        let isOwn = change.path == name
        switch change.kind {
        case .moved(let from):
            if let before = name.replacing(prefix: change.path, by: from) {
                arrive(from: before, number, isOwn: isOwn)
            } else if name.isAt(orBelow: from) {
                leave(number, isOwn: from == name)
            }
        case .exchanged(let other):
            if let before = name.replacing(prefix: change.path, by: other)
                ?? name.replacing(prefix: other, by: change.path)
            {
                arrive(from: before, number, isOwn: isOwn || other == name)
            }
        case .removed:
            if name.isAt(orBelow: change.path) { leave(number, isOwn: isOwn) }
        case .created:
            if isOwn { confirm(number) }
            if name.isAt(orBelow: change.path) { (isThere, unconfirmed, isOver) = (false, [], isCandidate) }
        case .modified, .touched:
            if isOwn {
                confirm(number)
                isThere = true
            }
        case .present, .bookmark, .rescan, .degraded: break
        }
    }

    func numbers(isComplete: Bool) -> [Int] { isComplete || isCandidate ? found : found + unconfirmed }

    private mutating func confirm(_ number: Int) {
        found += unconfirmed + [number]
        (unconfirmed, isCandidate) = ([], false)
    }

    private mutating func arrive(from before: ItemPath, _ number: Int, isOwn: Bool) {
        // Nothing of this name was in the directory when it was moved.
        if !isOwn && isThere == false { return }
        if isOwn || isThere == true { confirm(number) } else { unconfirmed.append(number) }
        if isOwn { isThere = true }
        name = before
    }

    private mutating func leave(_ number: Int, isOwn: Bool) {
        if isCandidate {
            // It had ended before the other item came.
            isOver = true
        } else if isOwn {
            // What a directory above did later was after the item's end.
            found.append(number)
            (isThere, unconfirmed) = (true, [])
        } else if isThere != true {
            (isThere, unconfirmed) = (nil, [number])
        }
    }
}

extension Change {
    /// Returns where a move has put an item; nil for a change that has not moved it.
    package func destination(of item: ItemPath) -> ItemPath? {
        if case .moved(let from) = kind { return item.replacing(prefix: from, by: path) }
        return nil
    }
}

extension ItemPath {
    func isAt(orBelow directory: ItemPath) -> Bool { self == directory || isBelow(directory) }

    /// Returns the path with a directory above it, or the whole path, replaced; nil where it is not below.
    func replacing(prefix: ItemPath, by other: ItemPath) -> ItemPath? {
        isAt(orBelow: prefix) ? ItemPath(bytes: other.bytes + bytes[prefix.bytes.count...]) : nil
    }
}

extension Container {
    /// A change of an item with the place behind it.
    package typealias RecordedChange = (change: Change, cursor: Cursor)

    /// Returns the changes of an item that the journal still has, the oldest first, and whether the journal has all
    /// changes that there were. Reads the journal twice, and keeps only what may concern the item.
    package func history(of item: ItemPath) throws -> (changes: [RecordedChange], isComplete: Bool) {
        let isThere = try self.item(at: item) != nil
        let (moves, end) = try moves()
        let names = ItemHistory.names(of: item, moved: moves)
        var (candidates, isComplete): ([RecordedChange], Bool?) = ([], nil)
        var follower = try recordedChanges(since: .start)
        while let change = try follower.next(timeout: .zero) {
            // The names after a later move are not known.
            if change.sequence > end { break }
            if change.kind.isMarker { continue }
            isComplete = isComplete ?? (change.sequence.rawValue == 1)
            if ItemHistory.concerns(names, change) { candidates.append((change, follower.cursor)) }
        }
        var history = ItemHistory(of: item, isThere: isThere)
        for (number, candidate) in candidates.enumerated().reversed() { history.note(candidate.change, number: number) }
        let changes = history.numbers(isComplete: isComplete ?? true).map { candidates[$0] }
        return (changes, isComplete ?? true)
    }

    /// Returns the moves and exchanges that the journal has, the oldest first, and the last change that was looked at.
    func moves() throws -> (changes: [Change], end: SequenceNumber) {
        var filter = ChangeFilter()
        filter.kinds = [.moved, .exchanged]
        var changes: [Change] = []
        var follower = try recordedChanges(since: .start, matching: filter)
        while let change = try follower.next(timeout: .zero) { changes.append(change) }
        return (changes, follower.readPosition.sequence)
    }
}
