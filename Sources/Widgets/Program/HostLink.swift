import Dispatch
import GroupSystemCalls

/// The widget's end of its conversation with a host: lines on the standard streams, which are taken away from the rest of
/// the process.
final class HostLink: Sendable {
    private let output: FileDescriptor
    /// One line at a time.
    private let writing = Guarded(())
    /// What the host says. It ends with the input, or where the host says what makes no sense.
    let messages: AsyncStream<HostMessage>

    init() throws {
        output = try StandardStreams.takeOutput()
        let input = try StandardStreams.takeInput()
        let (messages, stream) = AsyncStream<HostMessage>.makeStream()
        self.messages = messages
        // It lives as long as the input is open: its handler keeps it.
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

    func say(_ message: WidgetMessage) throws {
        guard let line = ProtocolLine.encoded(message) else { return }
        try writing.withLock { _ in try output.writeAll(line + [0x0A]) }
    }
}

/// Keeps it open for as long as somebody reads.
private final class HeldDescriptor: Sendable {
    let descriptor: FileDescriptor
    init(_ descriptor: consuming FileDescriptor) { self.descriptor = descriptor }
}

private struct HostLineReader: Sendable {
    private var lines = LineBuffer()
    private var chunk = [UInt8](repeating: 0, count: 65_536)

    /// What has come. False: that was all.
    mutating func read(_ input: borrowing FileDescriptor, _ take: (HostMessage) -> Void) -> Bool {
        guard let count = try? input.read(into: &chunk), count > 0 else { return false }
        lines.append(chunk[..<count])
        while let line = lines.next() {
            // Of a newer host: what this one does not know, it does not do.
            if let message = ProtocolLine.decoded(HostMessage.self, from: line) { take(message) }
        }
        return !lines.isTooLong
    }
}
