import SystemCalls

/// The container's log of changes: a mapped log whose records are `ChangeRecord`s.
final class Journal: Sendable {
    let log: MappedLog
    /// The first eight bytes of the container's identifier: part of every cursor.
    private let container: UInt64

    init(_ log: MappedLog, container: [UInt8]) {
        self.log = log
        var reader = ByteReader(container)
        self.container = (try? reader.number()) ?? 0
    }

    func append(_ record: ChangeRecord) throws(CoordinationError) -> LogPosition {
        try log.append(record.encoded(), isControl: record.kind.isControl)
    }

    /// Only if nothing stands behind `expected`; nil otherwise.
    func append(_ record: ChangeRecord, exactlyAt expected: LogPosition) throws(CoordinationError) -> LogPosition? {
        try log.append(record.encoded(), isControl: record.kind.isControl, exactlyAt: expected)
    }

    struct Entry: Sendable {
        /// Nil for one that only a newer version understands.
        var record: ChangeRecord?
        var isControl: Bool
        var position: LogPosition
    }

    func entry(behind position: LogPosition) throws(CoordinationError) -> Entry? {
        guard let entry = try log.entry(behind: position) else { return nil }
        return Entry(
            record: try? ChangeRecord(decoding: entry.body), isControl: entry.isControl, position: entry.position)
    }

    func cursor(at position: LogPosition) -> Cursor {
        Cursor(
            container: container, file: UInt32(truncatingIfNeeded: position.file),
            offset: UInt32(truncatingIfNeeded: position.offset),
            sequence: position.sequence, checksum: position.checksum)
    }

    /// Nil where the cursor is of another history: another container, one restored from a backup, or a file that is no
    /// longer kept.
    func position(of cursor: Cursor) throws(CoordinationError) -> LogPosition? {
        let position = LogPosition(
            file: UInt64(cursor.file), offset: Int(cursor.offset), sequence: cursor.sequence, checksum: cursor.checksum)
        if cursor.container != container { return nil }
        return try log.contains(position) ? position : nil
    }

    /// Whether an operation has its record, from a place on. Linear in the records behind it.
    func contains(operation: [UInt8], from start: LogPosition) throws(CoordinationError) -> Bool {
        var position = start
        while let entry = try entry(behind: position) {
            if entry.record?.operation == operation { return true }
            position = entry.position
        }
        return false
    }
}
