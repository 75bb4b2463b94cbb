// Imports GroupBytes and LogPosition only: no file, clock or process.

import GroupBytes
import struct GroupLog.LogPosition

/// A position in a container's journal, between two changes. A cursor can be stored as text (`description`,
/// `init(_:)`): a process that begins at it gets exactly the changes after it. The cursor has the checksum of the
/// record before it. So a cursor of another container, or of one that was restored from a backup, is recognized as
/// invalid, and the process gets one `rescan`.
public struct Cursor: Hashable, Sendable, LosslessStringConvertible {
    /// The first eight bytes of the container's identifier.
    let container: UInt64
    /// The number of the segment.
    let segment: UInt32
    /// The offset of the next record in that segment.
    let offset: UInt32
    /// The sequence number of the record before the cursor; sequence numbers count from 1.
    public let sequence: SequenceNumber
    let checksum: UInt64

    private static let prefix = "g1-"

    /// Whether this cursor is valid in no journal, as that of a snapshot whose items were not all delivered.
    package var isInvalid: Bool { segment == 0 }

    init(container: UInt64, segment: UInt32, offset: UInt32, sequence: UInt64, checksum: UInt64) {
        self.container = container
        self.segment = segment
        self.offset = offset
        self.sequence = SequenceNumber(rawValue: sequence)
        self.checksum = checksum
    }

    /// Makes the cursor of a position in a container's journal.
    init(_ position: LogPosition, in container: UInt64) {
        self.init(
            container: container, segment: UInt32(truncatingIfNeeded: position.segment),
            offset: UInt32(truncatingIfNeeded: position.offset), sequence: position.sequence,
            checksum: position.checksum)
    }

    /// Returns the position; nil for another container's cursor.
    func position(in container: UInt64) -> LogPosition? {
        if self.container != container { return nil }
        return LogPosition(
            segment: UInt64(segment), offset: Int(offset), sequence: sequence.rawValue, checksum: checksum)
    }

    /// The cursor as 67 characters without spaces, for a file, an option or an environment variable.
    public var description: String {
        var writer = ByteWriter()
        writer.write(container)
        writer.write(segment)
        writer.write(offset)
        writer.write(sequence.rawValue)
        writer.write(checksum)
        return Self.prefix + Hexadecimal.encode(writer.bytes)
    }

    /// Decodes a cursor from its description; nil for other text.
    public init?(_ description: String) {
        guard description.hasPrefix(Self.prefix),
            let bytes = Hexadecimal.decode(description.dropFirst(Self.prefix.count))
        else {
            return nil
        }
        var reader = ByteReader(bytes)
        guard bytes.count == 32, let container = try? reader.number(UInt64.self),
            let segment = try? reader.number(UInt32.self),
            let offset = try? reader.number(UInt32.self), let sequence = try? reader.number(UInt64.self),
            let checksum = try? reader.number(UInt64.self)
        else { return nil }
        self.init(container: container, segment: segment, offset: offset, sequence: sequence, checksum: checksum)
    }
}

extension Cursor: Codable {
    /// Decodes a cursor from its text. Errors: `DecodingError`, where the text is not a cursor's
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        guard let cursor = Cursor(try container.decode(String.self)) else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "the text is not a cursor's")
        }
        self = cursor
    }

    /// Encodes the cursor as its text.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }
}
