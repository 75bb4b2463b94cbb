#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// A directory that this user may not empty, so that `removeTree` leaves it and what is in it.
package struct RemovalObstacle: Equatable, Sendable {
    /// The path of the directory, below the one in which it was looked for.
    package var path: [UInt8]
    /// The user to whom the directory belongs.
    package var owner: UInt32

    package init(path: [UInt8], owner: UInt32) { (self.path, self.owner) = (path, owner) }
}

extension FileDescriptor {
    /// Returns the first directory of a tree that this user may not empty, and that is not empty; nil where there is
    /// none among the first `limit` entries. Follows no symbolic link. System calls: openat2(2), getdents(2), statx(2),
    /// faccessat2(2)
    package func removalObstacle(in name: [UInt8], limit: Int = .max) -> RemovalObstacle? {
        guard let top = try? status(of: name), top.isDirectory else { return nil }
        if cannotEmpty(name, top) { return RemovalObstacle(path: name, owner: top.owner) }
        var (rest, left) = ([name], limit)
        while let path = rest.popLast() {
            guard let open = try? FileDescriptor.open(path, in: self, [.reading, .directory]),
                let names = try? open.entryNames()
            else { continue }
            for name in names {
                if left == 0 { return nil }
                left -= 1
                guard let status = try? open.status(of: name), status.isDirectory else { continue }
                let inner = path + [UInt8(ascii: "/")] + name
                if open.cannotEmpty(name, status) { return RemovalObstacle(path: inner, owner: status.owner) }
                rest.append(inner)
            }
        }
        return nil
    }

    /// Returns the bytes of a file, or of all files of a tree, as far as this user may see them; only of the first
    /// `limit` entries. Follows no symbolic link. System calls: openat2(2), getdents(2), statx(2)
    package func sizeOfTree(_ name: [UInt8], limit: Int) -> UInt64 {
        guard let top = try? status(of: name) else { return 0 }
        if !top.isDirectory { return top.isRegularFile ? top.size : 0 }
        var (rest, left, bytes) = ([name], limit, UInt64(0))
        while let path = rest.popLast() {
            guard let open = try? FileDescriptor.open(path, in: self, [.reading, .directory]),
                let names = try? open.entryNames()
            else { continue }
            for name in names {
                if left == 0 { return bytes }
                left -= 1
                guard let status = try? open.status(of: name) else { continue }
                if status.isRegularFile { bytes += status.size }
                if status.isDirectory { rest.append(path + [UInt8(ascii: "/")] + name) }
            }
        }
        return bytes
    }

    /// Returns whether something is in a directory of this one, or may be, that this user may not remove. The mode of
    /// one's own directory can be changed. System calls: faccessat2(2), openat2(2), getdents(2)
    package func cannotEmpty(_ name: [UInt8], _ status: FileStatus) -> Bool {
        if status.owner == effectiveUser() { return false }
        return refusesChanges(in: name) && mayContainEntries(name)
    }

    /// Returns whether the mode of a directory keeps this user from listing it, or from making or removing entries in
    /// it. System calls: faccessat2(2)
    package func refusesChanges(in name: [UInt8]) -> Bool {
        let number = number
        do throws(Errno) {
            _ = try check { unsafe withCString(name) { unsafe faccessat(number, $0, R_OK | W_OK | X_OK, AT_EACCESS) } }
            return false
        } catch {
            return error == .accessDenied
        }
    }

    private func mayContainEntries(_ name: [UInt8]) -> Bool {
        guard let open = try? FileDescriptor.open(name, in: self, [.reading, .directory, .notFollowing]),
            let names = try? open.entryNames()
        else { return true }
        return !names.isEmpty
    }
}
