import CLinux
import Foundation
import Glibc
import SystemCalls

/// A process that this test started, with both ends of its conversation. Only such a process is ever signalled, and
/// never after it was reaped, when its number may be another's.
final class RunningProcess: @unchecked Sendable {
    let identifier: Int32
    /// Guards everything below it.
    private let state = NSCondition()
    private var output: [UInt8] = []
    private var isAtEnd = false
    private var isReaped = false
    private var input: FileDescriptor?

    /// More than any wait of a test that passes takes.
    static let patience: TimeInterval = 45

    struct WaitedInVain: Error, CustomStringConvertible {
        var description: String
    }

    /// Standard error goes where standard output goes. `input` must fit into a pipe; without it the input stays open.
    init(_ words: [String], input content: String? = nil) throws {
        _ = Glibc.signal(SIGPIPE, SIG_IGN)
        let inputs = try Pipe()
        let outputs = try Pipe()
        if let content { try inputs.writer.writeAll(Array(content.utf8)) }
        let shell = ["sh", "-c", #"exec "$@" 2>&1"#, "sh"]
        identifier = try ChildProcess(
            (shell + words).map { Array($0.utf8) }, input: inputs.reader, output: outputs.writer, diesWithParent: false
        ).identifier
        if content == nil { input = try inputs.writer.duplicate() }
        startDraining(try outputs.reader.duplicate())
    }

    /// For the thread's closure, which can not take what is not copyable.
    private final class SharedDescriptor: Sendable {
        let descriptor: FileDescriptor
        init(_ descriptor: consuming FileDescriptor) { self.descriptor = descriptor }
    }

    private struct Pipe: ~Copyable {
        let reader: FileDescriptor
        let writer: FileDescriptor

        init() throws {
            var ends: [Int32] = [-1, -1]
            guard unsafe clinux_pipe(&ends) == 0 else { throw WaitedInVain(description: "no pipe") }
            reader = FileDescriptor(owning: ends[0])
            writer = FileDescriptor(owning: ends[1])
        }
    }

    private func startDraining(_ reader: consuming FileDescriptor) {
        let reader = SharedDescriptor(reader)
        Thread.detachNewThread { [self] in
            var chunk = [UInt8](repeating: 0, count: 65_536)
            while let count = try? reader.descriptor.read(into: &chunk), count > 0 {
                state.withLock {
                    output.append(contentsOf: chunk[..<count])
                    state.broadcast()
                }
            }
            state.withLock {
                isAtEnd = true
                state.broadcast()
            }
        }
    }

    /// Everything that it has printed so far.
    var text: String { state.withLock { String(decoding: output, as: UTF8.self) } }

    /// The number on the last whole line that it has printed.
    var lastNumber: Int { state.withLock { Self.lastNumber(in: output) } }

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

    /// Waits for the number on its last line to reach one.
    func waitForNumber(_ number: Int) throws {
        try wait("for \(number)") { Self.lastNumber(in: output) >= number }
    }

    func waitForText(_ expected: String) throws {
        try wait("for '\(expected)'") { String(decoding: output, as: UTF8.self).contains(expected) }
    }

    private func wait(_ what: String, until condition: () -> Bool) throws {
        let limit = Date(timeIntervalSinceNow: Self.patience)
        try state.withLock {
            while !condition() {
                let isLate = isAtEnd || !state.wait(until: limit)
                if isLate && !condition() {
                    let said = String(decoding: output.suffix(500), as: UTF8.self)
                    throw WaitedInVain(
                        description: "waited in vain \(what); it \(isAtEnd ? "ended and " : "")said \(said)")
                }
            }
        }
    }

    func send(_ line: String) throws {
        try state.withLock { _ = try input?.writeAll(Array((line + "\n").utf8)) }
    }

    func closeInput() {
        state.withLock { input = nil }
    }

    /// Sends a signal, if it has not been reaped.
    func signal(_ number: Int32) {
        state.withLock { if !isReaped { _ = Glibc.kill(identifier, number) } }
    }

    /// Returns when the kernel has stopped all of it; false: it has ended.
    func stop() -> Bool {
        state.withLock {
            guard !isReaped else { return false }
            _ = Glibc.kill(identifier, SIGSTOP)
            var information = unsafe siginfo_t()
            // It stays to be waited for, whatever comes.
            let answer = unsafe waitid(P_PID, id_t(identifier), &information, WSTOPPED | WEXITED | WNOWAIT)
            return unsafe answer == 0 && information.si_code == 5  // CLD_STOPPED
        }
    }

    func resume() { signal(SIGCONT) }

    /// Waits for its end and returns its status as a shell has it; its children may live on.
    @discardableResult func reap() -> Int32 {
        var information = unsafe siginfo_t()
        var status: Int32 = 0
        // First without taking it, so that nobody who signals has to wait.
        _ = unsafe waitid(P_PID, id_t(identifier), &information, WEXITED | WNOWAIT)
        return state.withLock {
            if isReaped { return -1 }
            isReaped = true
            _ = unsafe waitpid(identifier, &status, 0)
            let signal = status & 0x7f
            return signal == 0 ? (status >> 8) & 0xff : 128 + signal
        }
    }

    /// Its status and everything that it printed, once it has ended.
    func finish() throws -> (status: Int32, text: String) {
        try wait("for its end") { isAtEnd }
        return (reap(), text)
    }

    /// Kills it and returns when it is gone.
    func kill() {
        signal(SIGKILL)
        reap()
    }

    /// How long its main thread has run, in nanoseconds: its own steps, however busy the machine is.
    var ownTime: Int {
        let file = try? FileDescriptor.open(path: Array("/proc/\(identifier)/schedstat".utf8), .reading)
        guard let file, let content = try? file.readAll(limit: 256) else { return 0 }
        return Int(String(decoding: content.prefix { $0 != 32 }, as: UTF8.self)) ?? 0
    }
}
