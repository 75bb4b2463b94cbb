import GroupLog
import GroupSystemCalls

/// `.group/checkpoint`: the tree index at a position of the journal, so that the journal need not be read from its
/// beginning, which may be gone. The file is always whole, because it is replaced by a rename.
struct CheckpointFile: Sendable {
    private let directory: ContainerDirectories
    /// The container's `origin`, as in the headers of segments.
    private let container: [UInt8]

    static let label = ".group/checkpoint"
    private static let name = Array("checkpoint".utf8)
    private static let temporary = Array("checkpoint.new".utf8)

    init(in directory: ContainerDirectories, container: [UInt8]) {
        self.directory = directory
        self.container = container
    }

    /// Opens the checkpoint to look items up in it; nil if there is none. Constant time. Errors: `damaged`,
    /// `newerFormat`. System calls: openat2, fstat, mmap
    func open() throws(CoordinationError) -> MappedCheckpoint? {
        let map: SharedMap
        do throws(Errno) {
            let file = try FileDescriptor.open(Self.name, in: directory.group, [.reading, .nonBlocking])
            let status = try file.status()
            guard status.isRegularFile, status.size > 0, status.size < 1 << 40 else { throw Errno.invalid }
            map = try SharedMap(file, size: Int(status.size))
        } catch {
            switch error {
            case .noSuchEntry: return nil
            case .invalid: throw Self.damaged("the file is empty, or not a regular file")
            default: throw CoordinationError(error, operation: "read", item: Self.label)
            }
        }
        let checkpoint = try translatingFault { () throws(CheckpointFault) in try Checkpoint(CheckpointMap(map)) }
        if checkpoint.header.container != container { throw Self.damaged("the file belongs to another container") }
        return MappedCheckpoint(checkpoint)
    }

    /// Reads the whole checkpoint; nil if there is none. Linear. Errors: as for `open`.
    func read() throws(CoordinationError) -> (header: CheckpointHeader, treeIndex: TreeIndex)? {
        let content: ReadCheckpoint
        do throws(Errno) {
            let file = try FileDescriptor.open(Self.name, in: directory.group, [.reading, .nonBlocking])
            let status = try file.status()
            content = ReadCheckpoint(file, size: status.isRegularFile ? Int(clamping: status.size) : 0)
        } catch {
            if error == .noSuchEntry { return nil }
            throw CoordinationError(error, operation: "read", item: Self.label)
        }
        let result = Result { () throws(CoordinationError) in
            try translatingFault { () throws(CheckpointFault) in
                let checkpoint = try Checkpoint(content)
                return (checkpoint.header, try checkpoint.treeIndex())
            }
        }
        if let failure = content.failure { throw CoordinationError(failure, operation: "read", item: Self.label) }
        let (header, treeIndex) = try result.get()
        if header.container != container { throw Self.damaged("the file belongs to another container") }
        return (header, treeIndex)
    }

    /// Replaces the checkpoint, which is on the disk when this returns. Only one process at a time may call this.
    /// System calls: openat2, write, fsync, renameat2
    func replace(by treeIndex: TreeIndex, _ header: CheckpointHeader) throws(CoordinationError) {
        let content = CheckpointPieces(treeIndex: treeIndex, header: header)
        try translating("write", item: Self.label) { () throws(Errno) in
            let file = try FileDescriptor.createAnew(Self.temporary, in: directory.group)
            do throws(Errno) {
                try file.setMode(directory.fileMode)
                try content.forEach { (piece) throws(Errno) in try file.writeAll(piece) }
                try file.synchronize()
                try directory.group.rename(Self.temporary, to: Self.name, in: directory.group, replacing: true)
                try directory.group.synchronize()
            } catch {
                try? directory.group.unlink(Self.temporary)
                throw error
            }
        }
    }

    func header(
        at position: LogPosition, segmentSalt: UInt64, newestTerm: UInt64
    ) -> CheckpointHeader {
        CheckpointHeader(
            container: container, position: position, segmentSalt: segmentSalt, newestTerm: newestTerm,
            nonce: randomWord(),
            made: wallNanoseconds())
    }

    static func damaged(_ reason: String) -> CoordinationError {
        CoordinationError(
            .damaged, operation: "read", item: label, reason: reason,
            remedy: .init(.repairContainer, "repair the container, which rebuilds the checkpoint"))
    }

    private func translatingFault<Answer>(
        _ body: () throws(CheckpointFault) -> Answer
    ) throws(CoordinationError) -> Answer {
        do {
            return try body()
        } catch {
            switch error {
            case .damaged: throw Self.damaged("the content does not fit its checksums")
            case .newer(let format):
                throw CoordinationError(
                    .newerFormat, operation: "read", item: Self.label,
                    reason: "the checkpoint has format \(format), and this version knows 1", remedy: .update)
            }
        }
    }
}

/// A checkpoint's file that stays open, even if its name is replaced or removed.
final class MappedCheckpoint: TreeOverlay.Base, Sendable {
    private let checkpoint: Checkpoint<CheckpointMap>
    private let map: SharedMap
    private let damaged = Guarded(false)

    fileprivate init(_ checkpoint: Checkpoint<CheckpointMap>) {
        self.checkpoint = checkpoint
        map = checkpoint.bytes.map
    }

    var header: CheckpointHeader { checkpoint.header }

    /// Whether a lookup has failed because the content does not fit its checksums.
    var isDamaged: Bool { damaged.withLock { $0 } || map.isDamaged }

    func item(at location: ItemLocation) -> TreeIndex.Item? {
        do {
            return try checkpoint.item(at: location)
        } catch {
            damaged.withLock { $0 = true }
            return nil
        }
    }

    func below(_ directory: ItemLocation) -> [ItemLocation] {
        do {
            return try checkpoint.below(directory).compactMap { try? ItemLocation($0.path) }
        } catch {
            damaged.withLock { $0 = true }
            return []
        }
    }
}

/// Reads a checkpoint's file from its beginning to its end, without mapping it: mapped pages count as memory.
private final class ReadCheckpoint: CheckpointBytes {
    private let file: FileDescriptor
    let size: Int
    private let failed = Guarded<Errno?>(nil)

    init(_ file: consuming FileDescriptor, size: Int) {
        self.file = file
        self.size = size
    }

    /// The error with which the file could not be read.
    var failure: Errno? { failed.withLock { $0 } }

    func bytes(_ offset: Int, count: Int) -> [UInt8] {
        do {
            return try file.read(at: offset, count: count)
        } catch {
            failed.withLock { $0 = error }
            return []
        }
    }
}

private struct CheckpointMap: CheckpointBytes {
    let map: SharedMap

    init(_ map: SharedMap) { self.map = map }

    var size: Int { map.size }
    func bytes(_ offset: Int, count: Int) -> [UInt8] { map.bytes(offset, count: count) }
}
