import Dispatch
import GroupSystemCalls

/// The widget's end of its connection to a host: lines on the standard streams, which the rest of the process can no
/// longer use.
final class HostLink: Sendable {
    private let output: FileDescriptor
    /// The lock for writing one line at a time.
    private let writing = Guarded(())
    /// The messages of the host. The stream ends with the input, or after a line that is too long.
    let messages: AsyncStream<HostMessage>

    init() throws {
        output = try StandardStreams.takeOutput()
        let input = try StandardStreams.takeInput()
        let (messages, stream) = AsyncStream<HostMessage>.makeStream()
        self.messages = messages
        // The source lives as long as the input is open: its handler keeps it.
        let source = DispatchSource.makeReadSource(
            fileDescriptor: input.number, queue: DispatchQueue(label: "messages of the widget's host"))
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

    func send(_ message: WidgetMessage) throws {
        guard let line = ProtocolLine.encoded(message) else { return }
        try writing.withLock { _ in try output.writeAll(line + [0x0A]) }
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

    /// Reads what is there, and passes on its messages. Returns false at the end of the input, or if a line is too
    /// long.
    mutating func read(_ input: borrowing FileDescriptor, _ take: (HostMessage) -> Void) -> Bool {
        guard let count = try? input.read(into: &chunk), count > 0 else { return false }
        lines.append(chunk[..<count])
        while let line = lines.next() {
            // A newer host may send messages that this version cannot decode; they are ignored.
            if let message = ProtocolLine.decoded(HostMessage.self, from: line) { take(message) }
        }
        return !lines.isTooLong
    }
}
