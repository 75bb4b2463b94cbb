import Dispatch
package import GroupSystemCalls

/// A program's end of its connection to the host that has started it: lines on the standard streams, which the rest of
/// the process can no longer use.
package final class HostLink: Sendable {
    private let output: FileDescriptor
    /// The lock for writing one line at a time.
    private let writing = Guarded(())
    /// The lines of the host, without their newlines. The stream ends with the input, or after a line that is too long.
    package let lines: AsyncStream<[UInt8]>

    /// Takes the standard streams. Errors: those of the system. System calls: fcntl(2), dup2(2), openat2(2)
    package init() throws(Errno) {
        output = try StandardStreams.takeOutput()
        let input = try StandardStreams.takeInput()
        let (lines, stream) = AsyncStream<[UInt8]>.makeStream()
        self.lines = lines
        // The source lives as long as the input is open: its handler keeps it.
        let source = DispatchSource.makeReadSource(
            fileDescriptor: input.number, queue: DispatchQueue(label: "lines of the host"))
        let reader = Guarded(HostLineReader())
        let held = HeldDescriptor(input)
        source.setEventHandler { [source] in
            let isOpen = reader.withLock { $0.read(held.descriptor) { stream.yield($0) } }
            if isOpen { return }
            stream.finish()
            source.cancel()
        }
        source.activate()
    }

    /// Writes a message as one line; nothing where it contains a number that JSON cannot hold. Errors: those of the
    /// system. System calls: write(2)
    package func send(_ message: some Encodable) throws(Errno) {
        guard let line = ProtocolLine.encoded(message) else { return }
        try send(line: line)
    }

    /// Writes a line, which has no newline yet. Errors: those of the system. System calls: write(2)
    package func send(line: [UInt8]) throws(Errno) {
        try writing.withLock { _ throws(Errno) in try output.writeAll(line + [0x0A]) }
    }
}

/// Keeps a descriptor open as long as the source reads from it.
private final class HeldDescriptor: Sendable {
    let descriptor: FileDescriptor
    init(_ descriptor: consuming FileDescriptor) { self.descriptor = descriptor }
}

private struct HostLineReader: Sendable {
    private var lines = LineBuffer()
    private var chunk = [UInt8](repeating: 0, count: 65_536)

    /// Reads what is there, and passes on its lines. Returns false at the end of the input, or if a line is too long.
    mutating func read(_ input: borrowing FileDescriptor, _ take: ([UInt8]) -> Void) -> Bool {
        guard let count = try? input.read(into: &chunk), count > 0 else { return false }
        lines.append(chunk[..<count])
        while let line = lines.next() { take(line) }
        return !lines.isTooLong
    }
}
