import SystemCalls

/// A file's copy.
enum FileCopy {
    /// `finish` gives it what it has besides its content. System calls: openat2, ioctl(FICLONE) or copy_file_range,
    /// fsync
    static func make(
        _ name: [UInt8], in folder: borrowing FileDescriptor, of original: borrowing FileDescriptor, isDurable: Bool,
        _ finish: (borrowing FileDescriptor) throws(Errno) -> Void
    ) throws(Errno) -> FileStatus {
        let file = try FileDescriptor.open(
            name, in: folder, [.writing, .creating, .exclusively, .notFollowing], mode: 0o600)
        try file.copyContent(of: original)
        try finish(file)
        if isDurable { try file.synchronize() }
        return try file.status()
    }

    /// Mode and owner. Only root may give files away, and a group that is not one's own cannot be set: then it is the
    /// copier's alone. System calls: fchown, fchmod
    static func keepOwnerAndMode(of old: FileStatus, on copy: borrowing FileDescriptor) throws(Errno) {
        let new = try copy.status()
        var mode = old.permissions
        if new.owner != old.owner || new.group != old.group {
            do throws(Errno) { try copy.setOwner(old.owner, group: old.group) } catch { mode &= 0o700 }
        }
        try copy.setMode(mode)
    }
}
