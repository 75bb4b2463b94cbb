import GroupBytes
import GroupCluster
import GroupContainer
import GroupDigest
import GroupSystemCalls

/// Contents of items that are being sent or applied: files in a directory below `.group`.
///
///     SHA-256 in hexadecimal    a content
///     new.RANDOM                a file that is being written, or is about to become an item
///     out.RANDOM                a file to be exchanged, or that came out of the container: see `DisplacedFiles`
final class ContentFiles: Sendable {
    static let directory = "cluster-contents"
    let files: PrivateDirectory
    private let directory: FileDescriptor

    init(_ container: Container) throws(CoordinationError) {
        files = PrivateDirectory(Self.directory, in: container)
        directory = try files.open()
    }

    static func name(_ digest: [UInt8]) -> [UInt8] { Hexadecimal.digits(of: digest) }

    /// Returns the size of a content that is here; nil if it is not, or if its file cannot be a content.
    func size(of digest: [UInt8]) -> UInt64? {
        guard let status = (try? directory.statusIfPresent(of: Self.name(digest))) ?? nil, status.isRegularFile,
            status.size <= LocalDisk.largestFile
        else { return nil }
        return status.size
    }

    /// The number of bytes that can still be stored; nil if that is not known.
    var freeSpace: UInt64? { (try? directory.freeSpace())?.bytes }

    func open(_ digest: [UInt8]) throws(Errno) -> FileDescriptor {
        try FileDescriptor.open(Self.name(digest), in: directory, [.reading, .notFollowing])
    }

    /// Writes a content piece by piece, and keeps it under its digest, which is returned. Returns nil, and keeps
    /// nothing, if `body` has skipped a piece that failed, or if the digest is not the `wanted` one. With `isDurable`,
    /// the content is synced.
    func write(
        wanted: [UInt8]? = nil, isDurable: Bool = true,
        _ body: (_ append: ([UInt8]) throws(Errno) -> Void) throws(Errno) -> Void
    ) throws(Errno) -> [UInt8]? {
        let temporary = unfinishedName()
        let file = try FileDescriptor.open(
            temporary, in: directory, .newFile, mode: 0o600)
        var isKept = false
        defer { if !isKept { try? directory.unlink(temporary) } }
        guard var hash = SHA256() else { return nil }
        // A caller may go on after a piece has failed. The file then lacks that piece.
        var isWhole = true
        try body { piece throws(Errno) in
            do throws(Errno) {
                try file.writeAll(piece)
            } catch {
                isWhole = false
                throw error
            }
            hash.add(piece)
        }
        guard isWhole, let digest = hash.finish(), wanted == nil || digest == wanted else { return nil }
        if isDurable { try file.synchronizeData() }
        try directory.rename(temporary, to: Self.name(digest), in: directory, replacing: true)
        isKept = true
        return digest
    }

    /// Keeps a copy of a file, and returns its digest. Error: `tooLarge`, also if a process appends faster than this
    /// one reads
    func keep(_ file: borrowing FileDescriptor, isDurable: Bool = true) throws(Errno) -> [UInt8]? {
        let copy = try file.duplicate()
        var offset = 0
        return try write(isDurable: isDurable) { append throws(Errno) in
            while true {
                let count = offset == 0 ? 1 << 14 : 1 << 20
                let piece = try copy.read(at: offset, count: count)
                offset += piece.count
                if offset > LocalDisk.largestFile { throw Errno.tooLarge }
                if !piece.isEmpty { try append(piece) }
                if piece.count < count { return }
            }
        }
    }

    /// A file of the directory that is about to become an item.
    struct Staged {
        var name: [UInt8]
        /// The digest of the content, if the file is the content itself and not a copy of it.
        var loaded: [UInt8]?
    }

    /// Makes a file with a content. If there is no room for a copy, `mayTake` allows the content itself to be used.
    func stage(_ digest: [UInt8], mayTake: Bool) throws(Errno) -> Staged {
        let name = unfinishedName()
        do throws(Errno) {
            let source = try open(digest)
            let file = try FileDescriptor.open(name, in: directory, .newFile, mode: 0o600)
            try file.copyContent(of: source)
            return Staged(name: name)
        } catch {
            try? directory.unlink(name)
            if !mayTake || !FullDisk.isFull(error) { throw error }
        }
        try directory.rename(Self.name(digest), to: name, in: directory, replacing: false)
        return Staged(name: name, loaded: digest)
    }

    /// Makes a symbolic link.
    func stage(linkTo target: [UInt8]) throws(Errno) -> Staged {
        let name = unfinishedName()
        try directory.makeLink(name, to: target)
        return Staged(name: name)
    }

    /// Removes a file that has not become an item. If it is the content itself, it gets back the content's name.
    func discard(_ staged: Staged) {
        guard let digest = staged.loaded else { return remove(staged.name) }
        do throws(Errno) {
            // The file may have got the item's mode already.
            try directory.setMode(of: staged.name, 0o600)
            try directory.rename(staged.name, to: Self.name(digest), in: directory, replacing: true)
        } catch {
            remove(staged.name)
        }
    }

    private static let out = "out."

    /// Returns a new name for a file that comes out of the container.
    func outName() -> [UInt8] { Array("\(Self.out)\(Hexadecimal.encode(randomBytes(8)))".utf8) }

    /// Returns whether a name can be that of a file that came out. Such a name leads to no other directory.
    static func isOutName(_ name: [UInt8]) -> Bool { name.starts(with: out.utf8) && FileNames.isValid(name) }

    private func unfinishedName() -> [UInt8] { Array("new.\(Hexadecimal.encode(randomBytes(8)))".utf8) }

    /// Renames a file that is about to be exchanged. The exchange leaves the other file under this name.
    func readyForExchange(_ staged: Staged) throws(Errno) -> (staged: Staged, inode: UInt64) {
        let out = outName()
        do throws(Errno) {
            try directory.rename(staged.name, to: out, in: directory, replacing: false)
        } catch {
            discard(staged)
            throw error
        }
        let ready = Staged(name: out, loaded: staged.loaded)
        return (ready, try directory.status(of: out).inode)
    }

    /// Returns whether a file of the directory has this inode.
    func isFile(_ name: [UInt8], withInode inode: UInt64) -> Bool {
        ((try? directory.statusIfPresent(of: name)) ?? nil)?.inode == inode
    }

    func names() throws(Errno) -> Set<[UInt8]> { Set(try directory.entryNames()) }

    /// Returns the names of the files that came out, or are about to be exchanged.
    func outNames() throws(Errno) -> [[UInt8]] { try directory.entryNames().filter(Self.isOutName) }

    func remove(_ name: [UInt8]) { try? directory.unlink(name) }

    /// Removes all files except these contents and names.
    func removeAll(except digests: Set<[UInt8]>, _ names: Set<[UInt8]>) {
        let kept = Set(digests.map(Self.name)).union(names)
        for name in (try? directory.entryNames()) ?? [] where !kept.contains(name) { try? directory.unlink(name) }
    }

    enum Writers {
        case some, none
        /// The system cannot know, and the file was written or came out in the last ten minutes.
        case perhaps
    }

    /// Returns whether a process has a file of the directory open for writing. No path of the container leads to the
    /// file, so no further process can open it there.
    func writers(of name: [UInt8]) throws(Errno) -> Writers {
        guard let status = try directory.statusIfPresent(of: name), status.isRegularFile else { return .none }
        do throws(Errno) {
            let answer = try FileDescriptor.open(name, in: directory, [.reading, .notFollowing]).hasWriters()
            if let answer { return answer ? .some : .none }
        } catch {
            if error != .accessDenied { throw error }
        }
        return (wallNanoseconds() &- max(status.modified, status.changed)).magnitude < 600_000_000_000
            ? .perhaps : .none
    }

    /// The type and the content of a file of the directory.
    struct Found {
        enum Kind {
            case file, link
            /// An item of another type, or a file that this program may not read.
            case other
        }
        var kind: Kind
        var digest: [UInt8] = []
    }

    /// Returns the type and the content of a file; nil if it is gone.
    func content(of name: [UInt8]) throws(Errno) -> Found? {
        guard let status = try directory.statusIfPresent(of: name) else { return nil }
        if status.isLink { return Found(kind: .link, digest: try directory.linkTarget(of: name)) }
        guard status.isRegularFile else { return Found(kind: .other) }
        do throws(Errno) {
            let file = try FileDescriptor.open(name, in: directory, [.reading, .notFollowing])
            return Found(kind: .file, digest: try SHA256.digest(of: file) ?? [])
        } catch {
            // The owner of the file may have taken the permission to read it from all others.
            if error == .accessDenied { return Found(kind: .other) }
            throw error
        }
    }

    /// Moves a file to a free name in another directory.
    func move(_ name: [UInt8], to goal: [UInt8], in other: borrowing FileDescriptor) throws(Errno) {
        try directory.rename(name, to: goal, in: other, replacing: false)
    }
}
