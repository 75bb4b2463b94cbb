import Foundation
import GroupSystemCalls

/// The output from a pipe, read by a thread of its own as soon as it is there, so that the writer never waits for the
/// test.
final class Drain: @unchecked Sendable {
    /// Guards everything below it.
    private let state = NSCondition()
    private var bytes: [UInt8] = []
    private var isAtEnd = false

    /// Holds the descriptor for the thread's closure, which cannot take a noncopyable value.
    private final class SharedDescriptor: Sendable {
        let descriptor: FileDescriptor
        init(_ descriptor: consuming FileDescriptor) { self.descriptor = descriptor }
    }

    init(_ reader: consuming FileDescriptor) {
        let reader = SharedDescriptor(reader)
        Thread.detachNewThread { [self] in
            var chunk = [UInt8](repeating: 0, count: 65_536)
            while let count = try? reader.descriptor.read(into: &chunk), count > 0 {
                state.withLock {
                    bytes.append(contentsOf: chunk[..<count])
                    state.broadcast()
                }
            }
            state.withLock {
                isAtEnd = true
                state.broadcast()
            }
        }
    }

    /// Everything printed until now.
    var text: String { state.withLock { String(decoding: bytes, as: UTF8.self) } }

    /// The number on the last whole line.
    var lastNumber: Int { state.withLock { Self.lastNumber(in: bytes) } }

    private static func lastNumber(in bytes: [UInt8]) -> Int {
        guard var place = bytes.lastIndex(of: 10) else { return 0 }
        var (number, unit) = (0, 1)
        while place > 0, (48...57).contains(bytes[place - 1]) {
            place -= 1
            number += Int(bytes[place] - 48) * unit
            unit *= 10
        }
        return number
    }

    func waitForNumber(_ number: Int) throws { try wait("for \(number)") { Self.lastNumber(in: $0) >= number } }

    func waitForText(_ isThere: (String) -> Bool) throws {
        try wait("for a text") { bytes in isThere(String(decoding: bytes, as: UTF8.self)) }
    }

    func waitForLines(_ count: Int) throws {
        try wait("for \(count) lines") { bytes in bytes.count { $0 == 10 } >= count }
    }

    /// Waits for one of several texts.
    func waitForText(_ expected: String...) throws {
        try wait("for '\(expected.joined(separator: "' or '"))'") { bytes in
            let text = String(decoding: bytes, as: UTF8.self)
            return expected.contains { text.contains($0) }
        }
    }

    func waitForEnd(within limit: Duration) throws {
        try state.withLock { try wait("for its end", within: limit) { isAtEnd } }
    }

    private func wait(_ what: String, until condition: ([UInt8]) -> Bool) throws {
        try state.withLock { try wait(what) { condition(bytes) } }
    }

    /// Waits with the lock held.
    private func wait(_ what: String, within limit: Duration = patience, until condition: () -> Bool) throws {
        let limit = Date(timeIntervalSinceNow: TimeInterval(limit.components.seconds))
        while !condition() {
            let isLate = isAtEnd || !state.wait(until: limit)
            if isLate && !condition() {
                let text = String(decoding: bytes.suffix(500), as: UTF8.self)
                throw WaitedInVain(
                    description: "waited in vain \(what); it \(isAtEnd ? "ended and " : "")printed \(text)")
            }
        }
    }
}

/// An event that a test waited for did not come.
package struct WaitedInVain: Error, CustomStringConvertible {
    package let description: String

    package init(description: String) { self.description = description }
}
