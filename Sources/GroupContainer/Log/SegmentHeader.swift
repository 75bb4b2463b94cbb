// Imports nothing: no file, clock or process.

/// The first page of a mapped log's file: written once, before the file gets its name.
struct SegmentHeader: Equatable, Sendable {
    /// Random for each file: checksums of another file's records do not pass.
    var salt: UInt64
    /// 1 for the first file of a log, then ascending.
    var number: UInt64
    /// How many counted records all files before it hold.
    var base: UInt64
    /// Where the file before this one ends. What may stand behind that place in it never happened.
    var previousEnd: UInt64
    var capacity: UInt64
    var container: [UInt8]
    var incarnation: [UInt8]
    /// Nanoseconds since 1970.
    var created: Int64

    static let size = 4_096
    /// Mutable words, after the checksummed part.
    static let durableMark = 128
    static let poisoned = 136
    /// Where the file ends, because what stood there was damaged: see `RecordHeader.checked`.
    static let cut = 144
    /// Where the records end that a compacted file was made with; 0 where there are none.
    static let carried = 152
    /// Who has lost so often that the others let it go first: see `AppendPriority`.
    static let turn = 160
    /// Who syncs for all, and since when: see `SegmentedLog.synchronize(through:togetherBy:)`.
    static let syncer = 168
    /// What a later incarnation than the one that it was made in has found: see `SegmentSettlement`.
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
            // A log never counts that far; from such a start a sequence would overflow.
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

    /// What a page says that is broken somewhere; nil where it is too short. Whether the salt is right, records tell.
    init?(guessedFrom bytes: [UInt8]) {
        var reader = ByteReader(bytes)
        guard (try? reader.raw(16)) != nil, let salt = try? reader.number(UInt64.self),
            let number = try? reader.number(UInt64.self), let base = try? reader.number(UInt64.self),
            let previousEnd = try? reader.number(UInt64.self), let capacity = try? reader.number(UInt64.self),
            let container = try? reader.raw(16), let incarnation = try? reader.raw(16),
            let created = try? reader.number(Int64.self)
        else { return nil }
        self.init(
            // What is larger was never counted.
            salt: salt, number: number, base: base < Self.baseLimit ? base : 0, previousEnd: previousEnd,
            capacity: capacity,
            container: container, incarnation: incarnation, created: created)
    }
}
