import Glibc
import GroupSystemCalls

/// A program that a test started and talks with: whatever it prints is read at once, however fast it is, and its input
/// stays open. For tests that block on threads of their own; `Command` is for those that await. It is killed, with all
/// that it started, when the test lets go of it.
package final class RunningProcess: @unchecked Sendable {
    package var identifier: Int32 { life.identifier }
    private let life: ProcessLife
    private let output: Drain
    private let input: Guarded<SharedInput?>

    private final class SharedInput: Sendable {
        let descriptor: FileDescriptor
        init(_ descriptor: consuming FileDescriptor) { self.descriptor = descriptor }
    }

    /// Standard error goes where standard output goes. Without `input` the input stays open.
    package init(_ words: [String], input content: String? = nil, environment: [String: String?] = [:]) throws {
        // Who sends to a process that has died finds that out.
        _ = Glibc.signal(SIGPIPE, SIG_IGN)
        let outputs = try Pipe()
        let source: FileDescriptor
        if let content {
            source = FileDescriptor(owning: try memoryFile(Array(content.utf8)))
            input = Guarded(nil)
        } else {
            let (reading, writing) = try makePipe()
            source = FileDescriptor(owning: reading)
            input = Guarded(SharedInput(FileDescriptor(owning: writing)))
        }
        let program = BuildDirectory.resolve(words.first ?? "").commandBytes
        let spawn = Spawn(
            words: [program] + words.dropFirst().map(\.commandBytes), environment: Spawn.environment(environment),
            streams: (source.number, outputs.writing.number, outputs.writing.number))
        life = ProcessLife(of: try spawn.start())
        output = Drain(try outputs.reading.duplicate())
    }

    /// Everything that it has printed so far.
    package var text: String { output.text }

    /// The number on the last whole line that it has printed.
    package var lastNumber: Int { output.lastNumber }

    /// Waits for the number on its last line to reach one.
    package func waitForNumber(_ number: Int) throws { try output.waitForNumber(number) }

    package func waitForLines(_ count: Int) throws { try output.waitForLines(count) }

    package func waitForText(_ expected: String) throws { try output.waitForText(expected) }

    package func waitForText(_ isThere: (String) -> Bool) throws { try output.waitForText(isThere) }

    package func send(_ line: String) throws {
        try input.withLock { try $0?.descriptor.writeAll(Array((line + "\n").utf8)) }
    }

    package func closeInput() { input.withLock { $0 = nil } }

    /// Sends a signal, if it has not been reaped; to all that it started, too, if told.
    package func signal(_ number: Int32, toGroup: Bool = false) { life.signal(number, toGroup: toGroup) }

    /// Returns when the kernel has stopped all of it; false: it has ended.
    package func stop() -> Bool { life.stop() }

    package func resume() { signal(SIGCONT) }

    /// Waits for its end and returns its status as a shell has it; its children may live on.
    @discardableResult package func reap() -> Int32 { life.reap() }

    /// Its status and everything that it printed, once it has ended.
    package func finish(within limit: Duration = patience) throws -> (status: Int32, text: String) {
        try output.waitForEnd(within: limit)
        return (reap(), text)
    }

    /// Kills it and returns when it is gone.
    package func kill() {
        signal(SIGKILL)
        reap()
    }

    /// How long its main thread has run, in nanoseconds: its own steps, however busy the machine is.
    package var ownTime: Int {
        let file = try? FileDescriptor.open(path: Array("/proc/\(identifier)/schedstat".utf8), .reading)
        guard let file, let content = try? file.readAll(limit: 256) else { return 0 }
        return Int(String(decoding: content.prefix { $0 != 32 }, as: UTF8.self)) ?? 0
    }
}
