// Imports nothing: no file, clock or process.

/// The layout of the member table. The file's size never changes, and nothing in it moves.
package enum MemberTableLayout {
    package static let slotCount = 1_024
    /// The 256 buckets of `LockRange.bucket` for waiters that contended a part alone, and as many after them for
    /// waiters that contended to read.
    static let bucketCount = 512
    package static let inFlightCount = 8
    static let publishedCount = 19

    // The first page.
    static let magic = Array("GROUPMEM".utf8)
    static let version = 8
    package static let incarnation = 16
    static let boot = 32
    static let mount = 64
    static let ticket = 72
    package static let term = 80
    package static let readyTerm = 88
    /// The leader's slot plus one.
    package static let leader = 96
    /// The latest term whose leader watches every directory.
    package static let watchTerm = 104
    /// The position in the journal of the record that reports watching as incomplete: file number and offset (4 bytes
    /// each); 0 while watching is complete.
    package static let degraded = 112
    /// A counter (4 bytes) that members increase to probe the leader. The leader copies it to `replied` to show that
    /// it is alive, and to `recorded` once everything from before the probe is in the journal (4 bytes each).
    package static let probed = 120
    package static let replied = 124
    package static let recorded = 896
    /// The number of moves (4 bytes) that were not in the journal at the last reply at `recorded`, as another process
    /// was busy there.
    package static let postponedMoves = 900
    /// The time of the last probe, by the monotonic clock: one probe a second is enough, however many followers there
    /// are.
    package static let probedAt = 904
    /// What distinguishes one life of the file system from another: see `FileSystemLife`. The boot is at `boot`, the
    /// mount at `mount`.
    static let session = 912
    static let device = 920
    /// One bit for each slot: its member has joined and has not left.
    package static let members = 928
    /// A counter (4 bytes) that the leader increases where the container may have been removed or moved.
    package static let removals = members + bitmapBytes
    /// The time, by the monotonic clock, when a member last looked whether the container is still there.
    static let presenceCheckedAt = removals + 8
    /// The slot (4 bytes) at which the next look for members that died begins.
    static let nextLook = presenceCheckedAt + 8
    /// One bit for each entry of the table of presenters that asks to be asked.
    package static let presenters = 1_088
    package static let presenterBytes = 32
    /// One bit for each bucket of items that have a presenter: see `LockRange.bucket`.
    static let presentedBuckets = 1_120
    /// 64 bits, of which each registered database has set one, by the hash of its path.
    package static let databases = 1_152
    /// The wake word of those that watch the container's status: a flag and a counter, as at `wakeWords`.
    static let statusWake = 1_160
    /// One bit for each slot: it has an entry in `inFlight`.
    static let inFlightMembers = 128
    /// 64 pairs of a flag and a counter; the journal's pair is the first.
    static let wakeWords = 256
    package static let wakeCount = 64
    /// One bit for each slot: its member waits for a lock. One look at these bits shows whether any member waits.
    static let contendingMembers = 768

    /// Directories that were found in the journal: for each, the position up to which it was found there, and a hash of
    /// its path and that position (8 bytes each).
    static let knownDirectories = 2_048
    static let knownDirectoryCount = 128

    package static func knownDirectory(_ hash: UInt64) -> Int {
        knownDirectories + Int(hash % UInt64(knownDirectoryCount)) * 16
    }

    /// The buckets, each with one bit for each slot.
    static let contended = 4_096
    package static let bitmapBytes = slotCount / 8

    package static let slots = contended + bucketCount * bitmapBytes
    package static let slotBytes = 4_096
    package static let size = slots + slotCount * slotBytes

    package static func slot(_ index: Int) -> Int { slots + index * slotBytes }
    static func contended(_ bucket: Int) -> Int { contended + bucket * bitmapBytes }
    static func wakeWord(_ index: Int) -> Int { wakeWords + index * 8 }

    // Within a slot.
    static let process = 0
    static let user = 4
    static let started = 8
    package static let nonce = 16
    /// The time when the member's process began, in the kernel's clock ticks since boot: it shows whether a process
    /// number still means the same process.
    static let processStart = 24
    static let purpose = 32
    static let purposeBytes = 96
    static let inFlight = 128
    static let inFlightBytes = 32
    static let published = inFlight + inFlightCount * inFlightBytes
    static let publishedBytes = 192
    /// The inode of the PID namespace that `process` belongs to; 0 where the member could not find it out.
    static let pidNamespace = published + publishedCount * publishedBytes

    // Within an access.
    static let publishedStage = 0
    static let publishedMode = 4
    static let publishedStart = 8
    static let publishedLength = 16
    static let publishedSince = 24
    static let publishedTicket = 32
    static let publishedOwner = 40
    static let publishedOrder = 48
    static let publishedPurpose = 56
    static let publishedPurposeBytes = 48
    static let publishedPath = 104
    static let publishedPathBytes = 88

    /// The byte of the file whose lock means that a slot's member is alive, and the one whose lock means that the slot
    /// is being repaired.
    static func lifeByte(_ index: Int) -> Int64 { Int64(slot(index)) }
    package static func repairByte(_ index: Int) -> Int64 { Int64(slot(index) + 1) }
}
