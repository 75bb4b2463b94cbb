import GroupBytes
import GroupCluster
import GroupContainer
import GroupDigest
import GroupSystemCalls

/// Contents of items that are being sent or applied: files of a directory below `.group`, named by their SHA-256.
final class ContentFiles: Sendable {
    static let directory = "cluster-contents"
    let place: PrivateDirectory
    private let directory: FileDescriptor

    init(_ container: Container) throws(CoordinationError) {
        place = PrivateDirectory(Self.directory, in: container)
        directory = try place.open()
    }

    static func name(_ digest: [UInt8]) -> [UInt8] { Array(Hexadecimal.encode(digest).utf8) }

    /// The size of a content that is here; nil where it is not, also for a file that no content is.
    func size(of digest: [UInt8]) -> UInt64? {
        guard let status = (try? directory.statusIfPresent(of: Self.name(digest))) ?? nil, status.isRegularFile,
            status.size <= LocalDisk.largestFile
        else { return nil }
        return status.size
    }

    /// How many bytes may still be stored; nil where that is not known.
    var freeSpace: UInt64? { (try? directory.freeSpace())?.bytes }

    func open(_ digest: [UInt8]) throws(Errno) -> FileDescriptor {
        try FileDescriptor.open(Self.name(digest), in: directory, [.reading, .notFollowing])
    }

    /// Writes a content piece by piece, and keeps it, on the disk, under its digest, which is returned. With `wanted`, a content
    /// with another digest is not kept.
    func write(
        wanted: [UInt8]? = nil, isDurable: Bool = true,
        _ body: (_ append: ([UInt8]) throws(Errno) -> Void) throws(Errno) -> Void
    ) throws(Errno) -> [UInt8]? {
        let temporary = unfinishedName()
        let file = try FileDescriptor.open(
            temporary, in: directory, [.writing, .creating, .exclusively], mode: 0o600)
        var isKept = false
        defer { if !isKept { try? directory.unlink(temporary) } }
        guard var hash = SHA256() else { return nil }
        // A caller that goes on after a piece failed has not all of the content in the file.
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

    /// Keeps a copy of a file, and returns its digest. Error: `tooLarge`, also where a process writes faster than this
    /// one reads
    func keep(_ file: borrowing FileDescriptor, isDurable: Bool = true) throws(Errno) -> [UInt8]? {
        let copy = try file.duplicate()
        var place = 0
        return try write(isDurable: isDurable) { append throws(Errno) in
            while true {
                let count = place == 0 ? 1 << 14 : 1 << 20
                let piece = try copy.read(at: place, count: count)
                place += piece.count
                if place > LocalDisk.largestFile { throw Errno.tooLarge }
                if !piece.isEmpty { try append(piece) }
                if piece.count < count { return }
            }
        }
    }

    /// A file of the directory that is to become an item.
    struct Staged {
        var name: [UInt8]
        /// The content, where the file is the one that was loaded, and no copy.
        var loaded: [UInt8]?
    }

    /// Makes a file with a content. With `mayTake`, the content itself is taken where there is no room for a copy.
    func stage(_ digest: [UInt8], mayTake: Bool) throws(Errno) -> Staged {
        let name = unfinishedName()
        do throws(Errno) {
            let source = try open(digest)
            let file = try FileDescriptor.open(name, in: directory, [.writing, .creating, .exclusively], mode: 0o600)
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

    /// Removes a file that has not become an item; a content that was taken is put back.
    func discard(_ staged: Staged) {
        guard let digest = staged.loaded else { return remove(staged.name) }
        do throws(Errno) {
            // It may have been given the item's mode.
            try directory.setMode(of: staged.name, 0o600)
            try directory.rename(staged.name, to: Self.name(digest), in: directory, replacing: true)
        } catch {
            remove(staged.name)
        }
    }

    private static let out = "out."

    /// A name for what comes out of the container.
    func outName() -> [UInt8] { Array("\(Self.out)\(Hexadecimal.encode(randomBytes(8)))".utf8) }

    /// Returns whether a name can be that of a file that came out: a name that leads nowhere else.
    static func isOutName(_ name: [UInt8]) -> Bool { name.starts(with: out.utf8) && FileNames.isValid(name) }

    private func unfinishedName() -> [UInt8] { Array("new.\(Hexadecimal.encode(randomBytes(8)))".utf8) }

    /// Gives a file that is to be exchanged the name under which the other one comes out.
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

    /// Returns whether a file of the directory is the one with this inode.
    func isFile(_ name: [UInt8], withInode inode: UInt64) -> Bool {
        ((try? directory.statusIfPresent(of: name)) ?? nil)?.inode == inode
    }

    func names() throws(Errno) -> Set<[UInt8]> { Set(try directory.entryNames()) }

    /// The files that have come out, or are about to be exchanged.
    func outNames() throws(Errno) -> [[UInt8]] { try directory.entryNames().filter(Self.isOutName) }

    func remove(_ name: [UInt8]) { try? directory.unlink(name) }

    /// Removes what is neither needed nor to be looked at.
    func removeAll(except digests: Set<[UInt8]>, _ names: Set<[UInt8]>) {
        let kept = Set(digests.map(Self.name)).union(names)
        for name in (try? directory.entryNames()) ?? [] where !kept.contains(name) { try? directory.unlink(name) }
    }

    enum Writers {
        case some, none
        /// It cannot be known, and the file was written, or came out, in the last ten minutes.
        case perhaps
    }

    /// Returns whether a process has a file of the directory open for writing. The file has no other name by which one could open it.
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

    /// What a file of the directory is.
    struct Found {
        enum Kind {
            case file, link
            /// Of another type, or a file that may not be read.
            case other
        }
        var kind: Kind
        var digest: [UInt8] = []
    }

    /// Returns what a file of the directory is; nil where it is gone.
    func content(of name: [UInt8]) throws(Errno) -> Found? {
        guard let status = try directory.statusIfPresent(of: name) else { return nil }
        if status.isLink { return Found(kind: .link, digest: try directory.linkTarget(of: name)) }
        guard status.isRegularFile else { return Found(kind: .other) }
        do throws(Errno) {
            let file = try FileDescriptor.open(name, in: directory, [.reading, .notFollowing])
            return Found(kind: .file, digest: try SHA256.digest(of: file) ?? [])
        } catch {
            // Its owner may have taken the right to read it from everyone.
            if error == .accessDenied { return Found(kind: .other) }
            throw error
        }
    }

    /// Moves a file of the directory to another directory, where its name must be free.
    func move(_ name: [UInt8], to goal: [UInt8], in other: borrowing FileDescriptor) throws(Errno) {
        try directory.rename(name, to: goal, in: other, replacing: false)
    }
}
