#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

extension FileDescriptor {
    /// Returns whether a process has this file open for writing, or has mapped it for that; nil where the file system
    /// has no answer, or the file belongs to another user. This descriptor must be for reading only.
    ///
    /// A file lease for reading is granted only where no process can write; it is given back at once, so that no
    /// process waits for it. System calls: fcntl(F_SETLEASE)
    package func hasWriters() -> Bool? {
        if fcntl(number, Self.setLease, Int32(F_RDLCK)) == 0 {
            _ = fcntl(number, Self.setLease, Int32(F_UNLCK))
            return false
        }
        return errno == EAGAIN ? true : nil
    }

    /// `F_SETLEASE`, which Glibc shows to programs with GNU extensions only.
    private static let setLease: Int32 = 1024
}
