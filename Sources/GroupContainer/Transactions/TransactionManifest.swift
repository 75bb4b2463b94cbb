// Imports nothing: no file, clock or process.

/// All that a transaction is going to do. The manifest is committed by getting its final name in staging: a member that
/// finds it there takes the steps that are still to be taken. See `TransactionChanges`.
struct TransactionManifest: Equatable, Sendable {
    /// To each part of the record belongs one.
    struct Step: Equatable, Sendable {
        /// The end of its name in staging.
        var number: UInt32
        /// Of what comes to stand at the part's path; for a removal, of what is to go.
        var inode: UInt64
        /// For what is moved: something else may stand at its destination.
        var replaces: Bool
    }

    /// Everything that it names was on the disk before it was.
    var isDurable: Bool
    /// The journal's end before the change.
    var journalFile: UInt64
    var journalOffset: UInt64
    var steps: [Step]
    /// A transaction, with as many parts as there are steps.
    var record: ChangeRecord

    private static let magic = Array("GROUPTX1".utf8)

    /// As for a note.
    static func journalFile(ofManifest bytes: [UInt8]) -> UInt64? {
        var reader = ByteReader(bytes)
        return (try? reader.raw(8)) == magic ? try? reader.number() : nil
    }

    /// A record fits into a file of the log; a step has 16 bytes, its part at least 6.
    static let largest = 32 << 20

    func encoded() -> [UInt8] {
        var writer = ByteWriter()
        writer.write(raw: Self.magic)
        writer.write(journalFile)
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

    /// Nil for anything else than what was written whole.
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
        journalFile = try reader.number()
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
        isDurable: Bool, journalFile: UInt64, journalOffset: UInt64, steps: [Step], record: ChangeRecord
    ) {
        (self.isDurable, self.journalFile, self.journalOffset) = (isDurable, journalFile, journalOffset)
        (self.steps, self.record) = (steps, record)
    }
}
