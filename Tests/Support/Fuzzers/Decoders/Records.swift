import FoundationEssentials
import GroupBytes

@testable import GroupContainer

/// Bodies of records, whose checksums are compared before.
extension Decoder {
    static let records = [journal, defaults, channel]

    static let state = ItemState(
        type: .file, inode: .max, size: 5, modified: -1, changed: .min, mode: 0o640, owner: 1_000, group: .max,
        contentHash: 77)

    static func change(_ kind: ChangeRecord.Kind, from: [UInt8]? = nil) -> ChangeRecord {
        ChangeRecord(
            kind, path: [UInt8]("Library/todo.json"), from: from, state: kind == .removed ? nil : state,
            isCoordinated: true, operation: (0..<16).map { UInt8($0) }, processIdentifier: 7,
            purpose: [UInt8]("todo-app"), time: 1_700_000_000_000_000_000)
    }

    static let transaction = ChangeRecord(
        transaction: [.created, .removed, .moved].map { kind in
            ChangePart(
                kind: kind, path: [UInt8]("Library/\(kind)"), from: kind == .moved ? [UInt8]("old") : nil,
                state: kind == .removed ? nil : state, wasDirectory: kind == .removed)
        },
        operation: (0..<16).map { UInt8($0) }, processIdentifier: 3, purpose: [UInt8]("tester"), time: -9)

    private static var exchanged: ChangeRecord {
        var record = change(.exchanged, from: [UInt8]("other"))
        record.otherState = state
        return record
    }

    private static let journal = Decoder(
        "journal",
        [
            "created": change(.created).encoded(), "removed": change(.removed).encoded(),
            "moved": change(.moved, from: [UInt8]("old")).encoded(), "exchanged": exchanged.encoded(),
            "transaction": transaction.encoded(), "term": change(.term).encoded(),
        ]
    ) { bytes in
        let record: ChangeRecord
        do throws(ChangeRecord.Fault) { record = try ChangeRecord(decoding: bytes) } catch { return false }
        try expect(try ChangeRecord(decoding: record.encoded()) == record, "another record comes back: \(record)")
        try expect(record.kind != .transaction || !record.changes.isEmpty, "a transaction of nothing")
        return true
    }

    private static let steps: [SuiteRecord.Step] = [
        .set("opened", .integer(-3)), .set("theme", .string("dark é")), .remove("old"), .removeAll,
        .carried("when", .date(Date(timeIntervalSinceReferenceDate: 0.5)), generation: 9),
        .set(
            "all",
            .dictionary([
                "a": .array([.bool(true), .double(.nan), .float(1.5), .data([0, 255])]), "b": .url("todo://x"),
                "c": .json([UInt8]("[null]")), "d": .unknown(kind: 200, [1]), "e": .array([]), "f": .dictionary([:]),
            ])),
    ]

    private static let defaults = Decoder(
        "defaults",
        Dictionary(
            uniqueKeysWithValues: steps.enumerated().map { number, step in
                ("step-\(number)", record([step]).encoded())
            } + [("batch", record(steps).encoded())])
    ) { bytes in
        let read: SuiteRecord
        do throws(ByteReader.TooShort) { read = try SuiteRecord(decoding: bytes) } catch {
            try expect((try? SuiteRecord.steps(in: bytes)) == nil, "steps of bytes that are not a record")
            return false
        }
        let steps = record(try SuiteRecord.steps(in: bytes)).encoded()
        try expect(steps == record(read.steps).encoded(), "other steps without the author")
        try expectReturn(read, { $0.encoded() }, { try SuiteRecord(decoding: $0) })
        let key = SuiteRecord.soleKey(ofBody: bytes.count) { offset in word(of: bytes, at: offset) }
        if let key {
            guard read.steps.count == 1, case .set(let name, _) = read.steps[0] else {
                throw Broken("a key of a record that is not a single set: \(read)")
            }
            let text = String(decoding: bytes[key], as: UTF8.self)
            try expect(text.utf8.elementsEqual(name.utf8), "another key: \(name)")
        }
        return true
    }

    private static func record(_ steps: [SuiteRecord.Step]) -> SuiteRecord {
        SuiteRecord(processIdentifier: 7, time: -1, purpose: "todo-app", steps: steps)
    }

    /// Zeros and the checksum follow a body.
    private static func word(of bytes: [UInt8], at offset: Int) -> UInt64 {
        (0..<8).reduce(0) { word, place in
            word | UInt64(offset + place < bytes.count ? bytes[offset + place] : 0) << UInt64(place * 8)
        }
    }

    private static let channelSteps: [String: ChannelRecord.Step] = [
        "signal": .post(nil), "message": .post([1, 2, 3]), "listen": .listen("widget", fromOldest: true),
        "acknowledge": .acknowledge("widget", upTo: 9), "remove": .remove("widget"),
        "carried-message": .carriedPost(number: 3, [7]), "carried-signal": .carriedPost(number: 4, nil),
        "carried-unknown": .carriedUnknown(number: 5, [9, 9]),
        "carried-listener": .carriedListener("widget", acknowledged: 2, since: -1),
    ]

    private static let channel = Decoder(
        "channel",
        channelSteps.mapValues {
            ChannelRecord(processIdentifier: 7, time: 12, purpose: "todo-app", step: $0).encoded()
        }
    ) { bytes in
        let record: ChannelRecord
        do throws(ByteReader.TooShort) { record = try ChannelRecord(decoding: bytes) } catch { return false }
        try expect(try ChannelRecord(decoding: record.encoded()) == record, "another record comes back: \(record)")
        return true
    }
}
