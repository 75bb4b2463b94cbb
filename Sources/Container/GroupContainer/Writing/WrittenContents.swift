import GroupSystemCalls

/// The hashes of the contents that this process wrote last, by the inodes of the files and the time of their last
/// change. A write is no change if the file has these bytes already; where the hashes differ, the file need not be read
/// to find out that it has not. A file that was written to within the same tick of the kernel's clock causes at most a
/// write too many.
final class WrittenContents: Sendable {
    private static let limit = 1_024
    private let written = Guarded([UInt64: (changed: Int64, hash: UInt64)]())

    /// Notes the state of a file that this process has written.
    func note(_ state: ItemState) {
        guard let hash = state.contentHash else { return }
        written.withLock { written in
            if written.count >= Self.limit { written = [:] }
            written[state.inode] = (state.changed, hash)
        }
    }

    /// Returns whether a file is as this process wrote it, with other content than that with `hash`.
    func differs(_ file: FileStatus, from hash: UInt64?) -> Bool {
        guard let hash, let known = written.withLock({ $0[file.inode] }) else { return false }
        return known.changed == file.changed && known.hash != hash
    }
}
