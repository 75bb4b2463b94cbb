package import GroupSystemCalls

/// An error of a log: the file, the operation, and what happened. A user of the log words it for its own users.
package struct LogFailure: Error, Equatable, Sendable {
    package enum Reason: Equatable, Sendable {
        /// A system call failed.
        case system(Errno)
        /// The log is not what was written.
        case damaged(LogDamage)
        /// A newer version wrote the segment, in a format of this number.
        case newerFormat(UInt32)
        /// The record fits into no segment; `room` is the largest size that does, in bytes.
        case recordTooLarge(byteCount: Int, room: Int)
        /// The disk did not confirm what was written: the records are visible, but may be gone after a power cut.
        case notDurable(Errno)
        /// The log was opened only for reading.
        case onlyForReading
    }

    /// The name of the segment or the log: "journal/1.log", after the name with which the log was opened.
    package var file: String
    /// The operation: "open", "read", "append".
    package var operation: String
    package var reason: Reason

    package init(_ reason: Reason, file: String, operation: String) {
        self.file = file
        self.operation = operation
        self.reason = reason
    }

    /// Makes the failure of a system call. A file of another type in place of a segment is damage.
    init(_ errno: Errno, file: String, operation: String) {
        let isOfOtherType = [.tooManyLinks, .notADirectory, .isADirectory, .noSuchDevice].contains(errno)
        self.init(isOfOtherType ? .damaged(.wrongType(errno)) : .system(errno), file: file, operation: operation)
    }

    /// The damage, if that is the reason.
    package var damage: LogDamage? {
        if case .damaged(let damage) = reason { return damage }
        return nil
    }

    static func damaged(_ file: String, operation: String, _ damage: LogDamage) -> LogFailure {
        LogFailure(.damaged(damage), file: file, operation: operation)
    }
}

/// A kind of damage of a log. Offsets are those in the segment.
package enum LogDamage: Hashable, Sendable {
    /// The log has no segment.
    case noSegment
    /// A segment between others is missing.
    case missing
    /// The last segment was removed while processes use it.
    case removedInUse
    /// The segment belongs to another log, or has another number.
    case foreign
    /// The segment does not follow the one before it: its header has an impossible end of that one, or no process uses
    /// it although it is between others.
    case unconnected
    /// The segment after this one would have a number, or its records would, beyond the limits.
    case outOfNumbers
    /// The segment is no regular file.
    case notAFile
    /// Opening or reading the segment fails because a file of another type has its name.
    case wrongType(Errno)
    /// The first page is not a segment's.
    case brokenHeader
    /// The first page is not a segment's, and no record can be read.
    case unreadable
    /// The segment cannot be opened, and is not put aside because other processes may append to it.
    case unreadableInUse
    /// The file has fewer bytes than it was made with.
    case cutShort(size: UInt64, capacity: UInt64)
    /// The file claims to be larger than a segment of this log can be.
    case tooLarge(capacity: UInt64, largest: Int)
    /// The file was truncated while it was mapped, or its disk was full.
    case truncatedInUse
    /// A record would begin outside of the segment.
    case outside(offset: Int)
    /// The word at a record's place is no record header.
    case brokenRecordHeader(offset: Int)
    /// The word at a record's place is empty, and something stands after it.
    case lostRecordHeader(offset: Int)
    /// A record reaches over the segment's end.
    case recordTooLong(offset: Int)
    /// A record does not fit its checksum.
    case brokenChecksum(offset: Int)
    /// A record before the durable mark is broken.
    case brokenAfterSync(offset: Int)
}

/// An event of a log that its user may report.
package enum LogEvent: Sendable {
    /// The last segment was recovered; its records are whole up to an offset.
    case recovered(file: String, end: Int)
    /// A segment was cut at an offset, and the log goes on in the next one.
    case cut(file: String, offset: Int, LogDamage)
    /// The disk did not keep the segment.
    case notDurable(file: String, Errno)
    /// What the disk had refused was written again, and kept.
    case rewritten(file: String)
}

/// Runs a body that makes system calls, and adds the file and the operation to its error.
func translating<Answer: ~Copyable>(
    _ operation: String, file: String, _ body: () throws(Errno) -> Answer
) throws(LogFailure) -> Answer {
    do {
        return try body()
    } catch {
        throw LogFailure(error, file: file, operation: operation)
    }
}
