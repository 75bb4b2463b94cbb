import GroupBytes
import GroupCommandLine
import GroupCommands
import GroupContainer
import GroupSystemCalls

func followChannel(_ run: inout CommandRun) throws -> ExitStatus {
    let options = try ChannelOptions(run)
    if let status = CommandStartFailure.check(options.command, for: run) { return status }
    let (container, channel) = try run.channel()
    // Signals are caught only from here on: no code looks for them during the opening, so there they end the process at
    // once.
    let signals = TerminationSignals()
    let explainsBeginning = options.beginning == .now && run.hasReaderOfRemarks
    let isNew = try explainsBeginning && !channel.listeners().contains { $0.name == options.listener }
    let listener = try channel.listener(named: options.listener, since: options.beginning)
    if isNew {
        let name = PipeText.escaped(Array(listener.name.utf8))
        run.remark(
            "new listener '\(name)': it gets the messages that are posted from now on; with --from oldest, a new listener gets those that are kept, too"
        )
    }
    run.explain("listening to '\(channel.name)' as '\(listener.name)'")
    if let command = options.command {
        var loop = MessageLoop(options, listener, channel.name, container, signals, command)
        return try loop.run(&run)
    }
    var stream = MessageStream(options, listener, MessageText(channel.name, run.options), signals)
    return try stream.run(&run)
}

/// The options of `channels follow`, checked before anything is opened.
struct ChannelOptions {
    let listener: String
    let beginning: GroupChannel.Beginning
    let limit: Int?
    let silence: Duration?
    let acknowledges: Bool
    let command: [[UInt8]]?

    init(_ run: borrowing CommandRun) throws {
        let arguments = run.arguments
        guard let name = try arguments.text("listener") else {
            throw arguments.usageError("--listener is missing: the name for which messages are kept")
        }
        listener = name
        switch try arguments.text("from") {
        case nil, "now": beginning = .now
        case "oldest": beginning = .start
        default: throw arguments.usageError("--from must be now or oldest")
        }
        limit = try arguments.positiveNumber("count")
        silence = run.options.timeout
        acknowledges = !arguments.flag("no-acknowledge")
        command = arguments.command
        if command != nil && !acknowledges {
            throw arguments.usageError(
                "--no-acknowledge is for lines: with COMMAND, its success acknowledges a message")
        }
    }

    /// Returns how long to wait for a message; nil without a limit.
    func wait(since last: Int64) -> Duration? {
        silence.map { max(.zero, $0 - .nanoseconds(monotonicNanoseconds() - last)) }
    }

    func isSilent(since last: Int64) -> Bool {
        silence.map { .nanoseconds(monotonicNanoseconds() - last) >= $0 } ?? false
    }

    /// Returns the next message; waits for it once, and returns nil if none came in time, or after an interruption
    /// since `seen`. Lost messages are reported once, and the listener continues after them.
    func next(
        _ listener: GroupListener, timeout: Duration?, since seen: Interruption, _ run: borrowing CommandRun
    ) throws -> GroupMessage? {
        do throws(CoordinationError) {
            return try listener.next(timeout: timeout, since: seen)
        } catch {
            if error.code != .damaged { throw error }
            run.complain(of: error)
            return nil
        }
    }
}

/// Writes a line to standard output for each message, and acknowledges the messages whose lines were written.
struct MessageStream {
    private let options: ChannelOptions
    private let listener: GroupListener
    private let text: MessageText
    private let signals: TerminationSignals
    private var flushing = Flushing()
    private var lines = 0
    private var last: UInt64?
    private var lastLine = monotonicNanoseconds()

    init(_ options: ChannelOptions, _ listener: GroupListener, _ text: MessageText, _ signals: TerminationSignals) {
        self.options = options
        self.listener = listener
        self.text = text
        self.signals = signals
    }

    mutating func run(_ run: inout CommandRun) throws -> ExitStatus {
        run.output.whenReaderIsGone(Interruption.raise)
        while true {
            let seen = Interruption.latest
            if let number = signals.received { return try end(.signal(number), &run) }
            let wait = flushing.hasUnwritten ? .zero : options.wait(since: lastLine)
            if let message = try options.next(listener, timeout: wait, since: seen, run) {
                let line = text.line(message)
                try run.output.write(line)
                (lines, last, lastLine) = (lines + 1, message.number, monotonicNanoseconds())
                if lines == options.limit { return try end(.success, &run) }
                if flushing.note(line.count, at: lastLine) { try flush(&run) }
            } else if flushing.hasUnwritten {
                // No more messages are ready.
                try flush(&run)
            } else {
                if run.output.readerIsGone() { return .success }
                if options.isSilent(since: lastLine) { return try end(.timedOut, &run) }
            }
        }
    }

    /// Writes the lines before the acknowledgment: a kill in between repeats messages and loses none.
    private mutating func flush(_ run: inout CommandRun) throws {
        try run.output.flush()
        flushing.noteFlush()
        if options.acknowledges, let last { try listener.acknowledge(upTo: last) }
        last = nil
    }

    private mutating func end(_ status: ExitStatus, _ run: inout CommandRun) throws -> ExitStatus {
        try flush(&run)
        return status
    }
}

/// Runs COMMAND for each message in turn; a message is acknowledged when its COMMAND succeeded.
struct MessageLoop {
    private let options: ChannelOptions
    private let listener: GroupListener
    private let channel: String
    private let container: Container
    private let signals: TerminationSignals
    private var runner: BatchRunner
    private var message: GroupMessage?

    init(
        _ options: ChannelOptions, _ listener: GroupListener, _ channel: String, _ container: Container,
        _ signals: TerminationSignals, _ command: [[UInt8]]
    ) {
        self.options = options
        self.listener = listener
        self.channel = channel
        self.container = container
        self.signals = signals
        runner = BatchRunner(command, signals, again: "for the same message")
    }

    mutating func run(_ run: inout CommandRun) throws -> ExitStatus {
        while true {
            let seen = Interruption.latest
            if let number = signals.received { return .signal(number) }
            guard let message else {
                message = try options.next(
                    listener, timeout: options.wait(since: runner.lastRun), since: seen, run)
                if message == nil && options.isSilent(since: runner.lastRun) { return .timedOut }
                continue
            }
            let pause = runner.retry.wait(from: monotonicNanoseconds())
            if pause > 0 {
                signals.wait(nanoseconds: pause)
                continue
            }
            switch try runner.run(input: message.bytes ?? [], variables: variables(message), for: run) {
            case .succeeded(let count):
                try listener.acknowledge(upTo: message.number)
                self.message = nil
                if count == options.limit { return .success }
            case .failed: continue
            case .ended(let status): return status
            }
        }
    }

    private func variables(_ message: GroupMessage) -> [(name: String, value: [UInt8])] {
        [
            ("GROUP_CONTAINER", container.path.bytes), ("GROUP_CHANNEL", Array(channel.utf8)),
            ("GROUP_MESSAGE", Array("\(message.number)".utf8)),
            ("GROUP_SIGNAL", Array((message.bytes == nil ? "1" : "").utf8)),
            ("GROUP_PURPOSE", Array(message.author.purpose.utf8)),
            ("GROUP_TIME", Array(Timestamp.text(message.timeNanoseconds).utf8)),
            ("GROUP_FAILURES", Array("\(runner.retry.failures)".utf8)),
        ]
    }
}
