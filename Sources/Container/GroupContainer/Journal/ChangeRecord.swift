// Imports GroupBytes only: no file, clock or process.

import GroupBytes

/// The journal's record of one change.
package struct ChangeRecord: Equatable, Sendable {
    package enum Kind: UInt8, Sendable {
        case created = 1
        case modified = 2
        case removed = 3
        case moved = 4
        /// The items at `path` and `from` were exchanged.
        case exchanged = 5
        case touched = 6
        /// Several changes that became visible together: `parts`.
        case transaction = 7
        /// A member became leader; `term` is the number of its term. A control record: not counted, not delivered.
        case term = 64
        /// The leader cannot watch everything: `path` is the directory (empty: any), `purpose` is the reason; an empty
        /// `purpose` means that it can again. A control record.
        case degraded = 65

        /// Whether it is the journal's own bookkeeping, which is not counted in the sequence.
        var isControl: Bool { rawValue >= 64 }
    }

    var kind: Kind
    /// Whether a member made the change under a lock; otherwise the leader found it.
    var isCoordinated: Bool
    var path: [UInt8]
    /// The former path, for `moved`; the other path, for `exchanged`.
    var from: [UInt8]?
    /// The state right after the change; nil if the item is gone.
    var state: ItemState?
    /// For `exchanged`: the state of the item that is at `from` now.
    var otherState: ItemState?
    /// For `removed`: whether it was a directory, removed with everything below it, which has no records of its own.
    var wasDirectory = false
    /// The identifier of the operation, by which a repair finds out whether it is recorded already. Zeros: none.
    var operation: [UInt8]
    var processIdentifier: Int32
    var purpose: [UInt8]
    /// Nanoseconds since 1970, for display.
    var time: Int64
    var term: UInt64 = 0
    /// The parts of a transaction, in the order in which they were made; empty for other kinds.
    var parts: [ChangePart] = []

    package static let noOperation = [UInt8](repeating: 0, count: 16)

    enum Fault: Error, Equatable {
        /// The bytes do not make a record though their checksum is right: a newer version wrote it.
        case unknown
    }

    func encoded() -> [UInt8] {
        var writer = ByteWriter(capacity: mostBytes)
        encode(into: &writer)
        return writer.bytes
    }

    /// The number of bytes that the encoding needs at most; of a transaction, without its parts.
    var mostBytes: Int { 160 + path.count + (from?.count ?? 0) + purpose.count }

    func encode(into writer: inout ByteWriter) {
        writer.write(kind.rawValue)
        writer.write(
            UInt8(
                (isCoordinated ? 1 : 0) | (from != nil ? 2 : 0) | (state != nil ? 4 : 0) | (wasDirectory ? 8 : 0)
                    | (otherState != nil ? 16 : 0)))
        writer.write(UInt16(0))
        writer.write(processIdentifier)
        writer.write(time)
        writer.write(term)
        writer.write(raw: operation)
        if kind == .transaction {
            writer.write(UInt32(truncatingIfNeeded: parts.count))
            for part in parts { part.encode(into: &writer) }
        } else {
            state?.encode(into: &writer)
            otherState?.encode(into: &writer)
            writer.write(counted: path)
            if let from { writer.write(counted: from) }
        }
        writer.write(counted: purpose)
    }

    init(decoding bytes: [UInt8]) throws(Fault) {
        do {
            var reader = ByteReader(bytes)
            guard let kind = Kind(rawValue: try reader.number()) else { throw Fault.unknown }
            self.kind = kind
            let flags: UInt8 = try reader.number()
            isCoordinated = flags & 1 != 0
            wasDirectory = flags & 8 != 0
            _ = try reader.number(UInt16.self)
            processIdentifier = try reader.number()
            time = try reader.number()
            term = try reader.number()
            operation = try reader.raw(16)
            if kind == .transaction {
                parts = try Self.parts(from: &reader)
                path = []
            } else {
                state = flags & 4 != 0 ? try ItemState(from: &reader) : nil
                otherState = flags & 16 != 0 ? try ItemState(from: &reader) : nil
                path = try reader.counted()
                from = flags & 2 != 0 ? try reader.counted() : nil
            }
            purpose = try reader.counted()
        } catch {
            throw .unknown
        }
    }

    /// Reads the parts. No room is made for the number that the bytes claim, because a missing part is found first.
    private static func parts(from reader: inout ByteReader) throws -> [ChangePart] {
        let count: UInt32 = try reader.number()
        if count == 0 { throw Fault.unknown }
        var parts: [ChangePart] = []
        while parts.count < count { parts.append(try ChangePart(from: &reader)) }
        return parts
    }

    /// The changes of items that the record contains, in their order.
    var changes: [ChangePart] {
        switch kind {
        case .transaction: parts
        case .term, .degraded: []
        case .created, .modified, .removed, .moved, .exchanged, .touched:
            [
                ChangePart(
                    kind: kind, path: path, from: from, state: state, otherState: otherState, wasDirectory: wasDirectory
                )
            ]
        }
    }

    /// The path after the move; for a directory that arrives together with its content, the directory's.
    var presentPath: [UInt8] { parts.first?.path ?? path }

    /// Sets the state of the item at `presentPath`. The state of what arrived within a directory is unchanged.
    mutating func complete(with state: ItemState?) {
        if parts.isEmpty { self.state = state } else { parts[0].state = state }
    }

    init(
        transaction parts: [ChangePart], operation: [UInt8], processIdentifier: Int32, purpose: [UInt8], time: Int64
    ) {
        self.init(
            .transaction, path: [], state: nil, isCoordinated: true, operation: operation,
            processIdentifier: processIdentifier, purpose: purpose, time: time)
        self.parts = parts
    }

    package init(
        _ kind: Kind, path: [UInt8], from: [UInt8]? = nil, state: ItemState?, isCoordinated: Bool,
        operation: [UInt8] = ChangeRecord.noOperation, processIdentifier: Int32, purpose: [UInt8], time: Int64,
        term: UInt64 = 0
    ) {
        self.kind = kind
        self.path = path
        self.from = from
        self.state = state
        self.isCoordinated = isCoordinated
        self.operation = operation
        self.term = term
        self.processIdentifier = processIdentifier
        self.purpose = purpose
        self.time = time
    }
}

/// A change of one item: the content of a record except for its author and time. A transaction has several parts.
struct ChangePart: Equatable, Sendable {
    var kind: ChangeRecord.Kind
    var path: [UInt8]
    /// The former path, for `moved`; the other path, for `exchanged`.
    var from: [UInt8]?
    /// The state right after the change; nil if the item is gone.
    var state: ItemState?
    /// For `exchanged`: the state of the item that is at `from` now.
    var otherState: ItemState?
    /// For `removed`: whether it was a directory.
    var wasDirectory = false

    /// The kinds of changes of items; the other kinds are those of whole records.
    private static let kinds: [ChangeRecord.Kind] = [.created, .modified, .removed, .moved, .exchanged, .touched]

    func encode(into writer: inout ByteWriter) {
        writer.write(kind.rawValue)
        writer.write(
            UInt8(
                (from != nil ? 2 : 0) | (state != nil ? 4 : 0) | (wasDirectory ? 8 : 0) | (otherState != nil ? 16 : 0)))
        writer.write(UInt16(0))
        state?.encode(into: &writer)
        otherState?.encode(into: &writer)
        writer.write(counted: path)
        if let from { writer.write(counted: from) }
    }

    init(from reader: inout ByteReader) throws {
        guard let kind = ChangeRecord.Kind(rawValue: try reader.number()), Self.kinds.contains(kind) else {
            throw ChangeRecord.Fault.unknown
        }
        self.kind = kind
        let flags: UInt8 = try reader.number()
        wasDirectory = flags & 8 != 0
        _ = try reader.number(UInt16.self)
        state = flags & 4 != 0 ? try ItemState(from: &reader) : nil
        otherState = flags & 16 != 0 ? try ItemState(from: &reader) : nil
        path = try reader.counted()
        from = flags & 2 != 0 ? try reader.counted() : nil
    }

    init(
        kind: ChangeRecord.Kind, path: [UInt8], from: [UInt8]? = nil, state: ItemState?, otherState: ItemState? = nil,
        wasDirectory: Bool = false
    ) {
        self.kind = kind
        self.path = path
        self.from = from
        self.state = state
        self.otherState = otherState
        self.wasDirectory = wasDirectory
    }
}
