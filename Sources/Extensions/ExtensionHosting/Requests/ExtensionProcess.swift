import Extensions
import FoundationEssentials
import GroupBytes
import GroupProtocolLines
import GroupSystemCalls

/// The process of a request, on the thread that has started it.
///
///     serving ──── result, or cancelled ────▶ ending (at most 1 s) ────▶ group killed ────▶ reaped
///        │                                                                    ▲
///        └──── deadline, wrong output, too much output, end of the process ───┘
///
/// The group is killed before its leader is reaped: until then no other group can have its number.
struct ExtensionProcess: ~Copyable {
    private let task: ExtensionTask
    private let deadline: Deadline
    private let poller: Poller
    private let process: SupervisedProcess
    /// Readable once the process has ended.
    private let end: ProcessEnd
    private var input: PipeSide?
    private var output: PipeSide?
    private var errors: PipeSide?
    /// What is still to be written to the input, which is closed when it is empty and `closesInput` is set.
    private var outbox: ArraySlice<UInt8>
    private var closesInput = false
    private var outputLines = LineBuffer()
    private var errorLines = LineBuffer(largest: LoggedLines.longest)
    private var logged = LoggedLines()
    private var outputBytes = 0
    private var errorBytes = 0
    private var openings = 0
    private var chunk = [UInt8](repeating: 0, count: 65_536)
    /// The first result or failure; nothing that comes later changes it.
    private var outcome: Outcome?

    private enum Outcome {
        case completed([ExtensionItem])
        case cancelled(ExtensionError)
        case failed(ExtensionFailure.Reason)

        /// Whether the process gets time to end by itself.
        var hasGrace: Bool {
            switch self {
            case .completed, .cancelled, .failed(.cancelledByHost), .failed(.outputClosed): true
            case .failed: false
            }
        }
    }

    /// The time for the process to end by itself, in nanoseconds.
    private static let grace: Int64 = 1_000_000_000
    /// The most bytes of standard output, and of standard error, that are read.
    private static let largestOutput = 16 << 20
    private static let largestErrors = 16 << 20
    /// The most URLs that are opened.
    private static let largestOpenings = 100

    var identifier: Int32 { process.identifier }

    /// Starts the process. Errors: `ExtensionFailure`, when nothing was started; `Errno`.
    init(_ task: ExtensionTask, _ poller: Poller, _ deadline: Deadline) throws {
        let (line, files) = try task.request()
        let variables = try task.variables()
        let toIt = try FileDescriptor.pipe()
        let fromIt = try FileDescriptor.pipe()
        let itsErrors = try FileDescriptor.pipe()
        let input = try PipeSide(toIt.writing.duplicate())
        let output = try PipeSide(fromIt.reading.duplicate())
        let errors = try PipeSide(itsErrors.reading.duplicate())
        try poller.add(input.number, for: .output)
        try poller.add(output.number, for: .input)
        try poller.add(errors.number, for: .input)
        let process = try Self.start(
            task, variables, input: toIt.reading, output: fromIt.writing, errors: itsErrors.writing, files)
        do throws(Errno) {
            end = try ProcessEnd(of: process.identifier, in: poller)
        } catch {
            Self.kill(process)
            throw error
        }
        self.task = task
        self.poller = poller
        self.deadline = deadline
        self.input = input
        self.output = output
        self.errors = errors
        self.process = process
        outbox = (line + [0x0A])[...]
    }

    private static func start(
        _ task: ExtensionTask, _ variables: [(name: String, value: [UInt8])], input: borrowing FileDescriptor,
        output: borrowing FileDescriptor, errors: borrowing FileDescriptor, _ files: [AttachedFile]
    ) throws(ExtensionFailure) -> SupervisedProcess {
        let words = [task.manifest.executable] + task.manifest.arguments
        // The files are open until the process has its copies.
        defer { withExtendedLifetime(files) {} }
        do throws(Errno) {
            return try SupervisedProcess(
                words.map { Array($0.utf8) }, variables: variables, input: input, output: output,
                errors: errors.number, attached: files.map(\.descriptor))
        } catch {
            throw task.notStarted(SupervisedProcess.reason(error, of: Array(task.manifest.executable.utf8)))
        }
    }

    /// Serves the process until it has a result or a failure, ends it and all of its group, and returns the result.
    mutating func serve(orUntil cancellation: Cancellation) -> ExtensionResult {
        while outcome == nil && !process.hasEnded {
            if cancellation.isCancelled { break }
            if !serveOnce(until: deadline.moment) { break }
        }
        // A result that came at the last moment counts.
        readOutput(toItsEnd: true)
        if outcome == nil && !process.hasEnded {
            outcome = .failed(cancellation.isCancelled ? .cancelledByHost : .deadline(task.deadline))
        }
        if outcome?.hasGrace == true { letEnd() }
        let hasEnded = process.hasEnded
        let ending = endGroup()
        readErrors(toItsEnd: true)
        passRest()
        return result(hasEnded ? ending : nil)
    }

    /// Waits for what happens next, and handles it. Returns false if nothing has happened by that moment, or nothing
    /// can.
    private mutating func serveOnce(until moment: Int64) -> Bool {
        let now = monotonicNanoseconds()
        if now >= moment { return false }
        let ready: [(descriptor: Int32, what: Readiness)]
        do throws(Errno) {
            ready = try poller.ready(nanoseconds: moment == .max ? nil : moment - now)
        } catch {
            fail(.hostFault("\(error)"))
            return false
        }
        for (descriptor, _) in ready {
            if descriptor == output?.number { readOutput(toItsEnd: false) }
            if descriptor == errors?.number { readErrors(toItsEnd: false) }
            if descriptor == input?.number { flush() }
        }
        return true
    }

    /// Gives the process time to end by itself, and drops what it still writes to its output.
    private mutating func letEnd() {
        let moment = min(deadline.moment, monotonicNanoseconds() + Self.grace)
        if case .failed(.cancelledByHost)? = outcome, let line = ProtocolLine.encoded(ExtensionHostMessage.cancel) {
            // Behind the request, if that was not read yet.
            if outbox.isEmpty, let input { try? poller.add(input.number, for: .output) }
            outbox += line + [0x0A]
        } else {
            outbox = []
        }
        closesInput = true
        flush()
        while !process.hasEnded && serveOnce(until: moment) {}
    }

    /// Kills the group, and reaps its leader. Returns how that ended.
    private mutating func endGroup() -> SupervisedProcess.Event {
        (input, output) = (nil, nil)
        return Self.kill(process)
    }

    @discardableResult
    private static func kill(_ process: borrowing SupervisedProcess) -> SupervisedProcess.Event {
        process.endGroup()
        process.awaitEnd()
        while true {
            switch process.nextEvent() {
            case .stopped?: continue
            case let event?: return event
            // Cannot be: it has ended.
            case nil: return .exited(-1)
            }
        }
    }

    /// `ending` is how the process has ended by itself; nil if it was killed.
    private func result(_ ending: SupervisedProcess.Event?) -> ExtensionResult {
        switch outcome {
        case .completed(let items): return .completed(items)
        case .cancelled(let error): return .cancelled(error)
        // The end of the process has closed the output, or followed soon.
        case .failed(.outputClosed), nil:
            return .failed(ExtensionFailure(reason(of: ending), lastLines: logged.last))
        case .failed(let reason): return .failed(ExtensionFailure(reason, lastLines: logged.last))
        }
    }

    private func reason(of ending: SupervisedProcess.Event?) -> ExtensionFailure.Reason {
        let rest = outputLines.rest
        switch ending {
        case .killed(let signal)?: return .signalled(signal)
        case _ where !rest.isEmpty:
            return .wrongOutput(line: Self.beginning(rest), fault: "its end, a newline, is missing")
        case .exited(let status)?: return .exited(status: status)
        case .stopped?, nil: return .outputClosed
        }
    }

    private mutating func fail(_ reason: ExtensionFailure.Reason) { if outcome == nil { outcome = .failed(reason) } }

    // MARK: Streams

    /// Writes as much as the input has room for.
    private mutating func flush() {
        guard let input else { return }
        while !outbox.isEmpty {
            do throws(Errno) {
                outbox = outbox.dropFirst(try input.descriptor.writeSome(outbox))
            } catch {
                if error == .tryAgain { return }
                // The process has closed its input: it needs no more of it.
                (outbox, self.input) = ([], nil)
                return
            }
        }
        // The pipe is no longer polled: a pipe with room is always ready.
        try? poller.change(input.number, to: [])
        if closesInput { self.input = nil }
    }

    /// Reads standard output: once, or all that is there, which is at most what a pipe can hold.
    private mutating func readOutput(toItsEnd: Bool) {
        let most = outputBytes + (1 << 20)
        while outputBytes < most, let count = output?.take(&chunk) {
            if count == 0 {
                output = nil
                fail(.outputClosed)
                return
            }
            outputBytes += count
            if outcome == nil { readLines(chunk[..<count]) }
            if outcome == nil && outputBytes > Self.largestOutput {
                fail(.tooMuchOutput("more than \(Self.largestOutput) bytes of messages"))
            }
            if !toItsEnd || outputBytes > Self.largestOutput { return }
        }
    }

    private mutating func readLines(_ piece: ArraySlice<UInt8>) {
        outputLines.append(piece)
        while outcome == nil, let line = outputLines.next() { take(line) }
        if outcome == nil && outputLines.isTooLong {
            fail(.tooMuchOutput("a line of more than \(ProtocolLine.largest) bytes"))
        }
    }

    private mutating func take(_ line: [UInt8]) {
        guard let message = ProtocolLine.decoded(ExtensionMessage.self, from: line) else {
            let fault = ProtocolLine.fault(ExtensionMessage.self, in: line)
            return fail(.wrongOutput(line: Self.beginning(line), fault: fault))
        }
        switch message {
        case .complete(let lines):
            do {
                let items = try lines.map { line in
                    try line.item(in: nil) { _ throws(AttachmentError) in throw .notReturnable }
                }
                outcome = .completed(items)
            } catch {
                fail(.wrongOutput(line: Self.beginning(line), fault: "\(error)"))
            }
        case .cancel(let error): outcome = .cancelled(error)
        case .open(let url):
            guard let url = URL(absolute: url) else {
                return fail(.wrongOutput(line: Self.beginning(line), fault: "url: it is not an absolute URL"))
            }
            openings += 1
            if openings > Self.largestOpenings { return fail(.tooMuchOutput("more than \(Self.largestOpenings) URLs")) }
            task.open(url)
        case .log(let text): pass(text.utf8)
        }
    }

    /// Reads standard error: once, or all that is there.
    private mutating func readErrors(toItsEnd: Bool) {
        while let count = errors?.take(&chunk) {
            if count == 0 {
                errors = nil
                return
            }
            errorBytes += count
            if errorBytes > Self.largestErrors {
                fail(.tooMuchOutput("more than \(Self.largestErrors) bytes of standard error"))
                errors = nil
                return
            }
            errorLines.append(chunk[..<count])
            while let line = errorLines.next() { pass(line) }
            // A line without an end is passed on in pieces.
            if errorLines.isTooLong { passRest() }
            if !toItsEnd { return }
        }
    }

    /// Passes on what is left of standard error without a newline.
    private mutating func passRest() {
        var rest = errorLines.takeRest()[...]
        while !rest.isEmpty {
            pass(rest.prefix(LoggedLines.longest))
            rest = rest.dropFirst(LoggedLines.longest)
        }
    }

    private mutating func pass(_ line: some Sequence<UInt8>) {
        if let text = logged.add(line) { task.log(text) }
    }

    /// The beginning of a line, for people.
    private static func beginning(_ line: [UInt8]) -> String { printable(Array(line.prefix(60))) }
}

/// A descriptor that wakes a poller once a process has ended.
private final class ProcessEnd: Sendable {
    private let descriptor: FileDescriptor

    /// System calls: pidfd_open(2), epoll_ctl(2)
    init(of process: Int32, in poller: Poller) throws(Errno) {
        descriptor = try FileDescriptor.process(process)
        try poller.add(descriptor.number, for: .input)
    }
}

/// The lines that an extension writes for people: how many of them are passed on, and the last ones, for a failure.
struct LoggedLines: Hashable, Sendable {
    /// The most bytes that are passed on.
    static let largest = 1 << 20
    /// The most bytes of a line: a longer one without an end is passed on in pieces, and of one with an end the rest is
    /// dropped.
    static let longest = 4_096
    private static let kept = 10

    /// The last lines, at most ten.
    private(set) var last: [String] = []
    private var passed = 0

    /// Records a line. Returns the text to pass on; nil once there was too much. The last text that is passed on says
    /// so.
    mutating func add(_ line: some Sequence<UInt8>) -> String? {
        let text = String(decoding: Array(line.prefix(Self.longest)), as: UTF8.self)
        if last.count == Self.kept { last.removeFirst() }
        last.append(text)
        if passed > Self.largest { return nil }
        passed += text.utf8.count + 1
        return passed > Self.largest ? "further lines are dropped" : text
    }
}
