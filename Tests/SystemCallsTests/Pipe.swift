import Glibc
import SystemCalls

/// Both ends of a pipe.
struct Pipe: ~Copyable {
    let reading: FileDescriptor
    let writing: FileDescriptor

    init() throws(Errno) {
        var ends: [Int32] = [-1, -1]
        if unsafe pipe(&ends) != 0 { throw Errno(errno) }
        _ = fcntl(ends[0], F_SETFD, FD_CLOEXEC)
        _ = fcntl(ends[1], F_SETFD, FD_CLOEXEC)
        reading = FileDescriptor(owning: ends[0])
        writing = FileDescriptor(owning: ends[1])
    }
}
