import GroupSystemCalls

/// The hashes of the contents that this process wrote last, by the inodes of the files. A write is no change if the file
/// has these bytes already; where the hashes differ, the file need not be read to find out that it has not. A file that
/// was written to meanwhile, or another one with its inode number, causes at most a read or a write too many.
final class WrittenContents: Sendable {
    private static let limit = 1_024
    private let hashes = Guarded([UInt64: UInt64]())

    func note(_ hash: UInt64?, inode: UInt64) {
        hashes.withLock { hashes in
            if hashes.count >= Self.limit { hashes = [:] }
            hashes[inode] = hash
        }
    }

    /// Returns whether a file had other content than that with `hash` when this process wrote it.
    func differs(from hash: UInt64?, inode: UInt64) -> Bool {
        guard let hash, let written = hashes.withLock({ $0[inode] }) else { return false }
        return written != hash
    }
}
