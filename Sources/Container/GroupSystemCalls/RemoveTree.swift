#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

extension FileDescriptor {
    /// Removes an entry of any type; a directory with everything in it, at any depth. Needs two descriptors at a time,
    /// and follows no symbolic link. A directory that may not be listed or emptied is made accessible first, if it
    /// belongs to this user. Goes on after entries that cannot be removed, and throws the first error. An entry that
    /// does not exist is no error. Only for a tree in which no other process works. Calls `removed` for each entry that
    /// is gone. System calls: unlinkat(2), openat2(2), getdents(2), fchmodat(2)
    package func removeTree(_ name: [UInt8], removed: () -> Void = {}) throws(Errno) {
        var failure: Errno?
        if try removeUnlessDirectory(name) { return removed() }
        try allowEmptying(name)
        var current = try FileDescriptor.open(name, in: self, [.reading, .directory, .notFollowing])
        // The directories from the top to the present one, each with its entries that are left.
        var path = [try Level(name: name, of: current)]
        while var level = path.popLast() {
            if let entry = level.entries.popLast() {
                path.append(level)
                do throws(Errno) {
                    if try current.removeUnlessDirectory(entry) {
                        removed()
                        continue
                    }
                    try current.allowEmptying(entry)
                    let inner = try FileDescriptor.open(entry, in: current, [.reading, .directory, .notFollowing])
                    path.append(try Level(name: entry, of: inner))
                    current = inner
                } catch {
                    failure = failure ?? error
                }
                continue
            }
            do throws(Errno) {
                guard let parent = path.last else {
                    try unlink(level.name, directory: true)
                    removed()
                    continue
                }
                let above = try FileDescriptor.open(
                    [UInt8(ascii: "."), UInt8(ascii: ".")], in: current, [.reading, .directory], resolving: .free)
                // Another process moved the directory away meanwhile: what is around it now must not be touched.
                if try above.status().inode != parent.inode { throw Errno.busy }
                current = above
                do throws(Errno) {
                    try current.unlink(level.name, directory: true)
                    removed()
                } catch {
                    failure = failure ?? error
                }
            } catch {
                throw failure ?? error
            }
        }
        if let failure { throw failure }
    }

    private struct Level {
        let name: [UInt8]
        let inode: UInt64
        var entries: [[UInt8]]

        init(name: [UInt8], of directory: borrowing FileDescriptor) throws(Errno) {
            self.name = name
            inode = try directory.status().inode
            entries = try directory.entryNames()
        }
    }

    /// Removes an entry, except for a directory that is not empty; returns false for that.
    private func removeUnlessDirectory(_ name: [UInt8]) throws(Errno) -> Bool {
        do throws(Errno) {
            try unlink(name)
            return true
        } catch {
            if error == .noSuchEntry { return true }
            if error != .isADirectory { throw error }
        }
        do throws(Errno) {
            try unlink(name, directory: true)
            return true
        } catch {
            if error == .notEmpty || error == .exists { return false }
            throw error
        }
    }

    private func allowEmptying(_ name: [UInt8]) throws(Errno) {
        let status = try status(of: name)
        if status.permissions & 0o700 != 0o700 { try? setMode(of: name, status.permissions | 0o700) }
    }

    /// Sets the mode of an entry, never that of a symbolic link's target. System calls: fchmodat(2)
    package func setMode(of name: [UInt8], _ mode: UInt32) throws(Errno) {
        let entry = try entry(name)
        _ = try check {
            unsafe withCString(entry.name) { unsafe fchmodat(entry.number, $0, mode, AT_SYMLINK_NOFOLLOW) }
        }
    }
}
