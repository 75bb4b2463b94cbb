import GroupLog
import GroupSystemCalls

extension CoordinationError {
    /// Translates the failure of a log; the only place that does so.
    init(_ failure: LogFailure) {
        let (item, operation) = (failure.file, failure.operation)
        switch failure.reason {
        case .system(let errno): self = CoordinationError(errno, operation: operation, item: item)
        case .damaged(.unreadableInUse):
            self = CoordinationError(
                .damaged, operation: operation, item: item, reason: LogDamage.unreadableInUse.cause,
                remedy: .init(.endMembers, "end the other members first"))
        case .damaged(let damage): self = .damaged(operation: operation, item: item, reason: damage.cause)
        case .newerFormat(let format):
            self = CoordinationError(
                .newerFormat, operation: operation, item: item,
                reason: "the log has format \(format), and this version knows 1", remedy: .update)
        case .recordTooLarge(let byteCount, let room):
            self = CoordinationError(
                .limitReached, operation: operation, item: item,
                reason: "a record of \(byteCount) bytes is larger than the \(room) that a segment has room for")
        case .notDurable(let errno):
            self = CoordinationError(
                .notDurable, operation: operation, item: item,
                reason: "\(errno); the change is visible, but may be lost after a power cut", remedy: .checkDisk,
                cause: errno)
        case .onlyForReading:
            self = CoordinationError(
                .notPermitted, operation: operation, item: item, reason: "the container was opened only for reading")
        }
    }
}

extension LogDamage {
    /// The damage as the cause of an error or of a finding.
    var cause: String {
        switch self {
        case .noSegment: "the log has no segment"
        case .missing: "the file is missing"
        case .removedInUse: "the file was removed while members are alive"
        case .foreign: "the file belongs to another log or container"
        case .unconnected: "the file does not follow the one before it"
        case .outOfNumbers: "no file can follow it: its number, or those of its records, are the last ones"
        case .notAFile: "the file is not a regular file"
        case .wrongType(.tooManyLinks): "the file is a symbolic link"
        case .wrongType(.noSuchDevice): "the file is not a regular file"
        case .wrongType(let errno): errno.description
        case .brokenHeader: "the first page is not a segment's"
        case .unreadable: "the file is not a segment, and nothing in it can be read"
        case .unreadableInUse:
            "the file cannot be read, and other members may write to it"
        case .cutShort(let size, let capacity): "the file was cut short: \(size) of \(capacity) bytes are left"
        case .tooLarge(let capacity, let largest):
            "the file claims \(capacity) bytes, and a file of this log has at most \(largest)"
        case .truncatedInUse: "the file was truncated, or its disk is full, while the file was in use"
        case .outside(let offset): "a record would lie outside of the file, at byte \(offset)"
        case .brokenRecordHeader(let offset): "the record header at byte \(offset) is malformed"
        case .lostRecordHeader(let offset): "there is no record at byte \(offset), but there are records behind it"
        case .recordTooLong(let offset): "the record at byte \(offset) reaches over the end of the file"
        case .brokenChecksum(let offset): "the record at byte \(offset) does not fit its checksum"
        case .brokenAfterSync(let offset): "the record at byte \(offset) was on the disk, and is damaged now"
        }
    }
}

extension DiagnosticHub {
    /// Records an event of a log.
    func report(_ event: LogEvent) {
        switch event {
        case .recovered(let file, let end):
            report(
                .journalRecovered, item: file,
                "recovered, after a restart of the machine or as a copy: it is whole up to byte \(end)")
        case .cut(let file, let offset, let damage):
            report(
                .journalCut, item: file,
                "it ends at byte \(offset) now, and the journal goes on in the next file: \(damage.cause)")
        case .notDurable(let file, let errno):
            report(.journalNotDurable, item: file, "the disk refused to keep it: \(errno)")
        case .rewritten(let file):
            report(.journalRenewed, item: file, "what the disk had refused was written again, and kept")
        }
    }
}

extension SegmentedLog {
    /// Opens the log in a directory below `.group`, and translates its error.
    static func open(
        _ name: String, in directory: consuming FileDescriptor, _ configuration: LogConfiguration
    ) throws(CoordinationError) -> SegmentedLog {
        do {
            return try SegmentedLog(name: ".group/\(name)", directory: directory, configuration)
        } catch {
            throw CoordinationError(error)
        }
    }
}

/// Returns the result of an expression that uses a log, and translates its error.
func translating<Answer: ~Copyable>(
    _ expression: @autoclosure () throws(LogFailure) -> Answer
) throws(CoordinationError) -> Answer {
    do {
        return try expression()
    } catch {
        throw CoordinationError(error)
    }
}
