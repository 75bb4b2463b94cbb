import GroupBytes
import TestSupport
import Testing

@testable import GroupContainer

@Suite
struct `Change records` {
    static let state = ItemState(
        type: .file, inode: .max, size: 5, modified: -1, changed: .min, mode: 0o640, owner: 1_000, group: .max,
        contentHash: 77)

    static func change(_ kind: ChangeRecord.Kind, from: [UInt8]? = nil, state: ItemState? = Self.state) -> ChangeRecord
    {
        ChangeRecord(
            kind, path: Array("Library/todo.json".utf8), from: from, state: state, isCoordinated: from == nil,
            operation: (0..<16).map { UInt8($0) }, processIdentifier: -3, purpose: Array("tester".utf8), time: -9,
            term: 12)
    }

    static let changes = [
        change(.created), change(.modified), change(.removed, state: nil), change(.moved, from: Array("old".utf8)),
        change(.touched), change(.term, state: nil), change(.degraded, state: nil), exchanged, change(.moved, from: []),
        removedDirectory, transaction,
    ]

    private static var removedDirectory: ChangeRecord {
        var change = change(.removed, state: nil)
        change.wasDirectory = true
        return change
    }

    private static var exchanged: ChangeRecord {
        var change = change(.exchanged, from: Array("other".utf8))
        change.otherState = state
        change.otherState?.inode = 7
        return change
    }

    static var transaction: ChangeRecord {
        let kinds: [ChangeRecord.Kind] = [.created, .modified, .removed, .moved, .touched]
        return ChangeRecord(
            transaction: kinds.map { kind in
                ChangePart(
                    kind: kind, path: Array("Library/\(kind)".utf8), from: kind == .moved ? Array("old".utf8) : nil,
                    state: kind == .removed ? nil : state, wasDirectory: kind == .removed)
            },
            operation: (0..<16).map { UInt8($0) }, processIdentifier: 3, purpose: Array("tester".utf8), time: -9)
    }

    @Test(arguments: changes)
    func `a change record comes back from its bytes`(change: ChangeRecord) throws {
        #expect(try ChangeRecord(decoding: change.encoded()) == change)
    }

    @Test(arguments: changes)
    func `a change record that is cut short is refused`(change: ChangeRecord) {
        let bytes = change.encoded()
        for count in 0..<bytes.count {
            #expect(throws: ChangeRecord.Fault.unknown) { try ChangeRecord(decoding: Array(bytes[..<count])) }
        }
    }

    @Test(arguments: [0, 8, 63, 66, 255] as [UInt8])
    func `a change record of a kind that a newer version may have is refused as unknown`(kind: UInt8) {
        var bytes = Self.change(.created).encoded()
        bytes[0] = kind
        #expect(throws: ChangeRecord.Fault.unknown) { try ChangeRecord(decoding: bytes) }
    }

    /// The offset of the first part: behind the kind, the flags, two zeros, numbers, operation and count.
    static let firstPart = 44

    @Test(arguments: [0, 8, 7, 64, 65, 255] as [UInt8])
    func `a transaction record with a part that changes no item is refused`(kind: UInt8) {
        var bytes = Self.transaction.encoded()
        #expect(bytes[Self.firstPart] == 1)
        bytes[Self.firstPart] = kind
        #expect(throws: ChangeRecord.Fault.unknown) { try ChangeRecord(decoding: bytes) }
    }

    @Test(arguments: [0, 6, 1 << 31, .max] as [UInt32])
    func `a transaction record with a wrong count of parts is refused`(count: UInt32) {
        var bytes = Self.transaction.encoded()
        var writer = ByteWriter()
        writer.write(count)
        bytes.replaceSubrange(Self.firstPart - 4..<Self.firstPart, with: writer.bytes)
        #expect(throws: ChangeRecord.Fault.unknown) { try ChangeRecord(decoding: bytes) }
    }

    @Test func `random bytes decode to no change record, or to one that comes back from its bytes`() {
        var generator = SeededGenerator(seed: 3)
        for turn in 0..<10_000 {
            let bytes = mutated(Self.changes[turn % Self.changes.count].encoded(), using: &generator)
            if let change = try? ChangeRecord(decoding: bytes) {
                #expect((try? ChangeRecord(decoding: change.encoded())) == change)
            }
        }
    }

    @Test(arguments: ItemType.allCases, [nil, 0, .max] as [UInt64?])
    func `an item's state comes back from its bytes`(type: ItemType, hash: UInt64?) throws {
        var state = Self.state
        (state.type, state.contentHash) = (type, hash)
        var writer = ByteWriter()
        state.encode(into: &writer)
        var reader = ByteReader(writer.bytes)
        #expect(try ItemState(from: &reader) == state)
        #expect(reader.remaining == 0)
        for count in 0..<writer.bytes.count {
            var short = ByteReader(Array(writer.bytes[..<count]))
            #expect(throws: ByteReader.TooShort.self) { try ItemState(from: &short) }
        }
    }

    @Test func `an item's state of an unknown type is skipped to its end`() throws {
        var writer = ByteWriter()
        Self.state.encode(into: &writer)
        var bytes = writer.bytes
        bytes[0] = 200
        var reader = ByteReader(bytes + [1])
        #expect(try ItemState(from: &reader) == nil)
        #expect(reader.remaining == 1)
    }
}

@Suite
struct `Item states` {
    @Test func `two states that differ only in the content's hash look alike`() {
        var other = `Change records`.state
        other.contentHash = nil
        #expect(`Change records`.state.looksLike(other))
    }

    @Test func `a moved item keeps its content's hash if its size, date and inode are the same`() {
        var moved = `Change records`.state
        (moved.contentHash, moved.changed) = (nil, 9)
        #expect(moved.knowing(`Change records`.state).contentHash == 77)
        #expect(moved.knowing(nil).contentHash == nil)
        for change in [{ $0.size -= 1 }, { $0.modified += 1 }, { $0.inode -= 1 }] as [(inout ItemState) -> Void] {
            var other = moved
            change(&other)
            #expect(other.knowing(`Change records`.state).contentHash == nil)
        }
    }

    @Test func `two states that differ in any other field do not look alike`() {
        let state = `Change records`.state
        let changes: [(inout ItemState) -> Void] = [
            { $0.inode -= 1 }, { $0.size -= 1 }, { $0.modified += 1 }, { $0.changed += 1 }, { $0.mode = 0 },
            { $0.owner = 0 }, { $0.group = 0 }, { $0.type = .symbolicLink },
        ]
        for change in changes {
            var other = state
            change(&other)
            #expect(!state.looksLike(other))
        }
    }

    @Test func `states of a directory look alike whatever their dates and sizes`() {
        var directory = `Change records`.state
        directory.type = .directory
        var other = directory
        (other.size, other.modified, other.changed) = (1, 2, 3)
        #expect(directory.looksLike(other))
        other.mode = 0o700
        #expect(!directory.looksLike(other))
    }
}
