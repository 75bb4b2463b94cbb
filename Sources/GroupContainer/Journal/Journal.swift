import GroupSystemCalls

/// The container's log of changes: a mapped log whose records are `ChangeRecord`s.
final class Journal: Sendable {
    let log: SegmentedLog
    let checkpoint: CheckpointFile
    /// The place that the checkpoint is for, as far as this member knows.
    let checkpointed = Guarded<LogPosition?>(nil)
    /// The file that was the last one when it was last looked whether files may go.
    let weighed = Guarded<UInt64>(0)
    /// The first eight bytes of the container's identifier: part of every cursor.
    let container: UInt64

    init(_ log: SegmentedLog, container: [UInt8], in directory: ContainerDirectories) {
        self.log = log
        checkpoint = CheckpointFile(in: directory, container: log.surroundings.container)
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

    /// As `SegmentedLog.Step`.
    enum Step: Sendable {
        case entry(Entry)
        case end
        case gap(LogPosition)
        case lost
    }

    func step(behind position: LogPosition) throws(CoordinationError) -> Step {
        switch try log.step(behind: position) {
        case .entry(let entry):
            .entry(
                Entry(
                    record: try? ChangeRecord(decoding: entry.body), isControl: entry.isControl,
                    position: entry.position))
        case .end: .end
        case .gap(let place): .gap(place)
        case .lost: .lost
        }
    }

    /// Shows the records from a place on, up to the end or until `look` says that it has seen enough. Where the place
    /// is no longer kept, from the oldest one on: what matters behind it is behind that, too. Linear in the records.
    func read(from start: LogPosition, _ look: (ChangeRecord) -> Bool) throws(CoordinationError) {
        var position = start
        while true {
            switch try step(behind: position) {
            case .entry(let entry):
                position = entry.position
                if let record = entry.record, look(record) { return }
            case .gap(let place): position = place
            case .lost: position = try log.start()
            case .end: return
            }
        }
    }

    func cursor(at position: LogPosition) -> Cursor {
        Cursor(position, in: container)
    }

    /// A place that it does not have, nor ever will: files are numbered from 1.
    var nowhere: Cursor { Cursor(container: container, file: 0, offset: 0, sequence: 0, checksum: 0) }

    /// Nil where the cursor is of another history: another container, one restored from a backup, or a file that is no
    /// longer kept.
    func position(of cursor: Cursor) throws(CoordinationError) -> LogPosition? {
        guard let position = cursor.position(in: container) else { return nil }
        return try log.contains(position) ? position : nil
    }

    /// Whether an operation has its record, from a place on. Linear in the records behind it.
    func contains(operation: [UInt8], from start: LogPosition) throws(CoordinationError) -> Bool {
        var isFound = false
        try read(from: start) { record in
            isFound = record.operation == operation
            return isFound
        }
        return isFound
    }
}

extension Container {
    /// Appends a record that no change stands behind, and returns its sequence. For the fault tests: they kill and stop
    /// members in the middle of appends, which whole writes would reach a thousand times less often.
    package func appendRawRecord(naming path: ItemPath) throws(CoordinationError) -> UInt64 {
        let record = ChangeRecord(
            .touched, path: path.bytes, state: nil, isCoordinated: true, operation: ChangeRecord.noOperation,
            processIdentifier: processIdentifier(), purpose: [], time: 0)
        return try member.journal.append(record).sequence
    }
}
