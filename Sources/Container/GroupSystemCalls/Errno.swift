#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// The reason why a system call failed: `errno(3)`.
package struct Errno: Error, Equatable, Hashable, Sendable, CustomStringConvertible {
    package var code: Int32

    package init(_ code: Int32) { self.code = code }

    /// The error of the calling thread's last system call.
    static var last: Errno { Errno(errno) }

    package static let notPermitted = Errno(EPERM)
    package static let noSuchEntry = Errno(ENOENT)
    package static let inputOutput = Errno(EIO)
    package static let interrupted = Errno(EINTR)
    package static let brokenPipe = Errno(EPIPE)
    package static let accessDenied = Errno(EACCES)
    package static let exists = Errno(EEXIST)
    package static let crossesDevices = Errno(EXDEV)
    package static let notADirectory = Errno(ENOTDIR)
    package static let isADirectory = Errno(EISDIR)
    package static let busy = Errno(EBUSY)
    package static let noMemory = Errno(ENOMEM)
    package static let tooManyFiles = Errno(EMFILE)
    package static let tooManyFilesInSystem = Errno(ENFILE)
    package static let noSpace = Errno(ENOSPC)
    package static let tooLarge = Errno(EFBIG)
    package static let quotaExceeded = Errno(EDQUOT)
    package static let readOnly = Errno(EROFS)
    package static let tooManyLinks = Errno(ELOOP)
    package static let nameTooLong = Errno(ENAMETOOLONG)
    package static let tryAgain = Errno(EAGAIN)
    package static let invalid = Errno(EINVAL)
    package static let notSupported = Errno(ENOTSUP)
    /// The error of a file system whose server has ended.
    package static let notConnected = Errno(ENOTCONN)
    package static let noAttribute = Errno(ENODATA)
    /// The file has as many hard links as its file system allows.
    package static let noMoreNames = Errno(EMLINK)
    package static let notEmpty = Errno(ENOTEMPTY)
    package static let noSystemCall = Errno(ENOSYS)
    /// The error for a socket that is opened like a file.
    package static let noSuchDevice = Errno(ENXIO)
    /// A FIFO where a file was.
    package static let illegalSeek = Errno(ESPIPE)
    package static let addressInUse = Errno(EADDRINUSE)
    package static let connectionRefused = Errno(ECONNREFUSED)
    package static let connectionAborted = Errno(ECONNABORTED)

    package var description: String {
        guard let text = unsafe strerror(code) else { return "error \(code)" }
        return unsafe String(cString: text)
    }
}

/// Makes a call that returns -1 and sets errno in case of an error, and throws that error.
func check<Number: FixedWidthInteger>(_ call: () -> Number) throws(Errno) -> Number {
    let answer = call()
    if answer == -1 { throw Errno.last }
    return answer
}

/// Makes a call that returns -1 in case of an error, and repeats the call as long as a signal interrupts it; throws any
/// other error. Not for close(2): when close is interrupted, Linux has closed the descriptor already.
func retryingOnInterrupt<Number: FixedWidthInteger>(_ call: () -> Number) throws(Errno) -> Number {
    while true {
        let answer = call()
        if answer != -1 { return answer }
        if errno != EINTR { throw Errno.last }
    }
}
