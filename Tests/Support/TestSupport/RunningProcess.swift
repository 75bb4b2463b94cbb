import Foundation
import Glibc
import GroupSystemCalls

/// A program that a test started and talks with: whatever it prints is read at once, however fast it is, and its input
/// stays open. For tests that block on threads of their own; `Command` is for those that await. It is killed, with all
/// that it started, when the test releases it.
package final class RunningProcess: @unchecked Sendable {
    package var identifier: Int32 { life.identifier }
    private let life: ProcessLife
    private let output: Drain
    private let input: Guarded<SharedInput?>

    private final class SharedInput: Sendable {
        let descriptor: FileDescriptor
        init(_ descriptor: consuming FileDescriptor) { self.descriptor = descriptor }
    }

    /// Starts a program. Standard error goes where standard output goes. Without `input` the input stays open.
    package init(_ words: [String], input content: String? = nil, environment: [String: String?] = [:]) throws {
        // Sending to a process that has died is an error, not a signal.
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

    /// Starts a program that is killed also when the tests' process is, without a chance to end it. Its input has no
    /// content.
    package static func bound(_ words: [String], environment: [String: String?] = [:]) throws -> RunningProcess {
        let started = Guarded<Result<RunningProcess, any Error>?>(nil)
        let isStarted = Event()
        // The kernel sends the signal when the thread that started the program ends. So a thread of its own starts it,
        // and stays until the program has ended.
        Thread.detachNewThread {
            // The thread does not keep the object: the process would live until the end of the tests then.
            let identifier = {
                let result = Result {
                    try RunningProcess(["setpriv", "--pdeathsig", "KILL"] + words, input: "", environment: environment)
                }
                started.withLock { $0 = result }
                return try? result.get().identifier
            }()
            isStarted.happen()
            if let identifier { ProcessLife.awaitEnd(of: identifier) }
        }
        guard isStarted.await(), let result = started.withLock({ $0.take() }) else {
            throw WaitedInVain(description: "waited in vain for the start of \(words)")
        }
        return try result.get()
    }

    /// Everything that the process has printed so far.
    package var text: String { output.text }

    /// The number on the last whole line that the process has printed.
    package var lastNumber: Int { output.lastNumber }

    /// Waits until the number on the last line reaches this one.
    package func waitForNumber(_ number: Int) throws { try output.waitForNumber(number) }

    package func waitForLines(_ count: Int) throws { try output.waitForLines(count) }

    package func waitForText(_ expected: String) throws { try output.waitForText(expected) }

    package func waitForText(_ isThere: (String) -> Bool) throws { try output.waitForText(isThere) }

    package func send(_ line: String) throws {
        try input.withLock { try $0?.descriptor.writeAll(Array((line + "\n").utf8)) }
    }

    package func closeInput() { input.withLock { $0 = nil } }

    /// Sends a signal, if the process has not been reaped; with `toGroup`, to all that it started, too.
    package func signal(_ number: Int32, toGroup: Bool = false) { life.signal(number, toGroup: toGroup) }

    /// Stops the process, and returns when the kernel has stopped all of it; false if it has ended.
    package func stop() -> Bool { life.stop() }

    package func resume() { signal(SIGCONT) }

    /// Whether the process has ended; it need not be reaped yet.
    package var hasEnded: Bool { life.hasEnded }

    /// Waits for the end and returns the status as a shell has it; children may live on.
    @discardableResult package func reap() -> Int32 { life.reap() }

    /// Waits for the end, and returns the status and everything that was printed.
    package func finish(within limit: Duration = patience) throws -> (status: Int32, text: String) {
        try output.waitForEnd(within: limit)
        return (reap(), text)
    }

    /// Kills the process, and returns when it is gone.
    package func kill() {
        signal(SIGKILL)
        reap()
    }

    /// The time that its main thread has run, in nanoseconds, however busy the machine is.
    package var ownTime: Int {
        let file = try? FileDescriptor.open(path: Array("/proc/\(identifier)/schedstat".utf8), .reading)
        guard let file, let content = try? file.readAll(limit: 256) else { return 0 }
        return Int(String(decoding: content.prefix { $0 != 32 }, as: UTF8.self)) ?? 0
    }
}
