/// What a member writes into staging before it renames, so that whoever comes after its death can finish: which inode
/// moves where, and where in the journal to look for the record. See `Repair`.
struct OperationRecord: Equatable, Sendable {
    /// The file or folder that moves.
    var inode: UInt64
    /// The journal's end before the change.
    var journalFile: UInt64
    var journalOffset: UInt64
    var change: ChangeRecord

    private static let magic = Array("GROUPOP1".utf8)

    func encoded() -> [UInt8] {
        var writer = ByteWriter()
        writer.write(raw: Self.magic)
        writer.write(inode)
        writer.write(journalFile)
        writer.write(journalOffset)
        writer.write(raw: change.encoded())
        writer.write(SipHash(key: (0, 0)).hash(writer.bytes))
        return writer.bytes
    }

    /// Nil for a file that was cut short: then `pending` was not yet set, and nothing happened.
    init?(decoding bytes: [UInt8]) {
        let body = bytes.dropLast(8)
        var tail = ByteReader(Array(bytes.suffix(8)))
        guard let checksum = try? tail.number(UInt64.self), checksum == SipHash(key: (0, 0)).hash(body) else {
            return nil
        }
        var reader = ByteReader(Array(body))
        guard (try? reader.raw(8)) == Self.magic, let inode = try? reader.number(UInt64.self),
            let file = try? reader.number(UInt64.self), let offset = try? reader.number(UInt64.self),
            let rest = try? reader.raw(reader.remaining), let change = try? ChangeRecord(decoding: rest)
        else { return nil }
        (self.inode, journalFile, journalOffset, self.change) = (inode, file, offset, change)
    }

    init(inode: UInt64, journalFile: UInt64, journalOffset: UInt64, change: ChangeRecord) {
        (self.inode, self.journalFile, self.journalOffset, self.change) = (inode, journalFile, journalOffset, change)
    }
}
