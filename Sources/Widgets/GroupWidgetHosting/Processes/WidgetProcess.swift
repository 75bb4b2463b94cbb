import GroupManifests
import GroupProtocolLines
import GroupSystemCalls

/// A widget's process, and the pipes to and from it. No function here blocks on the process, neither for input or
/// output nor for its end.
final class WidgetProcess {
    let run: WidgetRun
    let process: SupervisedProcess
    /// The identity of the program file when the process started.
    let program: FileIdentity?
    let input: PipeSide
    private(set) var output: PipeSide?
    private(set) var errors: PipeSide?
    private var lines = LineBuffer()
    private var complaints = LineBuffer(largest: 65_536)
    /// The limit for reading standard error.
    var errorLimit = ErrorStreamLimit()
    private var outbox: ArraySlice<UInt8> = []
    private var chunk = [UInt8](repeating: 0, count: 65_536)

    /// The largest number of bytes that wait for room in the pipe: messages are short, and sent one at a time.
    private static let largestOutbox = 65_536

    var identifier: Int32 { process.identifier }

    /// Starts the process. With `inForeground`, it shares this process's group and standard error, so that it can be
    /// debugged at a terminal.
    init(
        _ run: WidgetRun, _ manifest: WidgetManifest, variables: [(name: String, value: [UInt8])], inForeground: Bool
    ) throws(Errno) {
        self.run = run
        program = FileIdentity(program: manifest.executable)
        let toIt = try FileDescriptor.pipe()
        let fromIt = try FileDescriptor.pipe()
        let itsErrors = try FileDescriptor.pipe()
        input = try PipeSide(toIt.writing.duplicate())
        output = try PipeSide(fromIt.reading.duplicate())
        errors = inForeground ? nil : try PipeSide(itsErrors.reading.duplicate())
        process = try SupervisedProcess(
            [Array(manifest.executable.utf8)] + manifest.arguments.map { Array($0.utf8) }, variables: variables,
            input: toIt.reading, output: fromIt.writing, errors: inForeground ? -1 : itsErrors.writing.number,
            leadsGroup: !inForeground)
    }

    /// Queues a line. Returns false if too many bytes would wait for room in the pipe.
    func send(_ line: [UInt8]) -> Bool {
        if outbox.count + line.count > Self.largestOutbox { return false }
        outbox += line + [0x0A]
        return true
    }

    /// Writes as much as the pipe has room for. Returns true if the rest waits for room. If the reading end is closed,
    /// the rest is dropped; the process's end is reported separately.
    func flush() -> Bool {
        while !outbox.isEmpty {
            do throws(Errno) {
                outbox = outbox.dropFirst(try input.descriptor.writeSome(outbox))
            } catch {
                if error == .tryAgain { return true }
                outbox = []
            }
        }
        return false
    }

    /// Reads from standard output at most 64 KiB, so that other widgets get their turn.
    func read() -> [(event: ProcessEvent, line: [UInt8])] {
        guard let count = output?.take(&chunk) else { return [] }
        if count == 0 {
            output = nil
            return [(.outputEnded, [])]
        }
        lines.append(chunk[..<count])
        var events: [(event: ProcessEvent, line: [UInt8])] = []
        while let line = lines.next() {
            if let message = ProtocolLine.decoded(WidgetMessage.self, from: line) {
                events.append((.received(message), line))
            } else {
                let cause = ProtocolLine.fault(WidgetMessage.self, in: line)
                events.append((.spoilt("'\(String(decoding: line.prefix(60), as: UTF8.self))': \(cause)"), line))
            }
        }
        if lines.isTooLong { events.append((.spoilt("a line of more than \(ProtocolLine.largest) bytes"), [])) }
        return events
    }

    /// Reads lines from standard error, for the log.
    func readErrors(at now: Int64) -> [String] {
        guard let count = errors?.take(&chunk) else { return [] }
        if count == 0 {
            errors = nil
            return []
        }
        errorLimit.note(count, at: now)
        complaints.append(chunk[..<count])
        var found: [String] = []
        while let line = complaints.next() { found.append(String(decoding: line, as: UTF8.self)) }
        // A line that is too long comes in pieces.
        if complaints.isTooLong { found.append(String(decoding: complaints.takeRest(), as: UTF8.self)) }
        return found
    }
}
