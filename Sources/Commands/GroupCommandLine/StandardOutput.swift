package import GroupSystemCalls

/// The error of writing to standard output.
package enum OutputError: Error, Equatable, CustomStringConvertible {
    /// No process reads any more: the command ends quietly with 0.
    case closedPipe

    /// A signal arrived while the reader did not read: the command ends quietly with 128 + its number.
    case interrupted(signal: Int32)

    /// The error of write(2): `noSpace` when the disk is full.
    case failed(Errno)

    /// A sentence for the user.
    package var description: String {
        switch self {
        case .closedPipe: "standard output was closed by its reader"
        case .interrupted(let signal): "signal \(signal) ended the wait for the reader of standard output"
        case .failed(let error): "standard output: \(error)"
        }
    }
}

/// Standard output with a buffer, which is written on `flush`, or when it is full.
///
/// Not copyable, so that no two owners hold the same unwritten lines. Bytes that were not flushed when the value is
/// destroyed are lost: a deinit could not report the error.
package struct StandardOutput: ~Copyable, Sendable {
    private static let capacity = 65_536
    /// How long a reader has after a signal, in nanoseconds, so that one that reads gets whole lines.
    private static let patienceAfterSignal: Int64 = 200_000_000

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

    /// Writes the whole buffer. After an error the buffer is empty: a half-written line cannot be completed. Where
    /// signals are noted, one of them ends the wait for a reader that does not read.
    ///
    /// System calls: write(2), poll(2); where signals are noted, pwritev2(2) and fstat(2).
    package mutating func flush() throws(OutputError) {
        let bytes = pending
        pending.removeAll(keepingCapacity: true)
        var (written, end): (Int, Int64?) = (0, nil)
        // A signal that is only noted may come just before write(2) begins to wait, which would then not end.
        let mayWait = !TerminationSignals.areNoted || !hasReader
        while written < bytes.count {
            do throws(Errno) {
                let rest = bytes[written...]
                written +=
                    try mayWait
                    ? StandardStreams.write(rest, to: descriptor) : StandardStreams.writeReady(rest, to: descriptor)
            } catch {
                switch error {
                case .interrupted: break
                case .tryAgain: try awaitReader(until: &end)
                case .brokenPipe: throw .closedPipe
                default: throw .failed(error)
                }
            }
        }
    }

    /// Waits until more can be written; may return early. After a signal, waits until `end`, which it sets, and throws
    /// then.
    private func awaitReader(until end: inout Int64?) throws(OutputError) {
        if let number = TerminationSignals.latest {
            let now = monotonicNanoseconds()
            let limit = end ?? now + Self.patienceAfterSignal
            end = limit
            if now >= limit { throw .interrupted(signal: number) }
        }
        _ = StandardStreams.wait(
            for: .writable, of: descriptor, milliseconds: TerminationSignals.areNoted ? 50 : nil)
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
            let events = StandardStreams.wait(for: .writable, of: descriptor, milliseconds: 0)
            if !events.isDisjoint(with: .readerIsGone) { throw .closedPipe }
            if !events.contains(.writable) { return false }
            do throws(Errno) {
                written += try StandardStreams.write(pending[written...].prefix(4_096), to: descriptor)
            } catch {
                switch error {
                case .interrupted: break
                case .tryAgain: return false
                case .brokenPipe: throw .closedPipe
                default: throw .failed(error)
                }
            }
        }
        return true
    }

    /// Writes bytes that another owner of this output does not have in its buffer, if that takes one call and no
    /// waiting: at most PIPE_BUF bytes, into a pipe. Returns false if nothing was written.
    package static func writeNow(_ bytes: [UInt8], to descriptor: Int32 = 1) -> Bool {
        StandardStreams.writeNow(bytes, to: descriptor)
    }

    /// Whether standard output is a pipe.
    package static var isPipe: Bool { StandardStreams.kind(of: 1) == .pipe }

    /// Calls `flushReady` until the buffer is empty, or `nanoseconds` have passed. Returns true if it is empty.
    package mutating func flushReady(within nanoseconds: Int64) throws(OutputError) -> Bool {
        var left = nanoseconds
        while try !flushReady() {
            if left <= 0 { return false }
            _ = StandardStreams.wait(for: .writable, of: descriptor, milliseconds: 50)
            left -= 50_000_000
        }
        return true
    }

    /// Returns whether no process can read any more, so that a command that waits for changes can end.
    ///
    /// System calls: poll(2), which returns POLLERR for a pipe and POLLHUP for a socket or a terminal.
    package func readerIsGone() -> Bool {
        !StandardStreams.wait(for: [], of: descriptor, milliseconds: 0).isDisjoint(with: .readerIsGone)
    }

    /// Whether standard output is a pipe, a socket or a terminal: a file has no reader that could go.
    package var hasReader: Bool { StandardStreams.kind(of: descriptor) != .other }

    /// Returns a function that blocks until no process can read any more, or the descriptor is closed. System calls:
    /// poll(2)
    package var waitUntilReaderIsGone: @Sendable () -> Void {
        { [descriptor] in
            let ends: StandardStreams.Events = [.readerIsGone, .closed]
            while StandardStreams.wait(for: [], of: descriptor, milliseconds: nil).isDisjoint(with: ends) {}
        }
    }
}

extension StandardOutput {
    /// Whether standard output is a terminal.
    package static var isTerminal: Bool { StandardStreams.kind(of: 1) == .terminal }

    /// Whether standard input is a terminal.
    package static var isTerminalForInput: Bool { StandardStreams.kind(of: 0) == .terminal }

    /// Whether standard error is a terminal.
    package static var isTerminalForErrors: Bool { StandardStreams.kind(of: 2) == .terminal }
}
