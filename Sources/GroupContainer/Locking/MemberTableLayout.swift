// Imports nothing: no file, clock or process.

/// Where everything in the member table lies. The file has this size for ever; nothing in it moves.
enum MemberTableLayout {
    static let slotCount = RecordHeader.slotCount
    /// Those of `LockRange.bucket` for who waits to be alone, and as many behind them for who waits to read.
    static let bucketCount = 512
    static let pendingCount = 8
    static let accessCount = 19

    // The first page.
    static let magic = Array("GROUPMEM".utf8)
    static let version = 8
    static let incarnation = 16
    static let boot = 32
    static let mount = 64
    static let ticket = 72
    static let term = 80
    static let readyTerm = 88
    /// The leader's slot, plus one.
    static let leader = 96
    /// The latest term whose leader watches every directory.
    static let watchTerm = 104
    /// Where the journal says that watching is incomplete: file number and offset (4 each); 0: it is not.
    static let degraded = 112
    /// A count (4) that members raise to ask whether the leader is there, and how far (4 each) it has answered: that
    /// it is, and that everything from before the question is journalled.
    static let asked = 120
    static let answered = 124
    static let settled = 896
    /// When somebody asked last, by the monotonic clock: one question a second is enough, however many follow.
    static let askedAt = 904
    /// What tells one life of the file system from another: see `FileSystemLife`. The boot is at `boot`, the mount at
    /// `mount`.
    static let session = 912
    static let device = 920
    /// One bit a slot: its member came, and has not left.
    static let members = 928
    /// One bit a slot: it has something in `pending`.
    static let pendingMembers = 128
    /// 64 pairs of flag and counter; the journal's is the first.
    static let wakeWords = 256
    static let wakeCount = 64
    /// One bit a slot: it waits for something, so that one look tells that nobody does.
    static let wantingMembers = 768

    /// Directories that the journal was found to have, and up to which place (8 and 8 bytes each).
    static let knownDirectories = 2_048
    static let knownDirectoryCount = 128

    static func knownDirectory(_ hash: UInt64) -> Int {
        knownDirectories + Int(hash % UInt64(knownDirectoryCount)) * 16
    }

    /// Buckets of one bit a slot.
    static let want = 4_096
    static let bitmapBytes = slotCount / 8

    static let slots = want + bucketCount * bitmapBytes
    static let slotBytes = 4_096
    static let size = slots + slotCount * slotBytes

    static func slot(_ index: Int) -> Int { slots + index * slotBytes }
    static func want(_ bucket: Int) -> Int { want + bucket * bitmapBytes }
    static func wakeWord(_ index: Int) -> Int { wakeWords + index * 8 }

    // Within a slot.
    static let process = 0
    static let user = 4
    static let started = 8
    static let nonce = 16
    /// When its process began, in the kernel's ticks since boot: whether a process number still means the same.
    static let processStart = 24
    static let purpose = 32
    static let purposeBytes = 96
    static let pending = 128
    static let pendingBytes = 32
    static let accesses = pending + pendingCount * pendingBytes
    static let accessBytes = 192
    /// The inode of the PID namespace that counts `process`; 0 where the member could not tell.
    static let pidNamespace = accesses + accessCount * accessBytes

    // Within an access.
    static let accessStage = 0
    static let accessMode = 4
    static let accessStart = 8
    static let accessLength = 16
    static let accessSince = 24
    static let accessTicket = 32
    static let accessChain = 40
    static let accessOrder = 48
    static let accessPurpose = 56
    static let accessPurposeBytes = 48
    static let accessPath = 104
    static let accessPathBytes = 88

    /// The bytes of the file whose locks say that a slot's member is alive, and that somebody repairs it.
    static func lifeByte(_ index: Int) -> Int64 { Int64(slot(index)) }
    static func repairByte(_ index: Int) -> Int64 { Int64(slot(index) + 1) }
}
