import SystemCalls

/// A folder's copy with everything in it: contents, modes and owners as far as the system lets this user; links as
/// links. However many folders, with a constant number of descriptors.
enum TreeCopy {
    /// Makes `name`; what it has made is left where it fails. A folder that lies deeper than a path can name is an
    /// error. System calls: openat2, getdents, mkdirat, symlinkat, mknodat, and those of `FileCopy`
    static func make(
        _ name: [UInt8], in folder: borrowing FileDescriptor, of source: borrowing FileDescriptor
    ) throws(Errno) {
        try folder.makeFolder(name, mode: 0o700)
        let top = try FileDescriptor.open(name, in: folder, [.reading, .folder])
        // Paths from the top, parents before children; what is behind `next` is still to be filled.
        var folders: [[UInt8]] = [[UInt8(ascii: ".")]]
        var next = 0
        while next < folders.count {
            let path = folders[next]
            next += 1
            let from = try FileDescriptor.open(path, in: source, [.reading, .folder])
            let to = try FileDescriptor.open(path, in: top, [.reading, .folder])
            for entry in try from.entryNames() {
                guard let status = try from.statusIfPresent(of: entry) else { continue }
                if status.isFolder {
                    try to.makeFolder(entry, mode: 0o700)
                    folders.append(path + [UInt8(ascii: "/")] + entry)
                } else {
                    try copy(entry, status, from, to)
                }
            }
        }
        // Modes last, and from below: a folder that may not be written to could not be filled.
        for path in folders.reversed() {
            let old = try FileDescriptor.open(path, in: source, [.reading, .folder]).status()
            let new = try FileDescriptor.open(path, in: top, [.reading, .folder])
            try FileCopy.keepOwnerAndMode(of: old, on: new)
        }
    }

    private static func copy(
        _ name: [UInt8], _ status: FileStatus, _ from: borrowing FileDescriptor, _ to: borrowing FileDescriptor
    ) throws(Errno) {
        if status.isRegularFile {
            let original = try FileDescriptor.open(name, in: from, [.reading, .notFollowing, .nonBlocking])
            _ = try FileCopy.make(name, in: to, of: original, isDurable: false) { (copy) throws(Errno) in
                try FileCopy.keepOwnerAndMode(of: status, on: copy)
            }
            return
        }
        if status.isLink {
            try to.makeLink(name, to: try from.linkTarget(of: name))
        } else {
            try to.makeNode(name, like: status)
        }
        try? to.setOwner(of: name, status.owner, group: status.group)
    }
}
