// Imports GroupBytes only: no file, clock or process.

import GroupBytes

/// The first page of a segment: written once, before the file gets its name.
package struct SegmentHeader: Equatable, Sendable {
    /// A random number for each segment, so that records of another segment have wrong checksums in it.
    package var salt: UInt64
    /// 1 for the first segment of a log, then ascending.
    package var number: UInt64
    /// The sequence number before the segment's first record: the number of counted records in all earlier segments,
    /// plus the sequence numbers that cuts skipped.
    package var base: UInt64
    /// The end of the segment before this one. Records after that offset in that segment do not count.
    package var previousEnd: UInt64
    /// The size of the segment's file, in bytes.
    package var capacity: UInt64
    /// The sixteen bytes of the log's owner: a segment of another owner does not belong to this log.
    package var identity: [UInt8]
    package var incarnation: [UInt8]
    /// Nanoseconds since 1970.
    package var created: Int64

    package static let size = 4_096
    /// The offsets of mutable words, after the checksummed part.
    static let durableMark = 128
    /// Not 0 if an `fdatasync` of the segment failed.
    static let syncFailed = 136
    /// The end of the segment if it was cut, because the records from there on were damaged: see
    /// `RecordHeader.checked`.
    static let cut = 144
    /// The end of the preamble of a compacted log's segment; 0 if it has none.
    static let preambleEnd = 152
    /// The writer that appends first: see `AppendPriority`.
    static let priority = 160
    /// The process that syncs for all waiting processes, and since when: see
    /// `SegmentedLog.synchronizeTogether(through:)`.
    static let syncer = 168
    /// The decision that a recovery made in a later incarnation than the segment's: see `RecoveryDecision`.
    static let recoveryDecision = 176

    private static let magic = Array("GROUPLOG".utf8)
    private static let format: UInt32 = 1
    /// The limit of `base`, for readers and writers: no log has that many records.
    static let baseLimit: UInt64 = 1 << 62
    /// The largest number of a segment: a cursor has no room for larger ones.
    package static let lastNumber = UInt64(UInt32.max)

    package enum Fault: Error, Equatable { case damaged, newer(UInt32) }

    /// Whether the segment before this one can have ended where this header says: after its first page, and where a
    /// record can begin. The first segment has none before it.
    var hasPossiblePreviousEnd: Bool {
        number <= 1 || previousEnd >= UInt64(Self.size) && previousEnd < 1 << 32 && previousEnd.isMultiple(of: 8)
    }

    /// Whether the segment after this one would have a number or a base beyond the limits.
    package var isOutOfNumbers: Bool { number >= Self.lastNumber || isNearBaseLimit }

    /// Whether the next segment's base may be beyond the limit: it is larger by the records of this one, which take 24
    /// bytes and more, and by as many that a cut leaves out.
    private var isNearBaseLimit: Bool { base >= Self.baseLimit || Self.baseLimit - base <= capacity / 8 }

    /// The header with a base of 0 where no log has come to its base: for a salvage, which numbers the records anew.
    var withReachableBase: SegmentHeader {
        var header = self
        if isNearBaseLimit { header.base = 0 }
        return header
    }

    func encoded() -> [UInt8] {
        var writer = ByteWriter()
        writer.write(raw: Self.magic)
        writer.write(Self.format)
        writer.write(UInt32(Self.size))
        for number in [salt, number, base, previousEnd, capacity] { writer.write(number) }
        writer.write(raw: identity)
        writer.write(raw: incarnation)
        writer.write(created)
        writer.write(SipHash(key: (salt, 0)).hash(writer.bytes))
        return writer.bytes
    }

    init(
        salt: UInt64, number: UInt64, base: UInt64, previousEnd: UInt64, capacity: UInt64, identity: [UInt8],
        incarnation: [UInt8], created: Int64
    ) {
        self.salt = salt
        self.number = number
        self.base = base
        self.previousEnd = previousEnd
        self.capacity = capacity
        self.identity = identity
        self.incarnation = incarnation
        self.created = created
    }

    package init(decoding bytes: [UInt8]) throws(Fault) {
        do {
            var reader = ByteReader(bytes)
            guard try reader.raw(8) == Self.magic else { throw Fault.damaged }
            let format: UInt32 = try reader.number()
            if format > Self.format { throw Fault.newer(format) }
            guard try reader.number(UInt32.self) == UInt32(Self.size) else { throw Fault.damaged }
            salt = try reader.number()
            number = try reader.number()
            base = try reader.number()
            // No log has that many records, and sequence numbers after this base could overflow.
            guard base < Self.baseLimit else { throw Fault.damaged }
            previousEnd = try reader.number()
            capacity = try reader.number()
            identity = try reader.raw(16)
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

    /// Decodes a damaged page as far as possible; nil if it is too short. The salt may be wrong, too: it is right if
    /// checksums of records match.
    init?(guessedFrom bytes: [UInt8]) {
        var reader = ByteReader(bytes)
        guard (try? reader.raw(16)) != nil, let salt = try? reader.number(UInt64.self),
            let number = try? reader.number(UInt64.self), let base = try? reader.number(UInt64.self),
            let previousEnd = try? reader.number(UInt64.self), let capacity = try? reader.number(UInt64.self),
            let identity = try? reader.raw(16), let incarnation = try? reader.raw(16),
            let created = try? reader.number(Int64.self)
        else { return nil }
        self.init(
            // No log has that many records.
            salt: salt, number: number, base: base < Self.baseLimit ? base : 0, previousEnd: previousEnd,
            capacity: capacity,
            identity: identity, incarnation: incarnation, created: created)
    }
}
