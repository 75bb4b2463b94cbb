import Glibc

/// The error of reading standard input.
package enum InputError: Error, Equatable, CustomStringConvertible {
    /// The input is longer than this many bytes.
    case tooLarge(limit: Int)

    /// The `errno` of read(2).
    case failed(Int32)

    /// A sentence for the user.
    package var description: String {
        switch self {
        case .tooLarge(let limit): "standard input is longer than \(limit) bytes"
        case .failed(let code): "standard input: \(unsafe String(cString: strerror(code)))"
        }
    }
}

/// Standard input, read as a whole or piece by piece.
package enum StandardInput {
    private static let chunk = 65_536

    /// Returns the whole input, which may have at most `limit` bytes. Blocks the thread.
    ///
    /// `note` is called with the number of bytes read so far. System calls: read(2), poll(2).
    package static func readAll(limit: Int, descriptor: Int32 = 0, _ note: (Int) -> Void = { _ in })
        throws(InputError) -> [UInt8]
    {
        var bytes: [UInt8] = []
        var buffer: [UInt8] = []
        while try next(&buffer, descriptor) {
            guard buffer.count <= limit - bytes.count else { throw .tooLarge(limit: limit) }
            bytes += buffer
            note(bytes.count)
        }
        return bytes
    }

    /// Returns the first `count` bytes, or fewer if the input ends before. Blocks the thread. System calls: read(2),
    /// poll(2).
    package static func readBeginning(_ count: Int, descriptor: Int32 = 0) throws(InputError) -> [UInt8] {
        var bytes: [UInt8] = []
        var buffer: [UInt8] = []
        while bytes.count < count, try next(&buffer, descriptor) { bytes += buffer.prefix(count - bytes.count) }
        return bytes
    }

    /// Replaces the content of `buffer` with the next piece; returns false at the end of the input. Blocks the thread.
    ///
    /// System calls: read(2), poll(2).
    package static func next(_ buffer: inout [UInt8], _ descriptor: Int32 = 0) throws(InputError) -> Bool {
        if buffer.count < chunk { buffer += [UInt8](repeating: 0, count: chunk - buffer.count) }
        while true {
            let count = unsafe read(descriptor, &buffer, chunk)
            let code = errno
            if count >= 0 {
                buffer.removeLast(buffer.count - count)
                return count > 0
            }
            if code == EAGAIN {
                var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
                _ = unsafe poll(&entry, 1, -1)
            } else if code != EINTR {
                throw .failed(code)
            }
        }
    }
}
