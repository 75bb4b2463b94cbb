import Foundation
package import Glibc

/// A program that a test started: one of ours, or one in PATH. It is killed, with all that it started, when the test
/// lets go of it.
package final class Command {
    /// Where its standard output goes.
    package enum Output {
        case captured
        case file(String)
        /// A pipe that nobody reads.
        case closedPipe
    }

    /// One of the two streams that can be read.
    package enum Stream {
        case output, errors
    }

    /// How it ended, and all that it said.
    package struct Outcome: CustomStringConvertible {
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

    /// It did not do within its time what the test waited for.
    package struct Hangs: Error, CustomStringConvertible {
        package let description: String
    }

    package let identifier: pid_t
    private let name: String
    private let output: Capture
    private let errors: Capture
    /// At its end once the process has ended.
    private let life: Int32
    private var status: Int32?

    /// A nil in `environment` takes the variable away from what the tests have.
    package init(
        _ program: String, _ words: [any BytesConvertible], environment: [String: String?] = [:],
        input: any BytesConvertible = "", output destination: Output = .captured, folder: String? = nil
    ) throws {
        name = ([program] + words.map { String(decoding: $0.commandBytes, as: UTF8.self) }).joined(separator: " ")
        let source = try memoryFile(input.commandBytes)
        let (reading, writing) = try makePipe()
        let (errorsReading, errorsWriting) = try makePipe()
        output = Capture(owning: reading)
        errors = Capture(owning: errorsReading)
        var target = writing
        switch destination {
        case .captured: break
        case .closedPipe: output.close()
        case .file(let path):
            target = unsafe open(path, O_WRONLY | O_CLOEXEC)
            close(writing)
            if target < 0 { throw SetUpError("open \(path)", errno) }
        }
        defer { for descriptor in [source, target, errorsWriting] { close(descriptor) } }
        var start = [BuildFolder.resolve(program).commandBytes] + words.map(\.commandBytes)
        if let folder { start = ["env", "-C", folder].map(\.commandBytes) + start }
        identifier = try Spawn(
            words: start,
            environment: Self.environment(environment), streams: (source, target, errorsWriting)
        ).start()
        life = try Self.watchLife(of: identifier)
    }

    deinit {
        if status == nil {
            kill(-identifier, SIGKILL)
            reap()
        }
        close(life)
    }

    private static func environment(_ changes: [String: String?]) -> [String] {
        var variables = ProcessInfo.processInfo.environment.mapValues { Optional($0) }
        variables["PATH"] = BuildFolder.path + ":" + (ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin")
        variables.merge(changes) { $1 }
        return variables.compactMap { name, value in value.map { "\(name)=\($0)" } }
    }

    private static func watchLife(of identifier: pid_t) throws -> Int32 {
        let (reading, writing) = try makePipe()
        Thread.detachNewThread {
            var information = unsafe siginfo_t()
            // Left to be reaped: until then the number is nobody else's, and safe to be signalled.
            while unsafe waitid(P_PID, id_t(identifier), &information, WEXITED | WNOWAIT) != 0 && errno == EINTR {}
            close(writing)
        }
        return reading
    }

    private func reap() {
        if status != nil { return }
        var raw: Int32 = 0
        while unsafe waitpid(identifier, &raw, 0) < 0 && errno == EINTR {}
        status = raw & 0x7F == 0 ? (raw >> 8) & 0xFF : 128 + raw & 0x7F
    }

    /// Does nothing once it has been waited for.
    package func signal(_ number: Int32) { if status == nil { kill(identifier, number) } }

    /// Stops reading what it prints, as `head` does when it has enough.
    package func closeOutput() { output.close() }

    /// The next line, as soon as it is there; nil at the end.
    package func readLine(from stream: Stream = .output, within bound: Duration = patience) async throws -> String? {
        let capture = stream == .output ? output : errors
        let deadline = ContinuousClock.now + bound
        while true {
            if let line = capture.popLine() { return line }
            if capture.isAtEnd { return nil }
            try await receive(until: deadline, waitingFor: "a line")
        }
    }

    /// The next `count` lines; fewer if it ends before.
    package func readLines(_ count: Int, within bound: Duration = patience) async throws -> [String] {
        var lines: [String] = []
        while lines.count < count, let line = try await readLine(within: bound) { lines.append(line) }
        return lines
    }

    /// Whether the process has ended; does not wait.
    package var hasEnded: Bool {
        var entry = pollfd(fd: life, events: Int16(POLLIN), revents: 0)
        return unsafe poll(&entry, 1, 0) > 0
    }

    /// Waits for the process alone: what it started may live on.
    package func end(within bound: Duration = patience) async throws -> Int32 {
        let deadline = ContinuousClock.now + bound
        while true {
            if let status { return status }
            try await receive(until: deadline, waitingFor: "its end")
        }
    }

    /// Waits until it, and everybody who inherited its streams, has ended.
    package func finish(within bound: Duration = patience) async throws -> Outcome {
        let deadline = ContinuousClock.now + bound
        while status == nil || !output.isAtEnd || !errors.isAtEnd {
            try await receive(until: deadline, waitingFor: "its end")
        }
        return Outcome(
            status: status ?? -1, output: output.bytes, errors: String(decoding: errors.bytes, as: UTF8.self))
    }

    private func receive(until deadline: ContinuousClock.Instant, waitingFor what: String) async throws {
        let open = [output.descriptor, errors.descriptor, status == nil ? life : -1].filter { $0 >= 0 }
        let ready = await awaitReadable(open, atMost: deadline - ContinuousClock.now)
        if ready.isEmpty, ContinuousClock.now >= deadline {
            if status == nil { kill(-identifier, SIGKILL) }
            throw Hangs(
                description: "\(name): waited too long for \(what); "
                    + "output '\(String(decoding: output.bytes.suffix(2_000), as: UTF8.self))', "
                    + "errors '\(String(decoding: errors.bytes.suffix(2_000), as: UTF8.self))'")
        }
        for capture in [output, errors] where ready.contains(capture.descriptor) { capture.take() }
        if ready.contains(life) { reap() }
    }
}
