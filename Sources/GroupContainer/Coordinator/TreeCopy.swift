import GroupSystemCalls

/// A directory's copy with everything in it: listed first, then made. Files and directories with their attributes, as
/// far as the system lets this user; links as links; several names of one file as several files. However many
/// directories, with a constant number of descriptors.
struct TreeCopy {
    struct Entry {
        let name: [UInt8]
        /// Of the original, when it was listed.
        let status: FileStatus
        /// Of the copy, once it is made.
        var state: ItemState?
    }

    struct Directory {
        /// From the top, which is `.`.
        let path: [UInt8]
        var entries: [Entry]

        func path(of entry: Entry) -> [UInt8] { path + [UInt8(ascii: "/")] + entry.name }
    }

    struct Fault: Error {
        var reason: Errno
        /// Where, from the top.
        var path: [UInt8]
    }

    /// Parents before children.
    private(set) var directories: [Directory] = []
    /// The first directory that is another container, from the top.
    private(set) var container: [UInt8]?

    /// Lists everything. A directory that lies deeper than a path can name is an error. System calls: openat2,
    /// getdents, statx
    init(of source: borrowing FileDescriptor) throws(Fault) {
        var paths: [[UInt8]] = [[UInt8(ascii: ".")]]
        var next = 0
        while next < paths.count {
            var directory = Directory(path: paths[next], entries: [])
            next += 1
            do throws(Errno) {
                let opened = try FileDescriptor.open(directory.path, in: source, [.reading, .directory])
                for name in try opened.entryNames() {
                    guard let status = try opened.statusIfPresent(of: name) else { continue }
                    if status.isDirectory && ContainerMark.isOne(name) { container = container ?? directory.path }
                    directory.entries.append(Entry(name: name, status: status))
                }
            } catch {
                throw Fault(reason: error, path: directory.path)
            }
            paths += directory.entries.filter(\.status.isDirectory).map(directory.path(of:))
            directories.append(directory)
        }
    }

    /// Makes `name` and returns what it is then; what has been made is left where it fails.
    /// System calls: openat2, mkdirat, symlinkat, mknodat, those of `FileCopy`, fsync
    mutating func make(
        _ name: [UInt8], in directory: borrowing FileDescriptor, of source: borrowing FileDescriptor, isDurable: Bool,
        hashKey: SipHash? = nil
    ) throws(Fault) -> FileStatus {
        do throws(Errno) {
            try directory.createDirectory(name, mode: 0o700)
        } catch {
            throw Fault(reason: error, path: [UInt8(ascii: ".")])
        }
        for index in directories.indices {
            try Self.each(&directories[index]) { (path, entries) throws(Errno) in
                let top = try FileDescriptor.open(name, in: directory, [.reading, .directory])
                let from = try FileDescriptor.open(path, in: source, [.reading, .directory])
                let to = try FileDescriptor.open(path, in: top, [.reading, .directory])
                for place in entries.indices {
                    try Self.copy(&entries[place], from, to, isDurable: isDurable, hashKey)
                }
            }
        }
        // The directories' attributes last, and from below: one that may not be written to could not be filled.
        for index in directories.indices.reversed() {
            try Self.each(&directories[index]) { (path, entries) throws(Errno) in
                let top = try FileDescriptor.open(name, in: directory, [.reading, .directory])
                let made = try FileDescriptor.open(path, in: top, [.reading, .directory])
                for place in entries.indices where entries[place].status.isDirectory {
                    entries[place].state = ItemState(try made.status(of: entries[place].name), contentHash: nil)
                }
                let original = try FileDescriptor.open(path, in: source, [.reading, .directory])
                try StagedAttributes(keptOf: original).apply(to: made)
                if isDurable { try made.synchronize() }
            }
        }
        do throws(Errno) {
            return try directory.status(of: name)
        } catch {
            throw Fault(reason: error, path: [UInt8(ascii: ".")])
        }
    }

    private static func each(
        _ directory: inout Directory, _ body: ([UInt8], inout [Entry]) throws(Errno) -> Void
    ) throws(Fault) {
        do throws(Errno) {
            try body(directory.path, &directory.entries)
        } catch {
            throw Fault(reason: error, path: directory.path)
        }
    }

    private static func copy(
        _ entry: inout Entry, _ from: borrowing FileDescriptor, _ to: borrowing FileDescriptor, isDurable: Bool,
        _ hashKey: SipHash?
    ) throws(Errno) {
        if entry.status.isDirectory { return try to.createDirectory(entry.name, mode: 0o700) }
        if entry.status.isRegularFile {
            let original = try FileDescriptor.open(entry.name, in: from, [.reading, .notFollowing, .nonBlocking])
            let (status, hash) = try FileCopy.make(
                entry.name, in: to, of: original, isDurable: isDurable, hashKey: hashKey)
            entry.state = ItemState(status, contentHash: hash)
            return
        }
        if entry.status.isLink {
            try to.makeLink(entry.name, to: try from.linkTarget(of: entry.name))
        } else {
            try to.makeNode(entry.name, like: entry.status)
        }
        try? to.setOwner(of: entry.name, entry.status.owner, group: entry.status.group)
        entry.state = ItemState(try to.status(of: entry.name), contentHash: nil)
    }
}
