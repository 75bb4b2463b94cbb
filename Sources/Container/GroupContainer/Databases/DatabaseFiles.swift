// Imports GroupBytes only: no file, clock or process.

import GroupBytes

/// The files of an SQLite database: the database itself, which is an item, and those that SQLite keeps beside it, which
/// are not items.
enum DatabaseFiles {
    static let log = Array("-wal".utf8)
    static let index = Array("-shm".utf8)
    private static let suffixes = [log, index, Array("-journal".utf8)]

    /// Returns the database that a file with this name would belong to, from the names alone; nil for other names.
    static func database(of location: ItemLocation) -> ItemLocation? {
        let bytes = location.bytes
        guard let suffix = suffixes.first(where: { bytes.count > $0.count && bytes.suffix($0.count) == $0[...] }),
            bytes[bytes.count - suffix.count - 1] != UInt8(ascii: "/")
        else { return nil }
        return ItemLocation(trusted: Array(bytes.dropLast(suffix.count)))
    }

    /// Returns whether SQLite may keep a file with this name beside a database.
    static func mayBeCompanion(_ name: [UInt8]) -> Bool {
        suffixes.contains { name.count > $0.count && name.suffix($0.count) == $0[...] }
    }
}

/// What the index of a database's log (`-shm`) has about the last commit. The index is mapped by all processes that
/// have the database open, so its pages change without a date and without an event.
///
/// The format is SQLite's wal-index: two copies of a header of 48 bytes. A writer writes the second copy first, then
/// the first one, as the last step of a commit. A counter, the number of pages in the log, its salt and a checksum are
/// in it, so no two commits have the same header.
struct DatabaseCommit: Equatable, Sendable {
    static let headerBytes = 48
    static let bytes = 2 * headerBytes
    /// The byte of the index that a writer locks from the beginning of a transaction to its end.
    static let writeLock: Int64 = 120
    /// The byte of the index that each open connection locks, shared.
    static let openLock: Int64 = 128
    /// The byte of the database that a writer locks, where there is no log.
    static let reserved: Int64 = 0x4000_0001

    /// A checksum of the header.
    private let digest: UInt64

    /// Returns nil where a commit is just being written.
    init?(index: [UInt8], key: SipHash) {
        guard index.count >= Self.bytes,
            index[..<Self.headerBytes].elementsEqual(index[Self.headerBytes..<Self.bytes])
        else { return nil }
        digest = key.hash(index[..<Self.headerBytes])
    }

    /// Returns the state of a database with the commits that are only in its log: the dates have the checksum in their
    /// lowest bits, about a millisecond, so that two commits within one tick of the kernel's clock differ.
    func state(of file: ItemState) -> ItemState {
        let mask: Int64 = 1 << 20 - 1
        let low = Int64(bitPattern: digest) & mask
        var state = file
        state.modified = file.modified & ~mask | low
        state.changed = file.changed & ~mask | low
        return state
    }
}
