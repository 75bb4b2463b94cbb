import GroupContainer
import GroupSystemCalls

/// A user with an editor and a shell, who knows nothing of the cluster: plain system calls in the container's
/// directory. Each content is one or more lines with words that nothing else has, and whatever a change takes away is
/// looked at: `gone WORD` is printed for it. So a word that was `born` and never `gone` must be somewhere.
final class PlainUser {
    let worker: Worker
    private let root: FileDescriptor
    /// Where what was replaced or removed is looked at: beside the container, on the same file system.
    private let away: FileDescriptor
    private let items: BlockingCoordinator
    /// Files that are kept open for a while, and then written.
    private var held: [HeldFile] = []

    private final class HeldFile {
        let file: FileDescriptor
        let until: Int64
        let path: [UInt8]
        init(_ file: consuming FileDescriptor, _ path: [UInt8], until: Int64) {
            self.path = path
            self.file = file
            self.until = until
        }
    }

    private static let names = ["a", "b", "c.txt", "d.txt"]
    private static let directories = ["", "x/", "y/", "x/z/", "y/z/"]

    init(_ worker: Worker, away: String) throws {
        self.worker = worker
        items = try Container(path: worker.path).coordinator(purpose: worker.name).blocking
        root = try FileDescriptor.open(path: Array(worker.path.utf8), [.reading, .directory])
        self.away = try FileDescriptor.open(path: Array(away.utf8), [.reading, .directory])
    }

    func work() throws {
        try worker.takeTurns(within: 60) {
            do throws(Errno) {
                if worker.draw(0..<8) == 0 { update() } else { try turn() }
                try writeHeld()
            } catch {
                let expected: [Errno] = [
                    .noSuchEntry, .exists, .notADirectory, .isADirectory, .tooManyLinks, .notEmpty, .noSpace, .invalid,
                    .busy,
                ]
                if !expected.contains(error) { printLine("refused \(error)") }
            }
        }
        printLine("ended")
    }

    private func place() -> [UInt8] {
        Array(
            (Self.directories[worker.draw(0..<Self.directories.count)] + Self.names[worker.draw(0..<Self.names.count)])
                .utf8)
    }

    private func directory() -> [UInt8] {
        Array(Self.directories[worker.draw(1..<Self.directories.count)].utf8.dropLast())
    }

    private func turn() throws(Errno) {
        let path = place()
        switch worker.draw(0..<22) {
        case 0..<5: try replace(path)
        case 5..<8: try append(path)
        case 8..<11: try overwrite(path)
        case 11..<13: try remove(path)
        case 13..<15: try root.rename(path, to: place(), in: root, replacing: false)
        case 15: try root.createDirectory(directory(), mode: 0o755)
        case 16: try root.rename(directory(), to: directory(), in: root, replacing: false)
        case 17: try root.unlink(directory(), directory: true)
        case 18:
            let file = try FileDescriptor.open(path, in: root, [.reading, .notFollowing])
            try file.setMode(worker.draw(0..<2) == 0 ? 0o640 : 0o644)
        case 19: try link(path)
        default:
            // Into the directory that another user renames: a new file each time.
            guard let directory = try RenamingUser.directories(root).first else { return }
            let word = worker.token()
            let path = directory + Array("/\(word)".utf8)
            let file = try FileDescriptor.open(path, in: root, [.writing, .creating, .exclusively], mode: 0o644)
            try file.writeAll(Array((word + "\n").utf8))
            try say(written: word, "renamed", file, path)
        }
    }

    private func words(_ bytes: [UInt8]) -> [Substring] {
        String(decoding: bytes, as: UTF8.self).split(separator: "\n").map { $0[...] }
    }

    /// Prints that a word was written, where and how. Into a file that a user has removed
    /// meanwhile, it may be gone.
    private func say(born word: String, _ how: String, _ path: [UInt8], into inode: UInt64? = nil) {
        let place = String(decoding: path, as: UTF8.self)
        printLine("born \(word) \(how) \(place) \(inode.map { "\($0)" } ?? "-") \(monotonicNanoseconds())")
    }

    private func say(gone bytes: [UInt8]) { for word in words(bytes) { printLine("gone \(word)") } }

    /// Looks at what came out, and removes it.
    private func bury(_ name: [UInt8]) throws(Errno) {
        if try away.status(of: name).isLink {
            say(gone: try away.linkTarget(of: name))
        } else {
            let file = try FileDescriptor.open(name, in: away, [.reading, .notFollowing])
            printLine("buried \(try file.status().inode)")
            say(gone: try file.readAll())
        }
        try away.unlink(name)
    }

    /// Writes a new file and renames it over the old one, as editors do; whatever it replaces comes out.
    private func replace(_ path: [UInt8]) throws(Errno) {
        let word = worker.token()
        let name = Array(word.utf8)
        do {
            let file = try FileDescriptor.open(name, in: away, [.writing, .creating, .exclusively], mode: 0o644)
            try file.writeAll(Array((word + "\n").utf8))
        }
        do throws(Errno) {
            try away.rename(name, to: path, in: root, replacing: false)
            return say(born: word, "new", path)
        } catch {
            if error != .exists {
                try? away.unlink(name)
                throw error
            }
        }
        do throws(Errno) {
            if try root.status(of: path).isDirectory { throw Errno.isADirectory }
            try away.exchange(name, with: path, in: root)
        } catch {
            try? away.unlink(name)
            throw error
        }
        if try away.status(of: name).isDirectory {
            // It became a directory in between: everything back.
            try away.exchange(name, with: path, in: root)
            return try bury(name)
        }
        say(born: word, "replacing", path)
        try bury(name)
    }

    /// Changes an item by the library, here at once; nobody changes these items otherwise.
    private func update() {
        let word = worker.token()
        var old: [UInt8] = []
        do {
            let path = ItemPath("l/\(["a", "b", "c"][worker.draw(0..<3)])")
            if worker.draw(0..<6) == 0 {
                try items.coordinate(.writing(path)) { access in
                    old = try access.readBytesIfPresent(path) ?? []
                    if !old.isEmpty { try access.remove(path) }
                }
                return say(gone: old)
            }
            _ = try items.updateBytes(path, durability: .relaxed) { content in
                old = content ?? []
                return Array((word + "\n").utf8)
            }
            say(born: word, "library", Array("l".utf8))
            say(gone: old)
        } catch {
            printLine("refused \((error as? CoordinationError)?.code.rawValue ?? "error") \(error)")
        }
    }

    /// Writes into files that were opened a while ago: editors and programs with logs keep them open.
    private func writeHeld() throws(Errno) {
        let now = monotonicNanoseconds()
        let due = held.filter { $0.until <= now }
        held.removeAll { $0.until <= now }
        for held in due {
            let word = worker.token()
            try takeTurn(held.file)
            try held.file.seek(to: Int(held.file.status().size))
            try held.file.writeAll(Array((word + "\n").utf8))
            try say(written: word, "held", held.file, held.path)
        }
    }

    private func append(_ path: [UInt8]) throws(Errno) {
        let word = worker.token()
        let file = try FileDescriptor.open(path, in: root, [.writing, .notFollowing])
        if worker.draw(0..<8) == 0 {
            held.append(
                HeldFile(file, path, until: monotonicNanoseconds() + Int64(worker.draw(10..<2_000)) * 1_000_000))
            return
        }
        try takeTurn(file)
        try file.seek(to: Int(file.status().size))
        try file.writeAll(Array((word + "\n").utf8))
        try say(written: word, "append", file, path)
    }

    private func say(written word: String, _ how: String, _ file: borrowing FileDescriptor, _ path: [UInt8])
        throws(Errno)
    {
        let status = try file.status()
        say(born: word, how, path, into: status.inode)
    }

    /// Waits until no other user writes into this file in its place; the turn ends with the descriptor. Two users who
    /// do so at the same time take each other's words away unseen, on one machine and without a cluster, too.
    private func takeTurn(_ file: borrowing FileDescriptor) throws(Errno) {
        for _ in 0..<20_000 {
            if try file.tryLock(.exclusive, ByteRange(start: 0, length: 1)) { return }
            pause(nanoseconds: 100_000)
        }
        throw Errno.busy
    }

    /// Writes into the file that is there, with an empty one in between.
    private func overwrite(_ path: [UInt8]) throws(Errno) {
        let word = worker.token()
        let file = try FileDescriptor.open(path, in: root, [.readingAndWriting, .notFollowing])
        try takeTurn(file)
        let old = try file.readAll()
        // Gone whatever becomes of the rest: the disk may be full.
        say(gone: old)
        try file.setSize(0)
        try file.seek(to: 0)
        try file.writeAll(Array((word + "\n").utf8))
        try say(written: word, "overwrite", file, path)
    }

    private func remove(_ path: [UInt8]) throws(Errno) {
        let name = Array(worker.token().utf8)
        if try root.status(of: path).isDirectory { throw Errno.isADirectory }
        try root.rename(path, to: name, in: away, replacing: false)
        if try away.status(of: name).isDirectory {
            try away.rename(name, to: path, in: root, replacing: false)
            return
        }
        try bury(name)
    }

    private func link(_ path: [UInt8]) throws(Errno) {
        let word = worker.token()
        try root.makeLink(path, to: Array(word.utf8))
        say(born: word, "link", path)
    }
}
