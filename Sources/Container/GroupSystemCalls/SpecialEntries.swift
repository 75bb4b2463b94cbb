#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// Entries that are neither files nor directories, and the owner of any entry.
extension FileDescriptor {
    /// System calls: symlinkat(2)
    package func makeLink(_ name: [UInt8], to target: [UInt8]) throws(Errno) {
        let entry = try entry(name)
        _ = try check {
            unsafe withCString(target) { target in
                unsafe withCString(entry.name) { unsafe symlinkat(target, entry.number, $0) }
            }
        }
    }

    /// Makes a FIFO, a socket or a device like another one; a device only as root. System calls: mknodat(2)
    package func makeNode(_ name: [UInt8], like status: FileStatus) throws(Errno) {
        let entry = try entry(name)
        _ = try check {
            unsafe withCString(entry.name) { unsafe mknodat(entry.number, $0, status.mode, dev_t(status.node)) }
        }
    }

    /// Sets the owner of the entry itself, also where it is a symbolic link. System calls: fchownat(2)
    package func setOwner(of name: [UInt8], _ owner: UInt32, group: UInt32) throws(Errno) {
        let entry = try entry(name)
        _ = try check {
            unsafe withCString(entry.name) { unsafe fchownat(entry.number, $0, owner, group, AT_SYMLINK_NOFOLLOW) }
        }
    }
}
