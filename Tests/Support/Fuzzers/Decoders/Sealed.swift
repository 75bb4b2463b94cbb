import GroupBytes

@testable import GroupContainer
@testable import GroupLog

/// Formats with a checksum of their own. Bytes are decoded twice: unchanged, when they are a value only if the checksum
/// matches, and with a correct checksum, so that the code after the comparison is reached.
extension Decoder {
    static let sealed = [intentRecord, manifest, page, checkpoint]

    /// Returns the bytes with their hash, as a number, at `end`.
    private static func sealed(_ bytes: [UInt8], key: (UInt64, UInt64) = (0, 0), at end: Int) -> [UInt8] {
        var (sealed, writer) = (bytes, ByteWriter())
        writer.write(SipHash(key: key).hash(bytes[..<end]))
        sealed.replaceSubrange(end..<(end + 8), with: writer.bytes)
        return sealed
    }

    private static func number(_ bytes: [UInt8], at place: Int) -> UInt64 {
        CheckpointEntry.number(bytes[...], at: place)
    }

    /// Decodes the bytes twice: `read` returns whether bytes are a value, `seal` corrects the checksum.
    private static func both(
        _ bytes: [UInt8], _ seal: ([UInt8]) -> [UInt8]?, _ read: ([UInt8]) throws -> Bool
    ) throws -> Bool {
        let isSomething = try read(bytes)
        guard let sealed = seal(bytes) else { return isSomething }
        try expect(!isSomething || sealed == bytes, "it is taken although its checksum does not fit")
        return try read(sealed) || isSomething
    }

    private static let intentRecord = Decoder(
        "intent",
        [
            "moved": IntentRecord(
                way: .fromPlaceToPlace, inode: 9, journalSegment: 3, journalOffset: 4_096,
                change: change(.moved, from: [UInt8]("old"))
            ).encoded(),
            "made": IntentRecord(
                way: .intoPlace, inode: .max, journalSegment: 1, journalOffset: 0, change: transaction
            ).encoded(),
        ]
    ) { bytes in
        try both(bytes, seal(ofIntentRecord:)) { bytes in
            guard let record = IntentRecord(decoding: bytes) else { return false }
            try expect(
                IntentRecord(decoding: record.encoded()) == record, "another intent record comes back: \(record)")
            try expect(
                IntentRecord.journalSegment(ofIntentRecord: bytes) == record.journalSegment,
                "another segment of the journal")
            return true
        }
    }

    private static func seal(ofIntentRecord bytes: [UInt8]) -> [UInt8]? {
        guard bytes.count >= 16, let size = Int(exactly: number(bytes, at: 8)), size >= 16, size <= bytes.count - 8
        else { return nil }
        return sealed(bytes, at: size)
    }

    private static let manifest = Decoder(
        "transaction",
        [
            "three": TransactionManifest(
                isDurable: true, journalSegment: 1, journalOffset: 5_000,
                steps: (0..<3).map { .init(number: $0, inode: UInt64($0) + 5, replaces: $0 == 1) },
                record: transaction
            ).encoded()
        ]
    ) { bytes in
        try both(bytes, { $0.count < 8 ? nil : sealed($0, at: $0.count - 8) }) { bytes in
            guard let manifest = TransactionManifest(decoding: bytes) else { return false }
            try expect(TransactionManifest(decoding: manifest.encoded()) == manifest, "another comes back: \(manifest)")
            try expect(manifest.steps.count == manifest.record.parts.count, "steps without parts")
            return true
        }
    }

    private static let page = Decoder(
        "log-page",
        [
            "first": SegmentHeader(
                salt: 0x1234_5678_9abc_def0, number: 1, base: 0, previousEnd: 0, capacity: 16_384,
                identity: [UInt8](repeating: 3, count: 16), incarnation: [UInt8](repeating: 4, count: 16), created: 9
            ).encoded()
        ]
    ) { bytes in
        _ = SegmentHeader(guessedFrom: bytes)
        let seal = { (bytes: [UInt8]) in
            bytes.count < 104 ? nil : sealed(bytes, key: (number(bytes, at: 16), 0), at: 96)
        }
        return try both(bytes, seal) { bytes in
            do {
                let header = try SegmentHeader(decoding: bytes)
                try expect(try SegmentHeader(decoding: header.encoded()) == header, "another comes back: \(header)")
                return true
            } catch {
                guard error is SegmentHeader.Fault else { throw error }
                return false
            }
        }
    }
}

extension Decoder {
    private static var treeIndex: TreeIndex {
        var treeIndex = TreeIndex()
        for (number, path) in ["a", "a/b", "c", "ä\u{1}"].map({ [UInt8]($0.utf8) }).enumerated() {
            var state = state
            state.inode = UInt64(number)
            if number == 0 { state.type = .directory }
            treeIndex.add(.init(state: state, generation: UInt64(number)), at: ItemLocation(trusted: path))
        }
        return treeIndex
    }

    private static func encode(_ treeIndex: TreeIndex, _ header: CheckpointHeader) -> [UInt8] {
        var bytes: [UInt8] = []
        CheckpointPieces(treeIndex: treeIndex, header: header).forEach { bytes += $0 }
        return bytes
    }

    private static let header = CheckpointHeader(
        container: [UInt8](repeating: 3, count: 16),
        position: LogPosition(segment: 1, offset: 5_000, sequence: 7, checksum: 8), segmentSalt: 9, newestTerm: 1,
        nonce: 77,
        made: 5)

    private static let checkpoint = Decoder(
        "checkpoint",
        [
            "four": encode(treeIndex, header), "empty": encode(TreeIndex(), header),
        ]
    ) { bytes in
        try both(bytes, seal(ofCheckpoint:)) { bytes in
            do {
                let checkpoint = try Checkpoint(bytes)
                _ = try checkpoint.item(at: ItemLocation(trusted: [UInt8]("a/b")))
                _ = try checkpoint.below(ItemLocation(trusted: [UInt8]("a")))
                let treeIndex = try checkpoint.treeIndex()
                let again = encode(treeIndex, checkpoint.header)
                // A search finds each item.
                for (location, item) in treeIndex {
                    try expect(try checkpoint.item(at: location) == item, "not found: \(location.bytes)")
                }
                try expect(treeIndex.count == checkpoint.count, "two items at one place")
                try expect(
                    try Checkpoint(again).treeIndex().elementsEqual(treeIndex, by: ==), "another picture comes back")
                return true
            } catch {
                guard error is CheckpointFault else { throw error }
                return false
            }
        }
    }

    /// Header and entries.
    private static func seal(ofCheckpoint bytes: [UInt8]) -> [UInt8]? {
        guard bytes.count >= CheckpointHeader.size else { return nil }
        let nonce = number(bytes, at: 96)
        var sealed = sealed(bytes, key: (nonce, 0), at: CheckpointHeader.size - 8)
        let count = Int(truncatingIfNeeded: min(number(bytes, at: 80), 64))
        guard bytes.count >= CheckpointHeader.size + count * 8 else { return sealed }
        for entry in 0..<count {
            let start = number(bytes, at: CheckpointHeader.size + entry * 8)
            let isLast = entry == count - 1
            let end = isLast ? UInt64(bytes.count) : number(bytes, at: CheckpointHeader.size + entry * 8 + 8)
            guard end <= bytes.count, start >= CheckpointHeader.size + count * 8, start < end, end - start >= 8 else {
                continue
            }
            var writer = ByteWriter()
            let hash = SipHash(key: (nonce, UInt64(entry) + 1)).hash(bytes[Int(start)..<(Int(end) - 8)])
            writer.write(hash)
            sealed.replaceSubrange((Int(end) - 8)..<Int(end), with: writer.bytes)
        }
        return sealed
    }
}
