// Imports GroupBytes only: no file, clock or process.

import GroupBytes

/// An entry of the cluster's log: the changes that a machine sends at once, under the name of an operation.
package struct ClusterEntry: Equatable, Sendable {
    package var operation: ClusterName
    /// Whether the cluster accepts all changes or none. Otherwise each change is judged alone, and one that conflicts
    /// keeps its content: see `ItemRules.swift`.
    package var isStrict: Bool
    package var changes: [ClusterChange]
    /// The author of the changes, for people: the purpose of a process and the host, as text.
    package var author: [UInt8]

    /// Returns the author of an entry for the container's records: `PURPOSE@HOST`, or `@HOST` for a change that names
    /// no process. Returns `cluster` if the author is not known, as for entries that an earlier run of the program has
    /// folded.
    package static func purpose(of author: [UInt8]?) -> String {
        guard let author, !author.isEmpty else { return "cluster" }
        return (author.contains(UInt8(ascii: "@")) ? "" : "@") + printable(author)
    }

    package init(
        _ operation: ClusterName, isStrict: Bool = false, _ changes: [ClusterChange] = [], author: [UInt8] = []
    ) {
        self.operation = operation
        self.isStrict = isStrict
        self.changes = changes
        self.author = author
    }
}

/// A change of an entry.
package enum ClusterChange: Equatable, Sendable {
    case item(ItemChange)
    case value(ValueChange)
    case message(channel: [UInt8], body: [UInt8])
}

/// The type, the mode and the content of an item. The bytes of a file are stored elsewhere, under their digest.
package struct ItemContent: Hashable, Sendable {
    package enum Kind: UInt8, Sendable { case file, directory, link }
    package var kind: Kind
    /// The permission bits, without setuid, setgid and the sticky bit.
    package var mode: UInt16
    /// The digest of a file's bytes; the target of a link; empty for a directory.
    package var digest: [UInt8]

    package init(_ kind: Kind, mode: UInt16 = 0o644, _ digest: [UInt8] = []) {
        self.kind = kind
        self.mode = mode
        self.digest = digest
    }

    /// Returns whether two items have the same bytes, or are both directories. The mode does not count.
    package func isSame(as other: ItemContent) -> Bool { kind == other.kind && digest == other.digest }
}

/// A directory on the ancestor path of an item.
package struct Ancestor: Hashable, Sendable {
    package var item: ItemName
    package var name: FileName

    package init(_ item: ItemName, _ name: FileName) { (self.item, self.name) = (item, name) }
}

/// A change of an item. The change names the item and its ancestor path: the directories above it, from the root on,
/// each with its name as an item.
package struct ItemChange: Equatable, Sendable {
    package enum Action: Equatable, Sendable {
        case create(ItemContent)
        case write(ItemContent, base: ClusterName)
        case move(base: ClusterName)
        case remove(base: ClusterName)
        /// Changes nothing. The item must be at its path with this version; with `.zero`, the path must be free.
        case check(base: ClusterName)
    }
    package var item: ItemName
    package var ancestors: [Ancestor]
    package var name: FileName
    package var action: Action

    package init(_ item: ItemName, in ancestors: [Ancestor] = [], _ name: FileName, _ action: Action) {
        self.item = item
        self.ancestors = ancestors
        self.name = name
        self.action = action
    }
}

/// A change of a value of a suite. The key contains the name of the suite.
package struct ValueChange: Equatable, Sendable {
    package enum Action: Equatable, Sendable {
        case set([UInt8])
        case setNumber(Int64)
        case add(Int64)
        case remove
    }
    package var key: [UInt8]
    package var action: Action
    /// The version that the value must have; `.zero` for a key without a value; nil for any.
    package var base: ClusterName?

    package init(_ key: [UInt8], _ action: Action, base: ClusterName? = nil) {
        self.key = key
        self.action = action
        self.base = base
    }

    /// Returns one change with the effect of this one and of a later one of the same key; nil if there is none.
    package func joined(with later: ValueChange) -> ValueChange? {
        if base != nil || later.base != nil { return nil }
        guard case .add(let number) = later.action else { return later }
        let sum: (partialValue: Int64, overflow: Bool)
        switch action {
        case .set: return self
        case .remove: return ValueChange(key, .setNumber(number))
        case .setNumber(let present):
            sum = present.addingReportingOverflow(number)
            // An addition that overflows is not made.
            return sum.overflow ? self : ValueChange(key, .setNumber(sum.partialValue))
        case .add(let present):
            sum = present.addingReportingOverflow(number)
            return sum.overflow ? nil : ValueChange(key, .add(sum.partialValue))
        }
    }
}

extension ValueChange.Action {
    /// Returns the value after the action, by the rules of the fold.
    package func applied(to value: ClusterFold.Value?) -> ClusterFold.Value? {
        switch self {
        case .set(let bytes): return .bytes(bytes)
        case .setNumber(let number): return .number(number)
        case .remove: return nil
        case .add(let number):
            guard case .number(let present) = value ?? .number(0) else { return value }
            let (sum, isOver) = present.addingReportingOverflow(number)
            return isOver ? value : .number(sum)
        }
    }
}
