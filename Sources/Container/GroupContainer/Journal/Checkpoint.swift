// Imports GroupBytes and LogPosition only: no file, clock or process.

import GroupBytes
import struct GroupLog.LogPosition

/// The bytes of a checkpoint, in a mapped file, in a file that is read, or in memory.
protocol CheckpointBytes: Sendable {
    var size: Int { get }
    /// Returns bytes, which must be within the size.
    func bytes(_ offset: Int, count: Int) -> [UInt8]
}

extension [UInt8]: CheckpointBytes {
    var size: Int { count }
    func bytes(_ offset: Int, count: Int) -> [UInt8] { Array(self[offset..<(offset + count)]) }
}

/// A fault of a checkpoint.
enum CheckpointFault: Error, Equatable { case damaged, newer(UInt32) }

/// A tree index in a file: a header, a table with the start of each entry, and the entries in the order of their paths'
/// bytes, so that an entry is found without reading the others. Each entry has a checksum whose key contains its
/// number: whichever byte is wrong, a reader of that byte detects it.
struct Checkpoint<Bytes: CheckpointBytes>: Sendable {
    let header: CheckpointHeader
    /// The number of items.
    let count: Int
    let bytes: Bytes

    /// Reads the header only.
    init(_ bytes: Bytes) throws(CheckpointFault) {
        let first = bytes.bytes(0, count: min(bytes.size, CheckpointHeader.size))
        let byteCount: Int
        (header, count, byteCount) = try CheckpointHeader.decode(first)
        if bytes.size != byteCount || byteCount < CheckpointHeader.size + count * 8 { throw .damaged }
        self.bytes = bytes
    }

    /// Returns the item at a location. Logarithmic.
    func item(at location: ItemLocation) throws(CheckpointFault) -> TreeIndex.Item? {
        let number = try firstNumber { location.bytes.lexicographicallyPrecedes($0) || location.bytes == $0 }
        guard number < count else { return nil }
        let entry = try entry(number)
        return entry.path == location.bytes ? entry.item : nil
    }

    /// Returns everything below a directory, whether or not the directory itself has an entry. Linear in the result.
    func below(_ directory: ItemLocation) throws(CheckpointFault) -> [(path: [UInt8], item: TreeIndex.Item)] {
        let prefix = directory.bytes + [UInt8(ascii: "/")]
        var number = try firstNumber { prefix.lexicographicallyPrecedes($0) }
        var found: [(path: [UInt8], item: TreeIndex.Item)] = []
        while number < count {
            let entry = try entry(number)
            guard entry.path.starts(with: prefix) else { break }
            found.append(entry)
            number += 1
        }
        return found
    }

    /// Returns the number of the first entry whose path meets a condition that all later ones meet, too.
    private func firstNumber(where isBehind: ([UInt8]) -> Bool) throws(CheckpointFault) -> Int {
        var (low, high) = (0, count)
        while low < high {
            let middle = (low + high) / 2
            if isBehind(try entry(middle).path) { high = middle } else { low = middle + 1 }
        }
        return low
    }

    private func entry(_ number: Int) throws(CheckpointFault) -> (path: [UInt8], item: TreeIndex.Item) {
        let isLast = number == count - 1
        let table = bytes.bytes(CheckpointHeader.size + number * 8, count: isLast ? 8 : 16)
        let start = CheckpointEntry.number(table[...], at: 0)
        let end = isLast ? UInt64(bytes.size) : CheckpointEntry.number(table[...], at: 8)
        guard let start = Int(exactly: start), let end = Int(exactly: end), start >= 0, start <= end,
            end <= bytes.size, end - start <= CheckpointEntry.largest
        else { throw .damaged }
        let content = bytes.bytes(start, count: end - start)
        guard let entry = CheckpointEntry.decode(content[...], number, nonce: header.nonce) else { throw .damaged }
        return entry
    }
}

extension Checkpoint {
    /// Returns the whole tree index; checks every byte. Linear; reads a piece at a time.
    func treeIndex() throws(CheckpointFault) -> TreeIndex {
        var treeIndex = TreeIndex()
        var table = PieceReader(bytes, from: CheckpointHeader.size)
        var entries = PieceReader(bytes, from: CheckpointHeader.size + count * 8)
        var previous: [UInt8] = []
        var end = count == 0 ? UInt64(bytes.size) : try table.nextNumber()
        for number in 0..<count {
            let start = end
            end = number == count - 1 ? UInt64(bytes.size) : try table.nextNumber()
            guard start == UInt64(entries.position), end >= start, end - start <= UInt64(CheckpointEntry.largest),
                let entry = CheckpointEntry.decode(
                    try entries.next(Int(end - start)), number, nonce: header.nonce),
                previous.lexicographicallyPrecedes(entry.path)
            else { throw .damaged }
            previous = entry.path
            // Entries that are not items any more are left out: earlier versions took the content of another
            // container's `.group` for items.
            if let location = try? ItemLocation(entry.path) { treeIndex.add(entry.item, at: location) }
        }
        if entries.position != bytes.size { throw .damaged }
        return treeIndex
    }
}

/// Reads bytes in their order, a piece at a time.
private struct PieceReader<Bytes: CheckpointBytes> {
    private let bytes: Bytes
    private(set) var position: Int
    private var piece: ArraySlice<UInt8> = []

    init(_ bytes: Bytes, from position: Int) { (self.bytes, self.position) = (bytes, position) }

    mutating func nextNumber() throws(CheckpointFault) -> UInt64 {
        let bytes = try next(8)
        return CheckpointEntry.number(bytes, at: bytes.startIndex)
    }

    mutating func next(_ count: Int) throws(CheckpointFault) -> ArraySlice<UInt8> {
        if piece.count < count {
            if position + count > bytes.size { throw .damaged }
            piece = bytes.bytes(position, count: min(max(count, CheckpointPieces.size), bytes.size - position))[...]
            if piece.count < count { throw .damaged }
        }
        defer {
            piece = piece.dropFirst(count)
            position += count
        }
        return piece.prefix(count)
    }
}

/// The bytes of a checkpoint's file, which are made a piece at a time.
struct CheckpointPieces {
    static let size = 65_536

    let treeIndex: TreeIndex
    let header: CheckpointHeader

    /// Calls `write` with the pieces, one after the other.
    func forEach<Failure: Error>(_ write: ([UInt8]) throws(Failure) -> Void) throws(Failure) {
        // The size of an entry fits: a path has at most 4,095 bytes.
        var sizes: [UInt16] = []
        sizes.reserveCapacity(treeIndex.count)
        for (location, _) in treeIndex { sizes.append(UInt16(CheckpointEntry.size(ofPath: location.bytes.count))) }
        var offset = CheckpointHeader.size + sizes.count * 8
        let byteCount = sizes.reduce(offset) { $0 + Int($1) }
        var piece = ByteWriter(capacity: Self.size)
        piece.write(raw: header.encoded(count: sizes.count, byteCount: byteCount))
        for size in sizes {
            piece.write(UInt64(offset))
            offset += Int(size)
            try flush(&piece, write)
        }
        for (number, (location, item)) in treeIndex.enumerated() {
            piece.write(raw: CheckpointEntry.encode(location.bytes, item, number, nonce: header.nonce))
            try flush(&piece, write)
        }
        try write(piece.bytes)
    }

    private func flush<Failure: Error>(
        _ piece: inout ByteWriter, _ write: ([UInt8]) throws(Failure) -> Void
    ) throws(Failure) {
        if piece.bytes.count < Self.size { return }
        try write(piece.bytes)
        piece = ByteWriter(capacity: Self.size)
    }
}

/// An item in a checkpoint: its generation, its state as in a record, its path, and a checksum of these.
enum CheckpointEntry {
    private static let fixed = 8 + ItemState.size + 2 + 8
    static let largest = fixed + ItemLocation.longestPath

    /// Returns the size of an entry, in bytes.
    static func size(ofPath count: Int) -> Int { fixed + count }

    static func encode(_ path: [UInt8], _ item: TreeIndex.Item, _ number: Int, nonce: UInt64) -> [UInt8] {
        var writer = ByteWriter()
        writer.write(item.generation)
        item.state.encode(into: &writer)
        writer.write(counted: path)
        writer.write(checksum(writer.bytes[...], number, nonce))
        return writer.bytes
    }

    static func decode(
        _ bytes: ArraySlice<UInt8>, _ number: Int, nonce: UInt64
    ) -> (path: [UInt8], item: TreeIndex.Item)? {
        let path = bytes.startIndex + 8 + ItemState.size + 2
        guard bytes.count >= fixed, bytes.count <= largest,
            Self.number(bytes, at: bytes.endIndex - 8) == checksum(bytes.dropLast(8), number, nonce),
            Int(bytes[path - 2]) | Int(bytes[path - 1]) << 8 == bytes.count - fixed
        else { return nil }
        guard let state = state(bytes, at: bytes.startIndex + 8) else { return nil }
        let generation = Self.number(bytes, at: bytes.startIndex)
        return (Array(bytes[path..<(bytes.endIndex - 8)]), TreeIndex.Item(state: state, generation: generation))
    }

    /// Decodes what `ItemState` encodes; without a reader, for speed.
    private static func state(_ bytes: ArraySlice<UInt8>, at offset: Int) -> ItemState? {
        guard let type = ItemType(rawValue: bytes[offset]) else { return nil }
        let (mode, owners) = (number(bytes, at: offset) >> 32, number(bytes, at: offset + 8))
        return ItemState(
            type: type, inode: number(bytes, at: offset + 16), size: number(bytes, at: offset + 24),
            modified: Int64(bitPattern: number(bytes, at: offset + 32)),
            changed: Int64(bitPattern: number(bytes, at: offset + 40)), mode: UInt32(truncatingIfNeeded: mode),
            owner: UInt32(truncatingIfNeeded: owners), group: UInt32(truncatingIfNeeded: owners >> 32),
            contentHash: bytes[offset + 1] & 1 == 1 ? number(bytes, at: offset + 48) : nil)
    }

    /// Returns the number at an index, which must have eight bytes.
    static func number(_ bytes: ArraySlice<UInt8>, at offset: Int) -> UInt64 {
        var number: UInt64 = 0
        for index in (offset..<(offset + 8)).reversed() { number = number << 8 | UInt64(bytes[index]) }
        return number
    }

    private static func checksum(_ bytes: ArraySlice<UInt8>, _ number: Int, _ nonce: UInt64) -> UInt64 {
        SipHash(key: (nonce, UInt64(number) &+ 1)).hash(bytes)
    }
}

/// The first bytes of a checkpoint: its container, and its position in the journal.
struct CheckpointHeader: Equatable, Sendable {
    /// The container's `origin`, as in the headers of segments.
    var container: [UInt8]
    /// The position of the tree index, which contains everything before it. Never at the end of a segment that another
    /// one follows.
    var position: LogPosition
    /// The salt of the journal's segment at that position; that of another history differs.
    var segmentSalt: UInt64
    /// The term of the latest leader.
    var newestTerm: UInt64
    /// Random for each checkpoint, so that the checksums of another one's entries do not fit.
    var nonce: UInt64
    /// Nanoseconds since 1970.
    var made: Int64

    static let size = 120

    private static let magic = Array("GROUPCAT".utf8)
    private static let format: UInt32 = 1

    func encoded(count: Int, byteCount: Int) -> [UInt8] {
        var writer = ByteWriter()
        writer.write(raw: Self.magic)
        writer.write(Self.format)
        writer.write(UInt32(Self.size))
        writer.write(raw: container)
        for number in [
            position.segment, UInt64(position.offset), position.sequence, position.checksum, segmentSalt, newestTerm,
            UInt64(count), UInt64(byteCount), nonce, UInt64(bitPattern: made),
        ] { writer.write(number) }
        writer.write(SipHash(key: (nonce, 0)).hash(writer.bytes))
        return writer.bytes
    }

    /// Decodes the header. Also returns how many entries follow, and the size of the whole file.
    static func decode(_ bytes: [UInt8]) throws(CheckpointFault) -> (
        header: CheckpointHeader, count: Int, byteCount: Int
    ) {
        do {
            var reader = ByteReader(bytes)
            guard try reader.raw(8) == magic else { throw CheckpointFault.damaged }
            let format: UInt32 = try reader.number()
            if format > Self.format { throw CheckpointFault.newer(format) }
            guard try reader.number(UInt32.self) == UInt32(size) else { throw CheckpointFault.damaged }
            let container = try reader.raw(16)
            var numbers: [UInt64] = []
            for _ in 0..<10 { numbers.append(try reader.number()) }
            guard try reader.number() == SipHash(key: (numbers[8], 0)).hash(bytes[..<(size - 8)]),
                let offset = Int(exactly: numbers[1]), let count = Int(exactly: numbers[6]),
                let byteCount = Int(exactly: numbers[7]), byteCount >= size, count <= (byteCount - size) / 8
            else { throw CheckpointFault.damaged }
            let header = CheckpointHeader(
                container: container,
                position: LogPosition(segment: numbers[0], offset: offset, sequence: numbers[2], checksum: numbers[3]),
                segmentSalt: numbers[4], newestTerm: numbers[5], nonce: numbers[8], made: Int64(bitPattern: numbers[9]))
            return (header, count, byteCount)
        } catch let fault as CheckpointFault {
            throw fault
        } catch {
            throw .damaged
        }
    }
}
