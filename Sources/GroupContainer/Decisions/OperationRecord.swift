/// What a member notes in staging before a change, so that another member can finish after its death: which inode
/// moves from where to where, and where in the journal to look for the record. See `Repair`.
struct OperationRecord: Equatable, Sendable {
    /// Between which places the inode moves. `path` and `from` are the record's.
    enum Way: UInt8, Sendable {
        /// From staging to `path`: what was made.
        case intoPlace = 1
        /// From `path` into staging: what is removed.
        case intoStaging = 2
        /// From `from` to `path`.
        case fromPlaceToPlace = 3
        /// It stays at `path`; the mode that the record says is set.
        case inPlace = 4
    }

    var way: Way
    var inode: UInt64
    /// The journal's end before the change.
    var journalFile: UInt64
    var journalOffset: UInt64
    var change: ChangeRecord

    /// Whether the change happened, from what stands in staging, at `path` and at `from` now; nil where nothing does. A
    /// rename is atomic: the inode stands at exactly one end of its way.
    func hasHappened(staged: UInt64?, place: ItemState?, origin: UInt64?) -> Bool {
        switch way {
        case .intoPlace: place?.inode == inode && staged == nil
        case .intoStaging: staged == inode
        case .fromPlaceToPlace: place?.inode == inode && origin != inode
        case .inPlace: place?.inode == inode && place?.mode == change.state?.mode
        }
    }

    /// The journal's file that a note, by its first bytes, says is to be looked through; nil for one that was cut
    /// short.
    static func journalFile(ofNote bytes: [UInt8]) -> UInt64? {
        var reader = ByteReader(bytes)
        guard (try? reader.raw(8)) == magic, (try? reader.raw(24)) != nil else { return nil }
        return try? reader.number()
    }

    /// A record fits into a file of the log.
    static let largest = 8 << 20
    /// Before the change.
    private static let headSize = 48
    private static let magic = Array("GROUPOP3".utf8)

    func encoded() -> [UInt8] {
        var writer = ByteWriter()
        let body = change.encoded()
        writer.write(raw: Self.magic)
        writer.write(UInt64(Self.headSize + body.count))
        writer.write(UInt64(way.rawValue))
        writer.write(inode)
        writer.write(journalFile)
        writer.write(journalOffset)
        writer.write(raw: body)
        writer.write(SipHash(key: (0, 0)).hash(writer.bytes))
        return writer.bytes
    }

    /// Nil for a file that was cut short: then `pending` was not yet set, and nothing happened.
    init?(decoding bytes: [UInt8]) {
        var head = ByteReader(bytes)
        guard (try? head.raw(8)) == Self.magic, let size = try? head.number(UInt64.self), size >= Self.headSize,
            let count = Int(exactly: size), bytes.count >= 8, count <= bytes.count - 8
        else { return nil }
        let body = Array(bytes[..<count])
        var tail = ByteReader(Array(bytes[count..<(count + 8)]))
        guard let checksum = try? tail.number(UInt64.self), checksum == SipHash(key: (0, 0)).hash(body) else {
            return nil
        }
        var reader = ByteReader(body)
        guard (try? reader.raw(16)) != nil, let number = try? reader.number(UInt64.self),
            let way = UInt8(exactly: number).flatMap(Way.init), let inode = try? reader.number(UInt64.self),
            let file = try? reader.number(UInt64.self), let offset = try? reader.number(UInt64.self),
            let rest = try? reader.raw(reader.remaining), let change = try? ChangeRecord(decoding: rest)
        else { return nil }
        (self.way, self.inode, journalFile, journalOffset, self.change) = (way, inode, file, offset, change)
    }

    init(way: Way, inode: UInt64, journalFile: UInt64, journalOffset: UInt64, change: ChangeRecord) {
        (self.way, self.inode, self.change) = (way, inode, change)
        (self.journalFile, self.journalOffset) = (journalFile, journalOffset)
    }
}
