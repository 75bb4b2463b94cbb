import CGroupLinux
import Glibc

/// The error of writing to standard output.
package enum OutputError: Error, Equatable, CustomStringConvertible {
    /// No process reads any more: the command ends quietly with 0.
    case closedPipe

    /// The `errno` of write(2); ENOSPC when the disk is full.
    case failed(Int32)

    /// A sentence for the user.
    package var description: String {
        switch self {
        case .closedPipe: "standard output was closed by its reader"
        case .failed(let code): "standard output: \(unsafe String(cString: strerror(code)))"
        }
    }
}

/// Standard output with a buffer, which is written on `flush`, or when it is full.
///
/// Not copyable, so that no two owners hold the same unwritten lines. Bytes that were not flushed when the value is
/// destroyed are lost: a deinit could not report the error.
package struct StandardOutput: ~Copyable, Sendable {
    private static let capacity = 65_536

    private let descriptor: Int32
    private var pending: [UInt8] = []

    /// Creates an output to a descriptor, which is never closed.
    package init(descriptor: Int32 = 1) { self.descriptor = descriptor }

    /// Adds the bytes to the buffer, and writes the buffer once it is full.
    package mutating func write(_ bytes: some Collection<UInt8>) throws(OutputError) {
        pending += bytes
        if pending.count >= Self.capacity { try flush() }
    }

    /// Adds a line; the newline is added.
    package mutating func writeLine(_ line: String) throws(OutputError) {
        try write(Array(line.utf8) + [0x0A])
    }

    /// Writes the whole buffer. After an error the buffer is empty: a half-written line cannot be completed.
    ///
    /// System calls: write(2), poll(2).
    package mutating func flush() throws(OutputError) {
        let bytes = pending
        pending.removeAll(keepingCapacity: true)
        var written = 0
        while written < bytes.count {
            let count = unsafe bytes[written...].withUnsafeBytes { rest in
                unsafe Glibc.write(descriptor, rest.baseAddress, rest.count)
            }
            let code = errno
            if count >= 0 {
                written += count
                continue
            }
            switch code {
            case EINTR: continue
            // The descriptor is shared with other processes, and one of them may have made it non-blocking.
            case EAGAIN: _ = returnedEvents(POLLOUT, timeout: -1)
            case EPIPE: throw .closedPipe
            default: throw .failed(code)
            }
        }
    }

    /// Adds a line, and writes nothing before `flushReady` or `flush`, however long the buffer is.
    package mutating func keepLine(_ line: String) {
        pending += line.utf8
        pending.append(0x0A)
    }

    /// The number of bytes not written yet.
    package var pendingCount: Int { pending.count }

    /// Writes as much as can be written now, without waiting: a slow or stopped reader does not stop its writer.
    /// Returns true if the buffer is empty.
    ///
    /// System calls: poll(2), write(2) of at most PIPE_BUF bytes, which a pipe that is ready takes at once.
    package mutating func flushReady() throws(OutputError) -> Bool {
        var written = 0
        defer { pending.removeFirst(written) }
        while written < pending.count {
            let events = returnedEvents(POLLOUT, timeout: 0)
            if events & (POLLERR | POLLHUP) != 0 { throw .closedPipe }
            if events & POLLOUT == 0 { return false }
            let count = unsafe pending[written...].prefix(4_096).withUnsafeBytes { rest in
                unsafe Glibc.write(descriptor, rest.baseAddress, rest.count)
            }
            switch (count, errno) {
            case (0..., _): written += count
            case (_, EINTR): continue
            case (_, EAGAIN): return false
            case (_, EPIPE): throw .closedPipe
            case (_, let code): throw .failed(code)
            }
        }
        return true
    }

    /// Writes bytes that another owner of this output does not have in its buffer, if that takes one call and no waiting:
    /// at most PIPE_BUF bytes, into a pipe. Returns false if nothing was written.
    ///
    /// System calls: pwritev2(2) with RWF_NOWAIT, because O_NONBLOCK would be set for other processes, too.
    package static func writeNow(_ bytes: [UInt8], to descriptor: Int32 = 1) -> Bool {
        if bytes.count > Int(PIPE_BUF) { return false }
        return unsafe bytes.withUnsafeBytes { unsafe clinux_write_now(descriptor, $0.baseAddress, $0.count) }
            == bytes.count
    }

    /// Whether standard output is a pipe.
    package static var isPipe: Bool {
        var status = stat()
        return unsafe fstat(1, &status) == 0 && status.st_mode & S_IFMT == S_IFIFO
    }

    /// Calls `flushReady` until the buffer is empty, or `nanoseconds` have passed. Returns true if it is empty.
    package mutating func flushReady(within nanoseconds: Int64) throws(OutputError) -> Bool {
        var left = nanoseconds
        while try !flushReady() {
            if left <= 0 { return false }
            let step: Int64 = 50_000_000
            _ = returnedEvents(POLLOUT, timeout: Int32(step / 1_000_000))
            left -= step
        }
        return true
    }

    /// Returns whether no process can read any more, so that a command that waits for changes can end.
    ///
    /// System calls: poll(2), which returns POLLERR for a pipe and POLLHUP for a socket or a terminal.
    package func readerIsGone() -> Bool { returnedEvents(0, timeout: 0) & (POLLERR | POLLHUP) != 0 }

    /// Whether standard output is a pipe, a socket or a terminal: a file has no reader that could go.
    package var hasReader: Bool {
        var status = stat()
        let kind = unsafe fstat(descriptor, &status) == 0 ? status.st_mode & S_IFMT : 0
        return kind == S_IFIFO || kind == S_IFSOCK || isatty(descriptor) == 1
    }

    /// Returns a function that blocks until no process can read any more, or the descriptor is closed. System calls:
    /// poll(2)
    package var waitUntilReaderIsGone: @Sendable () -> Void {
        { [descriptor] in
            while Self.returnedEvents(0, of: descriptor, timeout: -1) & (POLLERR | POLLHUP | POLLNVAL) == 0 {}
        }
    }

    private func returnedEvents(_ events: Int32, timeout: Int32) -> Int32 {
        Self.returnedEvents(events, of: descriptor, timeout: timeout)
    }

    private static func returnedEvents(_ events: Int32, of descriptor: Int32, timeout: Int32) -> Int32 {
        var entry = pollfd(fd: descriptor, events: Int16(events), revents: 0)
        return unsafe poll(&entry, 1, timeout) > 0 ? Int32(entry.revents) : 0
    }
}

extension StandardOutput {
    /// Whether standard output is a terminal.
    package static var isTerminal: Bool { isatty(1) == 1 }

    /// Whether standard input is a terminal.
    package static var isTerminalForInput: Bool { isatty(0) == 1 }

    /// Whether standard error is a terminal.
    package static var isTerminalForErrors: Bool { isatty(2) == 1 }
}
