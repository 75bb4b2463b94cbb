// Imports GroupBytes only: no file, clock or process.

import GroupBytes

/// The manifest of all steps of a transaction. Its final name in staging is the commit: a member that finds it takes
/// the remaining steps. See `TransactionChanges`.
struct TransactionManifest: Equatable, Sendable {
    /// A step; each part of the record has one.
    struct Step: Equatable, Sendable {
        /// The suffix of the step's name in staging.
        var number: UInt32
        /// The inode of the item that arrives at the part's path; for a removal, of the item to be removed.
        var inode: UInt64
        /// For a move: whether it may replace an item at the destination.
        var replaces: Bool
    }

    /// Whether all files that the manifest names were on the disk before the manifest.
    var isDurable: Bool
    /// The journal's end before the transaction.
    var journalSegment: UInt64
    var journalOffset: UInt64
    var steps: [Step]
    /// The transaction's record, with as many parts as there are steps.
    var record: ChangeRecord

    private static let magic = Array("GROUPTX1".utf8)

    /// Returns the journal's segment in which to look for the record, as for an intent record.
    static func journalSegment(ofManifest bytes: [UInt8]) -> UInt64? {
        var reader = ByteReader(bytes)
        return (try? reader.raw(8)) == magic ? try? reader.number() : nil
    }

    /// The largest manifest: a record fits into one segment of the log; a step has 16 bytes, its part at least 6.
    static let largest = 32 << 20

    func encoded() -> [UInt8] {
        var writer = ByteWriter()
        writer.write(raw: Self.magic)
        writer.write(journalSegment)
        writer.write(journalOffset)
        writer.write(UInt32(isDurable ? 1 : 0))
        writer.write(UInt32(truncatingIfNeeded: steps.count))
        for step in steps {
            writer.write(step.number)
            writer.write(UInt32(step.replaces ? 1 : 0))
            writer.write(step.inode)
        }
        writer.write(raw: record.encoded())
        writer.write(SipHash(key: (0, 0)).hash(writer.bytes))
        return writer.bytes
    }

    /// Decodes a manifest; nil for any file that was not written whole.
    init?(decoding bytes: [UInt8]) {
        let body = bytes.dropLast(8)
        var tail = ByteReader(Array(bytes.suffix(8)))
        guard let checksum = try? tail.number(UInt64.self), checksum == SipHash(key: (0, 0)).hash(body),
            let manifest = try? TransactionManifest(body: Array(body)), manifest.record.kind == .transaction,
            manifest.steps.count == manifest.record.parts.count
        else { return nil }
        self = manifest
    }

    private init(body: [UInt8]) throws {
        var reader = ByteReader(body)
        guard try reader.raw(8) == Self.magic else { throw ChangeRecord.Fault.unknown }
        journalSegment = try reader.number()
        journalOffset = try reader.number()
        isDurable = try reader.number(UInt32.self) & 1 == 1
        let count: UInt32 = try reader.number()
        steps = []
        while steps.count < count {
            let number: UInt32 = try reader.number()
            let flags: UInt32 = try reader.number()
            steps.append(Step(number: number, inode: try reader.number(), replaces: flags & 1 == 1))
        }
        record = try ChangeRecord(decoding: try reader.raw(reader.remaining))
    }

    init(
        isDurable: Bool, journalSegment: UInt64, journalOffset: UInt64, steps: [Step], record: ChangeRecord
    ) {
        self.isDurable = isDurable
        self.journalSegment = journalSegment
        self.journalOffset = journalOffset
        self.steps = steps
        self.record = record
    }
}
