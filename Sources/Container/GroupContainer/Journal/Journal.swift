import GroupBytes
package import GroupLog
import GroupSystemCalls

/// The container's log of changes: a mapped log whose records are `ChangeRecord`s.
package final class Journal: Sendable {
    let log: SegmentedLog
    let checkpoint: CheckpointFile
    /// The position of the checkpoint, as far as this member has read it.
    let checkpointed = Guarded<LogPosition?>(nil)
    /// The segment at which this member last examined which segments may be dropped.
    let weighed = Guarded<UInt64>(0)
    /// The first eight bytes of the container's identifier: part of every cursor.
    let container: UInt64

    init(_ log: SegmentedLog, container: [UInt8], in directory: ContainerDirectories) {
        self.log = log
        checkpoint = CheckpointFile(in: directory, container: log.configuration.identity)
        var reader = ByteReader(container)
        self.container = (try? reader.number()) ?? 0
    }

    package func append(_ record: ChangeRecord) throws(CoordinationError) -> LogPosition {
        try translating(log.append(record.encoded(), isControl: record.kind.isControl))
    }

    /// Appends a record only if nothing stands after `expected`; returns nil otherwise. `wakesReaders` is as in
    /// `SegmentedLog.append`.
    func append(
        _ record: ChangeRecord, exactlyAt expected: LogPosition, wakesReaders: Bool = true
    ) throws(CoordinationError) -> LogPosition? {
        try translating(
            log.append(
                record.encoded(), isControl: record.kind.isControl, exactlyAt: expected, wakesReaders: wakesReaders))
    }

    struct Entry: Sendable {
        /// The change; nil for a record that only a newer version understands.
        var record: ChangeRecord?
        var isControl: Bool
        var position: LogPosition
    }

    /// The result of reading at a position, as in `SegmentedLog.Step`.
    enum Step: Sendable {
        case entry(Entry)
        case end
        case gap(LogPosition)
        case lost
    }

    func step(behind position: LogPosition) throws(CoordinationError) -> Step {
        switch try translating(log.step(behind: position)) {
        case .entry(let entry):
            .entry(
                Entry(
                    record: try? ChangeRecord(decoding: entry.body), isControl: entry.isControl,
                    position: entry.position))
        case .end: .end
        case .gap(let next): .gap(next)
        case .lost: .lost
        }
    }

    /// Passes the records after a position to `look`, up to the end or until `look` returns true. If the position is no
    /// longer kept, begins with the oldest record. Linear in the records. Errors: `damaged`, also where the segments do
    /// not lead to one another, so that the position is lost again and again
    func read(from start: LogPosition, _ look: (ChangeRecord) -> Bool) throws(CoordinationError) {
        var position = start
        var losses = Losses()
        while true {
            switch try step(behind: position) {
            case .entry(let entry):
                position = entry.position
                if let record = entry.record, look(record) { return }
            case .gap(let next): position = next
            case .lost:
                try losses.note(position, in: self)
                position = try translating(log.start())
            case .end: return
            }
        }
    }

    /// How often a reader has lost its position. Each time it begins anew, which ends unless segments are dropped
    /// faster than they are read, or are damaged.
    struct Losses {
        private static let limit = 8
        private var count = 0
        /// The segment in which the position was lost the last time.
        private var segment: UInt64?

        /// Counts a loss. Error: `damaged` after too many
        mutating func note(_ position: LogPosition, in journal: Journal) throws(CoordinationError) {
            count += 1
            let isSame = segment == position.segment
            segment = position.segment
            if count <= Self.limit { return }
            if isSame {
                throw .damaged(
                    operation: "read", item: "\(journal.log.name)/\(position.segment).log",
                    reason: "the file does not lead to the next one")
            }
            throw .damaged(
                operation: "read", item: ".group/journal", reason: "segments are dropped faster than they are read")
        }
    }

    func cursor(at position: LogPosition) -> Cursor {
        Cursor(position, in: container)
    }

    /// A cursor that this journal never has: segments are numbered from 1.
    var invalidCursor: Cursor { Cursor(container: container, segment: 0, offset: 0, sequence: 0, checksum: 0) }

    /// Returns the position of a cursor; nil for a cursor of another history: another container, one restored from a
    /// backup, or a segment that is no longer kept.
    func position(of cursor: Cursor) throws(CoordinationError) -> LogPosition? {
        guard let position = cursor.position(in: container) else { return nil }
        return try translating(log.contains(position)) ? position : nil
    }

    /// Returns whether an operation has its record after a position; looks at all records where the position, which
    /// another member has written, is not one of this journal. Linear in the records after it.
    func contains(operation: [UInt8], from position: LogPosition) throws(CoordinationError) -> Bool {
        var isFound = false
        var start = position
        do {
            _ = try step(behind: position)
        } catch {
            if error.code != .damaged { throw error }
            start = try translating(log.start())
        }
        try read(from: start) { record in
            isFound = record.operation == operation
            return isFound
        }
        return isFound
    }
}
