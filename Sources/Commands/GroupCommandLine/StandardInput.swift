package import GroupSystemCalls

/// The error of reading standard input.
package enum InputError: Error, Equatable, CustomStringConvertible {
    /// The input is longer than this many bytes.
    case tooLarge(limit: Int)

    /// The error of read(2).
    case failed(Errno)

    /// A sentence for the user.
    package var description: String {
        switch self {
        case .tooLarge(let limit): "standard input is longer than \(limit) bytes"
        case .failed(let error): "standard input: \(error)"
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
            do throws(Errno) {
                let count = try StandardStreams.read(descriptor, into: &buffer, count: chunk)
                buffer.removeLast(buffer.count - count)
                return count > 0
            } catch {
                switch error {
                case .tryAgain: _ = StandardStreams.wait(for: .readable, of: descriptor, milliseconds: nil)
                case .interrupted: break
                default: throw .failed(error)
                }
            }
        }
    }
}

extension [UInt8] {
    /// The text of these bytes; nil if they are not valid UTF-8.
    package var validText: String? { String(validating: self, as: UTF8.self) }
}
