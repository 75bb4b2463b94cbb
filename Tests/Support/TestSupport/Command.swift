import Foundation
package import Glibc
import GroupSystemCalls

/// A program that a test started: one of this package, or one in PATH. It is killed, with all that it started, when the
/// test releases it.
package final class Command {
    /// The destination of its standard output.
    package enum Output {
        case captured
        case file(String)
        /// A pipe without a reader.
        case closedPipe
    }

    /// A stream that can be read.
    package enum Stream {
        case output, errors
    }

    /// How it ended, and all that it printed.
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

    /// The program did not do within its time what the test waited for.
    package struct Hangs: Error, CustomStringConvertible {
        package let description: String
    }

    package var identifier: pid_t { life.identifier }
    private let name: String
    private let output: Capture
    private let errors: Capture
    private let life: ProcessLife
    /// The writing end of its input, open as long as this object lives, if there is one.
    private let input: FileDescriptor?
    /// A descriptor that is at its end once the process has ended.
    private let end: Int32
    private var status: Int32? { life.status }

    /// Starts a program. A nil in `environment` removes the variable from the tests' environment. With nil for `input`
    /// the input has no content, and ends when this object is released, or this process has died.
    package init(
        _ program: String, _ words: [any BytesConvertible], environment: [String: String?] = [:],
        input content: (any BytesConvertible)? = "", output destination: Output = .captured, directory: String? = nil
    ) throws {
        name = ([program] + words.map { String(decoding: $0.commandBytes, as: UTF8.self) }).joined(separator: " ")
        let source: Int32
        if let content {
            source = try memoryFile(content.commandBytes)
            input = nil
        } else {
            let (reading, writing) = try makePipe()
            source = reading
            input = FileDescriptor(owning: writing)
        }
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
        var start = [BuildDirectory.resolve(program).commandBytes] + words.map(\.commandBytes)
        if let directory { start = ["env", "-C", directory].map(\.commandBytes) + start }
        let identifier = try Spawn(
            words: start, environment: Spawn.environment(environment), streams: (source, target, errorsWriting)
        ).start()
        life = ProcessLife(of: identifier)
        end = try Self.watchEnd(of: identifier)
    }

    deinit { close(end) }

    private static func watchEnd(of identifier: pid_t) throws -> Int32 {
        let (reading, writing) = try makePipe()
        Thread.detachNewThread {
            ProcessLife.awaitEnd(of: identifier)
            close(writing)
        }
        return reading
    }

    /// Sends a signal; does nothing once the process has been waited for.
    package func signal(_ number: Int32) { life.signal(number) }

    /// Stops the process, and returns when the kernel has stopped all of it; false if it has ended.
    package func stop() -> Bool { life.stop() }

    /// Stops reading its output, as `head` does when it has enough.
    package func closeOutput() { output.close() }

    /// Returns the next line, as soon as it is there; nil at the end.
    package func readLine(from stream: Stream = .output, within bound: Duration = patience) async throws -> String? {
        let capture = stream == .output ? output : errors
        let deadline = ContinuousClock.now + bound
        while true {
            if let line = capture.popLine() { return line }
            if capture.isAtEnd { return nil }
            try await receive(until: deadline, waitingFor: "a line")
        }
    }

    /// Returns the next `count` lines; fewer if the output ends before.
    package func readLines(_ count: Int, within bound: Duration = patience) async throws -> [String] {
        var lines: [String] = []
        while lines.count < count, let line = try await readLine(within: bound) { lines.append(line) }
        return lines
    }

    /// Whether the process has ended; does not wait.
    package var hasEnded: Bool {
        var entry = pollfd(fd: end, events: Int16(POLLIN), revents: 0)
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

    /// Waits until the process, and every other that inherited its streams, has ended.
    package func finish(within bound: Duration = patience) async throws -> Outcome {
        let deadline = ContinuousClock.now + bound
        while status == nil || !output.isAtEnd || !errors.isAtEnd {
            try await receive(until: deadline, waitingFor: "its end")
        }
        return Outcome(
            status: status ?? -1, output: output.bytes, errors: String(decoding: errors.bytes, as: UTF8.self))
    }

    private func receive(until deadline: ContinuousClock.Instant, waitingFor what: String) async throws {
        let open = [output.descriptor, errors.descriptor, status == nil ? end : -1].filter { $0 >= 0 }
        let ready = await awaitReadable(open, atMost: deadline - ContinuousClock.now)
        if ready.isEmpty, ContinuousClock.now >= deadline {
            life.signal(SIGKILL, toGroup: true)
            throw Hangs(
                description: "\(name): waited too long for \(what); "
                    + "output '\(String(decoding: output.bytes.suffix(2_000), as: UTF8.self))', "
                    + "errors '\(String(decoding: errors.bytes.suffix(2_000), as: UTF8.self))'")
        }
        for capture in [output, errors] where ready.contains(capture.descriptor) { capture.take() }
        if ready.contains(end) { life.reap() }
    }
}
