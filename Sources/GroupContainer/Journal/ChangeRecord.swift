// Imports nothing: no file, clock or process.

/// What the journal holds of one change.
struct ChangeRecord: Equatable, Sendable {
    enum Kind: UInt8, Sendable {
        case created = 1
        case modified = 2
        case removed = 3
        case moved = 4
        /// What stood at `path` and at `from` changed places.
        case exchanged = 5
        case touched = 6
        /// Several changes that became visible together: `parts`.
        case transaction = 7
        /// A member became leader; `term` says which one. A control record: not counted, not shown.
        case term = 64
        /// The leader can not watch everything: `path` is the directory (empty: any), `purpose` says why; an empty
        /// `purpose`: it can again. A control record.
        case degraded = 65

        /// Of the log's own keeping: not counted in the sequence.
        var isControl: Bool { rawValue >= 64 }
    }

    var kind: Kind
    /// Made by a member under a lock; otherwise found by the leader.
    var isCoordinated: Bool
    var path: [UInt8]
    /// Where it stood before, for `moved`; the other place, for `exchanged`.
    var from: [UInt8]?
    /// As it stood right after; nil once it is gone.
    var state: ItemState?
    /// For `exchanged`: of what stands at `from` now.
    var otherState: ItemState?
    /// For `removed`: it was a directory, and went with everything below it, which has no records of its own.
    var wasDirectory = false
    /// Names the operation, so that a repairer finds out whether it is recorded already. Zeros: none.
    var operation: [UInt8]
    var processIdentifier: Int32
    var purpose: [UInt8]
    /// Nanoseconds since 1970, for people.
    var time: Int64
    var term: UInt64 = 0
    /// Of a transaction, in the order in which they were made; of anything else none.
    var parts: [ChangePart] = []

    static let noOperation = [UInt8](repeating: 0, count: 16)

    enum Fault: Error, Equatable {
        /// The bytes do not make a record though their checksum is right: a newer version wrote it.
        case unknown
    }

    func encoded() -> [UInt8] {
        var writer = ByteWriter(capacity: 160 + path.count + (from?.count ?? 0) + purpose.count)
        writer.write(kind.rawValue)
        let flags: [(Bool, UInt8)] = [
            (isCoordinated, 1), (from != nil, 2), (state != nil, 4), (wasDirectory, 8), (otherState != nil, 16),
        ]
        writer.write(flags.reduce(0) { $1.0 ? $0 | $1.1 : $0 })
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
        return writer.bytes
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

    /// However many the bytes claim there are: what is not there is found missing before room is made for it.
    private static func parts(from reader: inout ByteReader) throws -> [ChangePart] {
        let count: UInt32 = try reader.number()
        if count == 0 { throw Fault.unknown }
        var parts: [ChangePart] = []
        while parts.count < count { parts.append(try ChangePart(from: &reader)) }
        return parts
    }

    /// What it says of items, one after the other.
    var changes: [ChangePart] {
        switch kind {
        case .transaction: parts
        case .term, .degraded: []
        default:
            [
                ChangePart(
                    kind: kind, path: path, from: from, state: state, otherState: otherState, wasDirectory: wasDirectory
                )
            ]
        }
    }

    /// Where what moves stands afterwards: of a directory that comes with what is in it, the directory.
    var place: [UInt8] { parts.first?.path ?? path }

    /// How it stands there. What came within a directory is as it was.
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

    init(
        _ kind: Kind, path: [UInt8], from: [UInt8]? = nil, state: ItemState?, isCoordinated: Bool,
        operation: [UInt8] = ChangeRecord.noOperation, processIdentifier: Int32, purpose: [UInt8], time: Int64,
        term: UInt64 = 0
    ) {
        (self.kind, self.path, self.from, self.state) = (kind, path, from, state)
        (self.isCoordinated, self.operation, self.term) = (isCoordinated, operation, term)
        (self.processIdentifier, self.purpose, self.time) = (processIdentifier, purpose, time)
    }
}

/// One change of one item: what a record says besides who made it and when. A transaction has several.
struct ChangePart: Equatable, Sendable {
    var kind: ChangeRecord.Kind
    var path: [UInt8]
    /// Where it stood before, for `moved`; the other place, for `exchanged`.
    var from: [UInt8]?
    /// As it stood right after; nil once it is gone.
    var state: ItemState?
    /// For `exchanged`: of what stands at `from` now.
    var otherState: ItemState?
    /// For `removed`: it was a directory.
    var wasDirectory = false

    /// What concerns items; the other kinds are those of whole records.
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
        (self.kind, self.path, self.from, self.state) = (kind, path, from, state)
        (self.otherState, self.wasDirectory) = (otherState, wasDirectory)
    }
}
