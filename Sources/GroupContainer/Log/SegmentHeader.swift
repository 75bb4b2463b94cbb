// Imports nothing: no file, clock or process.

/// The first page of a segment: written once, before the file gets its name.
struct SegmentHeader: Equatable, Sendable {
    /// Random for each segment, so that checksums of another segment's records do not fit.
    var salt: UInt64
    /// 1 for the first segment of a log, then ascending.
    var number: UInt64
    /// The sequence number before its first record: the counted records of all earlier segments, plus the numbers that
    /// cuts left out.
    var base: UInt64
    /// The end of the segment before this one. Records after that offset there never happened.
    var previousEnd: UInt64
    var capacity: UInt64
    var container: [UInt8]
    var incarnation: [UInt8]
    /// Nanoseconds since 1970.
    var created: Int64

    static let size = 4_096
    /// The offsets of mutable words, after the checksummed part.
    static let durableMark = 128
    static let poisoned = 136
    /// The end of the segment if it was cut, because the records from there on were damaged: see
    /// `RecordHeader.checked`.
    static let cut = 144
    /// The end of the preamble of a compacted log's segment; 0 if it has none.
    static let carried = 152
    /// The request of the writer that has the priority: see `AppendPriority`.
    static let turn = 160
    /// The member that syncs for all, and since when: see `SegmentedLog.synchronize(through:togetherBy:_:)`.
    static let syncer = 168
    /// The decision of a later incarnation than the segment's own: see `SegmentSettlement`.
    static let settled = 176

    private static let magic = Array("GROUPLOG".utf8)
    private static let format: UInt32 = 1
    private static let baseLimit: UInt64 = 1 << 62

    enum Fault: Error, Equatable { case damaged, newer(UInt32) }

    func encoded() -> [UInt8] {
        var writer = ByteWriter()
        writer.write(raw: Self.magic)
        writer.write(Self.format)
        writer.write(UInt32(Self.size))
        for number in [salt, number, base, previousEnd, capacity] { writer.write(number) }
        writer.write(raw: container)
        writer.write(raw: incarnation)
        writer.write(created)
        writer.write(SipHash(key: (salt, 0)).hash(writer.bytes))
        return writer.bytes
    }

    init(
        salt: UInt64, number: UInt64, base: UInt64, previousEnd: UInt64, capacity: UInt64, container: [UInt8],
        incarnation: [UInt8], created: Int64
    ) {
        (self.salt, self.number, self.base, self.previousEnd) = (salt, number, base, previousEnd)
        (self.capacity, self.container, self.incarnation, self.created) = (capacity, container, incarnation, created)
    }

    init(decoding bytes: [UInt8]) throws(Fault) {
        do {
            var reader = ByteReader(bytes)
            guard try reader.raw(8) == Self.magic else { throw Fault.damaged }
            let format: UInt32 = try reader.number()
            if format > Self.format { throw Fault.newer(format) }
            guard try reader.number(UInt32.self) == UInt32(Self.size) else { throw Fault.damaged }
            salt = try reader.number()
            number = try reader.number()
            base = try reader.number()
            // A log never counts that far; from such a start a sequence number would overflow.
            guard base < Self.baseLimit else { throw Fault.damaged }
            previousEnd = try reader.number()
            capacity = try reader.number()
            container = try reader.raw(16)
            incarnation = try reader.raw(16)
            created = try reader.number()
            let checksum: UInt64 = try reader.number()
            guard checksum == SipHash(key: (salt, 0)).hash(bytes[..<96]) else { throw Fault.damaged }
        } catch let fault as Fault {
            throw fault
        } catch {
            throw .damaged
        }
    }

    /// Decodes a page that is damaged somewhere; nil if it is too short. Only records can show whether the salt is
    /// right.
    init?(guessedFrom bytes: [UInt8]) {
        var reader = ByteReader(bytes)
        guard (try? reader.raw(16)) != nil, let salt = try? reader.number(UInt64.self),
            let number = try? reader.number(UInt64.self), let base = try? reader.number(UInt64.self),
            let previousEnd = try? reader.number(UInt64.self), let capacity = try? reader.number(UInt64.self),
            let container = try? reader.raw(16), let incarnation = try? reader.raw(16),
            let created = try? reader.number(Int64.self)
        else { return nil }
        self.init(
            // A larger number was never reached.
            salt: salt, number: number, base: base < Self.baseLimit ? base : 0, previousEnd: previousEnd,
            capacity: capacity,
            container: container, incarnation: incarnation, created: created)
    }
}
