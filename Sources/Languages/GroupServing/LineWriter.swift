import GroupCommandLine
import GroupSystemCalls

/// Writes the lines of a connection, each as a whole. A client that does not read makes the writer wait.
final class LineWriter: Sendable {
    private let descriptor: Int32
    /// Whether the client is gone, guarded while a line is written: so lines do not mix.
    private let isGone = Guarded(false)
    /// Why a line could not be written, unless the client has just gone.
    private let failure = Guarded<Errno?>(nil)
    var error: Errno? { failure.withLock { $0 } }

    init(_ descriptor: Int32) { self.descriptor = descriptor }

    func write(_ line: JSONValue) { write(Self.bytes(of: line)) }

    /// Writes lines with their newlines. Writes nothing after the client has gone. System calls: write(2), poll(2)
    func write(_ lines: [UInt8]) {
        isGone.withLock { isGone in
            var written = 0
            while !isGone && written < lines.count {
                do throws(Errno) {
                    written += try StandardStreams.write(lines[written...], to: descriptor)
                } catch {
                    switch error {
                    case .interrupted: break
                    case .tryAgain:
                        _ = StandardStreams.wait(for: .writable, of: descriptor, milliseconds: nil)
                    default:
                        isGone = true
                        if error != .brokenPipe { failure.withLock { $0 = error } }
                    }
                }
            }
        }
    }

    /// Writes nothing more: the descriptor is about to be closed, and its number may be another file's then. What a
    /// stream is writing into a socket meanwhile is cut off. System calls: shutdown(2)
    func end() {
        UnixListener.shutDown(descriptor)
        isGone.withLock { $0 = true }
    }

    static func bytes(of line: JSONValue) -> [UInt8] { Array(line.encoded().utf8) + [0x0A] }
}
