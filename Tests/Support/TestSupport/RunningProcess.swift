import CGroupLinux
import Foundation
import Glibc
import GroupSystemCalls

/// A program that a test started: one of this package, or one in PATH. It is killed, with all that it started, when the
/// test releases it.
///
/// Tests that block on threads of their own (`.ownThreads`) use the blocking calls; tests that await use the async ones,
/// which have the same names.
package final class RunningProcess: Sendable {
    /// The destination of its standard output.
    package enum Output: Sendable {
        /// Read at once, whether the test waits for it or not.
        case captured
        /// Read only while the test waits: until then the program waits, once the pipe is full.
        case readOnDemand
        case file(String)
        /// A pipe without a reader.
        case closedPipe
    }

    /// The destination of its standard error.
    package enum Errors: Sendable {
        /// Where standard output goes.
        case withOutput
        /// A stream of its own.
        case apart
    }

    /// A stream that can be read.
    package enum Stream: Sendable {
        case output, errors
    }

    /// How it ended, and all that it printed.
    package struct Outcome: CustomStringConvertible, Sendable {
        /// 128 + n for signal n.
        package let status: Int32
        package let output: [UInt8]
        package let errors: String

        package var text: String { String(decoding: output, as: UTF8.self) }
        package var lines: [String] {
            text.split(separator: "\n", omittingEmptySubsequences: false).dropLast(1).map(String.init)
        }
        package var description: String { "status \(status), output '\(text.prefix(2_000))', errors '\(errors)'" }
    }

    /// The program did not do within its time what the test waited for.
    package struct Hangs: Error, CustomStringConvertible {
        package let description: String
    }

    package var identifier: Int32 { life.identifier }
    private let name: String
    private let life: ProcessLife
    private let output: Drain
    /// nil if standard error goes where standard output goes.
    private let errors: Drain?
    /// The writing end of its input while that is open.
    private let input: Guarded<SharedInput?>

    private final class SharedInput: Sendable {
        let descriptor: FileDescriptor
        init(_ descriptor: consuming FileDescriptor) { self.descriptor = descriptor }
    }

    /// Starts a program. A nil in `environment` removes the variable from the tests' environment. With nil for `input`
    /// the input stays open, for `send`, until `closeInput` or the object's release.
    package init(
        _ words: [any BytesConvertible], input content: (any BytesConvertible)? = nil,
        environment: [String: String?] = [:], output destination: Output = .captured, errors: Errors = .withOutput,
        directory: String? = nil
    ) throws {
        // Sending to a process that has died is an error, not a signal.
        _ = Glibc.signal(SIGPIPE, SIG_IGN)
        var texts = words.map(\.commandBytes)
        name = texts.map { String(decoding: $0, as: UTF8.self) }.joined(separator: " ")
        if let program = texts.first {
            texts[0] = BuildDirectory.resolve(String(decoding: program, as: UTF8.self)).commandBytes
        }
        if let directory { texts = ["env", "-C", directory].map(\.commandBytes) + texts }
        let source: FileDescriptor
        if let content {
            source = FileDescriptor(owning: try memoryFile(content.commandBytes))
            input = Guarded(nil)
        } else {
            let (reading, writing) = try makePipe()
            source = FileDescriptor(owning: reading)
            input = Guarded(SharedInput(FileDescriptor(owning: writing)))
        }
        let (reading, writing) = try makePipe()
        let isOnDemand = if case .readOnDemand = destination { true } else { false }
        output = Drain(owning: reading, atOnce: !isOnDemand)
        var target = FileDescriptor(owning: writing)
        switch destination {
        case .captured, .readOnDemand: break
        case .closedPipe: output.close()
        case .file(let path):
            let file = unsafe open(path, O_WRONLY | O_CLOEXEC)
            if file < 0 { throw SetUpError("open \(path)", errno) }
            target = FileDescriptor(owning: file)
        }
        var errorTarget: FileDescriptor?
        var errorDrain: Drain?
        if errors == .apart {
            let (reading, writing) = try makePipe()
            errorDrain = Drain(owning: reading, atOnce: !isOnDemand)
            errorTarget = FileDescriptor(owning: writing)
        }
        self.errors = errorDrain
        let spawn = Spawn(
            words: texts, environment: Spawn.environment(environment),
            streams: (source.number, target.number, errorTarget?.number ?? target.number))
        life = ProcessLife(of: try spawn.start())
    }

    /// Starts a program whose standard error is a stream of its own, with an empty input unless one is given: for tests
    /// that await.
    package convenience init(
        _ program: String, _ words: [any BytesConvertible], environment: [String: String?] = [:],
        input: (any BytesConvertible)? = "", output: Output = .readOnDemand, directory: String? = nil
    ) throws {
        try self.init(
            [program] + words, input: input, environment: environment, output: output, errors: .apart,
            directory: directory)
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

    // MARK: Input and signals

    package func send(_ line: String) throws {
        try input.withLock { try $0?.descriptor.writeAll(Array((line + "\n").utf8)) }
    }

    package func closeInput() { input.withLock { $0 = nil } }

    /// Stops reading its output, as `head` does when it has enough.
    package func closeOutput() { output.close() }

    /// Sends a signal, if the process has not been reaped; with `toGroup`, to all that it started, too.
    package func signal(_ number: Int32, toGroup: Bool = false) { life.signal(number, toGroup: toGroup) }

    /// Stops the process, and returns when the kernel has stopped all of it; false if it has ended.
    package func stop() -> Bool { life.stop() }

    package func resume() { signal(SIGCONT) }

    /// Kills the process, and returns when it is gone.
    package func kill() {
        signal(SIGKILL)
        reap()
    }

    // MARK: State

    /// Whether the process has ended; it need not be reaped yet.
    package var hasEnded: Bool { life.hasEnded }

    /// Everything that the process has printed so far.
    package var text: String { output.text }

    /// The number on the last whole line that the process has printed.
    package var lastNumber: Int { output.lastNumber }

    /// Whether its main thread waits for an event, without a time limit: it has nothing to do.
    package var isIdle: Bool {
        // The number of epoll_pwait2(2), and its fourth argument.
        let words = (try? String(contentsOfFile: "/proc/\(identifier)/syscall", encoding: .utf8))?.split(separator: " ")
        return words.map { $0.count > 4 && $0[0] == "441" && $0[4] == "0x0" } ?? false
    }

    /// Whether it has read all input that was sent.
    package var hasReadInput: Bool {
        let pipe = unsafe open("/proc/\(identifier)/fd/0", O_RDONLY | O_NONBLOCK | O_CLOEXEC)
        if pipe < 0 { return false }
        defer { close(pipe) }
        var count: Int32 = -1
        return unsafe ioctl(pipe, UInt(FIONREAD), &count) == 0 && count == 0
    }

    /// The time that its main thread has run, in nanoseconds, however busy the machine is.
    package var ownTime: Int {
        let file = try? FileDescriptor.open(path: Array("/proc/\(identifier)/schedstat".utf8), .reading)
        guard let file, let content = try? file.readAll(limit: 256) else { return 0 }
        return Int(String(decoding: content.prefix { $0 != 32 }, as: UTF8.self)) ?? 0
    }

    // MARK: Waits of threads

    /// Waits until the number on the last line reaches this one.
    package func waitForNumber(_ number: Int) throws { try output.waitForNumber(number) }

    package func waitForLines(_ count: Int) throws { try output.waitForLines(count) }

    package func waitForText(_ expected: String) throws { try output.waitForText(expected) }

    package func waitForText(_ isThere: (String) -> Bool) throws { try output.waitForText(isThere) }

    /// Waits for the end and returns the status as a shell has it; children may live on.
    @discardableResult package func reap() -> Int32 { life.reap() }

    /// Waits for the end, and returns the status and everything that was printed.
    package func finish(within bound: Duration = patience) throws -> (status: Int32, text: String) {
        try output.waitForEnd(within: bound)
        return (reap(), text)
    }

    // MARK: Waits in tasks

    /// Returns the next line, as soon as it is there; nil at the end.
    package func readLine(from stream: Stream = .output, within bound: Duration = patience) async throws -> String? {
        let (source, other): (Drain, Drain?) = stream == .output ? (output, errors) : (errors ?? output, output)
        // A program that cannot write to the one may not come to write to the other.
        other?.resume()
        defer { other?.pause() }
        guard let line = await source.nextLine(until: .after(bound)) else { throw hangs("a line") }
        return line
    }

    /// Returns the next `count` lines; fewer if the output ends before.
    package func readLines(_ count: Int, within bound: Duration = patience) async throws -> [String] {
        var lines: [String] = []
        while lines.count < count, let line = try await readLine(within: bound) { lines.append(line) }
        return lines
    }

    /// Waits for the process alone: what it started may live on.
    package func end(within bound: Duration = patience) async throws -> Int32 {
        resumeReading()
        defer { pauseReading() }
        guard let status = await life.end(until: .after(bound)) else { throw hangs("its end") }
        return status
    }

    /// Waits until the process, and every other that inherited its streams, has ended.
    package func finish(within bound: Duration = patience) async throws -> Outcome {
        let deadline = Date.after(bound)
        resumeReading()
        defer { pauseReading() }
        guard await output.end(until: deadline), await errors?.end(until: deadline) ?? true,
            let status = await life.end(until: deadline)
        else { throw hangs("its end") }
        return Outcome(status: status, output: output.bytes, errors: errors?.text ?? "")
    }

    /// Has the output be read even if it is read on demand.
    private func resumeReading() {
        output.resume()
        errors?.resume()
    }

    private func pauseReading() {
        output.pause()
        errors?.pause()
    }

    private func hangs(_ what: String) -> Hangs {
        life.signal(SIGKILL, toGroup: true)
        return Hangs(
            description: "\(name): waited too long for \(what); output '\(Self.last(of: output))', "
                + "errors '\(errors.map(Self.last) ?? "")'")
    }

    private static func last(of stream: Drain) -> String {
        String(decoding: stream.bytes.suffix(2_000), as: UTF8.self)
    }
}

/// Makes a pipe, closed on exec.
func makePipe() throws -> (reading: Int32, writing: Int32) {
    var ends: [Int32] = [-1, -1]
    if unsafe clinux_pipe(&ends) != 0 { throw SetUpError("pipe2", errno) }
    return (ends[0], ends[1])
}

/// Makes a file in memory that is read from its start.
func memoryFile(_ content: [UInt8]) throws -> Int32 {
    let file = clinux_memory_file()
    if file < 0 { throw SetUpError("memfd_create", errno) }
    var done = 0
    while done < content.count {
        let count = unsafe content[done...].withUnsafeBytes { unsafe write(file, $0.baseAddress, $0.count) }
        if count < 0 { throw SetUpError("write", errno) }
        done += count
    }
    lseek(file, 0, SEEK_SET)
    return file
}
