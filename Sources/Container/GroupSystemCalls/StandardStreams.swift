#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// A process's standard input and output, taken away from all other code in it that might read or print.
package enum StandardStreams {
    /// Returns the file of standard output; what is printed from now on goes to standard error. System calls: fcntl(2),
    /// dup2(2)
    package static func takeOutput() throws(Errno) -> FileDescriptor {
        try redirectOutput(to: 2)
    }

    /// Makes standard output another file, and returns the file that it was. System calls: fcntl(2), dup2(2)
    package static func redirectOutput(to file: borrowing FileDescriptor) throws(Errno) -> FileDescriptor {
        try redirectOutput(to: file.number)
    }

    private static func redirectOutput(to number: Int32) throws(Errno) -> FileDescriptor {
        let stream = FileDescriptor(owning: try check { fcntl(1, F_DUPFD_CLOEXEC, 3) })
        _ = try retryingOnInterrupt { dup2(number, 1) }
        return stream
    }

    /// Makes standard output the file again that it was. System calls: dup2(2)
    package static func restoreOutput(_ stream: borrowing FileDescriptor) { _ = dup2(stream.number, 1) }

    /// Returns the file of standard input, which is empty from now on. System calls: fcntl(2), openat2(2), dup2(2)
    package static func takeInput() throws(Errno) -> FileDescriptor {
        let stream = FileDescriptor(owning: try check { fcntl(0, F_DUPFD_CLOEXEC, 3) })
        let nothing = try FileDescriptor.open(path: Array("/dev/null".utf8), .reading)
        let number = nothing.number
        _ = try retryingOnInterrupt { dup2(number, 0) }
        return stream
    }
}

extension FileDescriptor {
    /// Takes over a descriptor that this process has inherited, other than a standard stream, and makes it
    /// close-on-exec. Errors: it is not open; `invalid` for one that this process has opened, and for one that is open
    /// for writing rather than reading, or the other way round. System calls: fcntl(2)
    package static func inherited(_ number: Int32, forWriting: Bool = false) throws(Errno) -> FileDescriptor {
        let flags = try check { fcntl(number, F_GETFD) }
        let mode = try check { fcntl(number, F_GETFL) } & O_ACCMODE
        // A program that was started has no other descriptors without close-on-exec than those it has inherited.
        let isSuitable = forWriting ? mode != O_RDONLY : mode == O_RDONLY
        if number < 3 || flags & FD_CLOEXEC != 0 || !isSuitable { throw .invalid }
        _ = try check { fcntl(number, F_SETFD, FD_CLOEXEC) }
        return FileDescriptor(owning: number)
    }
}
