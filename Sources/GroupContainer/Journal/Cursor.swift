// Imports nothing: no file, clock or process.

/// A place in a container's journal, between two changes. A cursor can be kept (`description`, `init(_:)`) and outlives
/// the process: a process that comes back with it gets exactly what happened since. The cursor names the record before
/// it by its checksum, so a place in another container, or in one restored from a backup, is recognized and answered
/// with one `rescan`.
public struct Cursor: Hashable, Sendable, LosslessStringConvertible {
    /// The first eight bytes of the container's identifier.
    let container: UInt64
    let file: UInt32
    /// Where the next record of that file begins.
    let offset: UInt32
    /// Of the record before it; the sequence counts from 1.
    public let sequence: UInt64
    let checksum: UInt64

    private static let prefix = "g1-"

    /// No journal has it: the one of a snapshot that was not told to its end.
    package var isNowhere: Bool { file == 0 }

    init(container: UInt64, file: UInt32, offset: UInt32, sequence: UInt64, checksum: UInt64) {
        (self.container, self.file, self.offset, self.sequence, self.checksum) = (
            container, file, offset, sequence, checksum
        )
    }

    /// Of a container's log.
    init(_ position: LogPosition, in container: UInt64) {
        self.init(
            container: container, file: UInt32(truncatingIfNeeded: position.file),
            offset: UInt32(truncatingIfNeeded: position.offset), sequence: position.sequence,
            checksum: position.checksum)
    }

    /// Nil for another container's.
    func position(in container: UInt64) -> LogPosition? {
        if self.container != container { return nil }
        return LogPosition(file: UInt64(file), offset: Int(offset), sequence: sequence, checksum: checksum)
    }

    /// 67 characters without spaces, for a file, an option or an environment variable.
    public var description: String {
        var writer = ByteWriter()
        writer.write(container)
        writer.write(file)
        writer.write(offset)
        writer.write(sequence)
        writer.write(checksum)
        return Self.prefix + Hexadecimal.encode(writer.bytes)
    }

    /// Nil for what no cursor has ever printed.
    public init?(_ description: String) {
        guard description.hasPrefix(Self.prefix),
            let bytes = Hexadecimal.decode(description.dropFirst(Self.prefix.count))
        else {
            return nil
        }
        var reader = ByteReader(bytes)
        guard bytes.count == 32, let container = try? reader.number(UInt64.self),
            let file = try? reader.number(UInt32.self),
            let offset = try? reader.number(UInt32.self), let sequence = try? reader.number(UInt64.self),
            let checksum = try? reader.number(UInt64.self)
        else { return nil }
        self.init(container: container, file: file, offset: offset, sequence: sequence, checksum: checksum)
    }
}
