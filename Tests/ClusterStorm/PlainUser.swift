import GroupSystemCalls

/// A user with an editor and a shell, who knows nothing of the cluster: plain system calls in the container's directory. Each
/// content is one or more lines with words that nothing else has, and whatever a change takes away is looked at: `gone WORD`
/// is printed for it. So a word that was `born` and never `gone` must be somewhere.
final class PlainUser {
    let worker: Worker
    private let root: FileDescriptor
    /// Where what was replaced or removed is looked at: beside the container, on the same file system.
    private let away: FileDescriptor

    private static let names = ["a", "b", "c.txt", "d.txt"]
    private static let directories = ["", "x/", "y/", "x/z/", "y/z/"]

    init(_ worker: Worker, away: String) throws {
        self.worker = worker
        root = try FileDescriptor.open(path: Array(worker.path.utf8), [.reading, .directory])
        self.away = try FileDescriptor.open(path: Array(away.utf8), [.reading, .directory])
    }

    func work() throws {
        try worker.takeTurns(within: 60) {
            do throws(Errno) { try turn() } catch {
                let expected: [Errno] = [
                    .noSuchEntry, .exists, .notADirectory, .isADirectory, .tooManyLinks, .notEmpty, .noSpace, .invalid,
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
        switch worker.draw(0..<20) {
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
        default: try link(path)
        }
    }

    private func words(_ bytes: [UInt8]) -> [Substring] {
        String(decoding: bytes, as: UTF8.self).split(separator: "\n").map { $0[...] }
    }

    private func say(gone bytes: [UInt8]) { for word in words(bytes) { printLine("gone \(word)") } }

    /// Looks at what came out, and removes it.
    private func bury(_ name: [UInt8]) throws(Errno) {
        if try away.status(of: name).isLink {
            say(gone: try away.linkTarget(of: name))
        } else {
            say(gone: try FileDescriptor.open(name, in: away, [.reading, .notFollowing]).readAll())
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
            return printLine("born \(word)")
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
            printLine("born \(word)")
            return
        }
        printLine("born \(word)")
        try bury(name)
    }

    private func append(_ path: [UInt8]) throws(Errno) {
        let word = worker.token()
        let file = try FileDescriptor.open(path, in: root, [.writing, .notFollowing])
        try file.seek(to: Int(file.status().size))
        try file.writeAll(Array((word + "\n").utf8))
        if try isThere(file, path) { printLine("born \(word)") }
    }

    /// Whether the file still has a name: what is written into a file that a user has removed is gone.
    private func isThere(_ file: borrowing FileDescriptor, _ path: [UInt8]) throws(Errno) -> Bool {
        try file.status().links > 0
    }

    /// Writes into the file that is there, with an empty one in between.
    private func overwrite(_ path: [UInt8]) throws(Errno) {
        let word = worker.token()
        let file = try FileDescriptor.open(path, in: root, [.readingAndWriting, .notFollowing])
        let old = try file.readAll()
        try file.setSize(0)
        try file.seek(to: 0)
        try file.writeAll(Array((word + "\n").utf8))
        if try isThere(file, path) { printLine("born \(word)") }
        say(gone: old)
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
        printLine("born \(word)")
    }
}
