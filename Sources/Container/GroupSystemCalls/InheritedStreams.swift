import CGroupLinux
#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// Calls on standard input, output and errors, which this process has inherited: another process may have them open,
/// too, and may have made them non-blocking.
extension StandardStreams {
    /// What a stream is ready for.
    package struct Events: OptionSet, Sendable {
        package let rawValue: Int16
        package init(rawValue: Int16) { self.rawValue = rawValue }

        package static let readable = Events(rawValue: Int16(POLLIN))
        package static let writable = Events(rawValue: Int16(POLLOUT))
        /// No process can read any more: an error of a pipe, the end of a socket or a terminal.
        package static let readerIsGone = Events(rawValue: Int16(POLLERR | POLLHUP))
        /// The descriptor is closed.
        package static let closed = Events(rawValue: Int16(POLLNVAL))
    }

    /// The kind of file that a stream is.
    package enum Kind: Sendable { case pipe, socket, terminal, other }

    /// Reads into the first `count` bytes of `buffer`, and returns how many were read; 0 at the end. System calls:
    /// read(2)
    package static func read(
        _ descriptor: Int32, into buffer: inout [UInt8], count: Int
    ) throws(Errno) -> Int {
        let done = unsafe readBytes(descriptor, &buffer, min(count, buffer.count))
        if done < 0 { throw Errno.last }
        return done
    }

    /// Writes what can be written of the bytes, and returns how many that were. System calls: write(2)
    package static func write(_ bytes: ArraySlice<UInt8>, to descriptor: Int32) throws(Errno) -> Int {
        let (count, error) = unsafe bytes.withUnsafeBytes { bytes in
            let count = unsafe writeBytes(descriptor, bytes.baseAddress, bytes.count)
            return (count, Errno.last)
        }
        if count < 0 { throw error }
        return count
    }

    /// Writes all of the bytes, at most PIPE_BUF, into a pipe, if that takes one call and no waiting. Returns false if
    /// nothing was written. System calls: pwritev2(2) with RWF_NOWAIT, because O_NONBLOCK would be set for other
    /// processes, too
    package static func writeNow(_ bytes: [UInt8], to descriptor: Int32) -> Bool {
        if bytes.count > Int(PIPE_BUF) { return false }
        return unsafe bytes.withUnsafeBytes { unsafe clinux_write_now(descriptor, $0.baseAddress, $0.count) }
            == bytes.count
    }

    /// Writes what can be written of the bytes now, into a pipe, a socket or a terminal, and returns how many that
    /// were. Errors: `tryAgain` if nothing can be; those of write(2). System calls: pwritev2(2) with RWF_NOWAIT; where
    /// that is not supported, poll(2) and write(2) of at most PIPE_BUF bytes, which a pipe that is ready takes at once
    package static func writeReady(_ bytes: ArraySlice<UInt8>, to descriptor: Int32) throws(Errno) -> Int {
        let (count, error) = unsafe bytes.withUnsafeBytes { bytes in
            let count = unsafe clinux_write_now(descriptor, bytes.baseAddress, bytes.count)
            return (count, Errno.last)
        }
        if count >= 0 { return Int(count) }
        if ![.notSupported, .noSystemCall].contains(error) { throw error }
        if wait(for: .writable, of: descriptor, milliseconds: 0).isEmpty { throw .tryAgain }
        return try write(bytes.prefix(Int(PIPE_BUF)), to: descriptor)
    }

    /// Waits until the stream is ready for one of the events, its reader is gone or it is closed; at most that long
    /// (nil: no limit). Returns what it is ready for: nothing after a signal, too. System calls: poll(2)
    package static func wait(for events: Events, of descriptor: Int32, milliseconds: Int32?) -> Events {
        var entry = pollfd(fd: descriptor, events: events.rawValue, revents: 0)
        return unsafe poll(&entry, 1, milliseconds ?? -1) > 0 ? Events(rawValue: entry.revents) : []
    }

    /// Returns what a stream is. System calls: fstat(2), ioctl(TCGETS)
    package static func kind(of descriptor: Int32) -> Kind {
        var status = stat()
        switch unsafe fstat(descriptor, &status) == 0 ? status.st_mode & S_IFMT : 0 {
        case S_IFIFO: return .pipe
        case S_IFSOCK: return .socket
        default: return isatty(descriptor) == 1 ? .terminal : .other
        }
    }
}
