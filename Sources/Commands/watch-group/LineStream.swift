import GroupBytes
import GroupCommandLine
import GroupCommands
import GroupContainer
import GroupSystemCalls

/// Writes a line to standard output for each change.
struct LineStream<Source: WatchSource> {
    private var watch: Watch<Source>
    private var flushing = Flushing()
    private var lines = 0
    private let begun = monotonicNanoseconds()
    private var lastLine: Int64

    init(_ watch: Watch<Source>) {
        self.watch = watch
        lastLine = begun
    }

    mutating func run(_ run: inout CommandRun) throws -> ExitStatus {
        try watch.keep(isDue: true)
        run.output.whenReaderIsGone(Interruption.raise)
        let isForPipe = StandardOutput.isPipe
        while true {
            let seen = Interruption.latest
            if let number = watch.signals.received { return try end(.signal(number), &run) }
            let allowsDirectDelivery = isForPipe && watch.allowsDirectDelivery
            let wait = flushing.hasUnwritten || allowsDirectDelivery ? .zero : watch.wait(since: lastLine)
            let line = try watch.read(timeout: wait, run) { (source, timeout) throws(CoordinationError) in
                try source.next(timeout: timeout, since: seen)
            }
            if let line {
                if try write(line, &run) { return try end(.success, &run) }
            } else if flushing.hasUnwritten {
                // No more changes are ready.
                try flush(&run, isDue: false)
            } else {
                if run.output.readerIsGone() { return .success }
                if let bookmark = watch.source.dueBookmark(idle: monotonicNanoseconds() - lastLine),
                    try write(bookmark, &run)
                {
                    return try end(.success, &run)
                }
                try watch.keep(isDue: false)
                if watch.isSilent(since: lastLine) { return try end(.timedOut, &run) }
                if allowsDirectDelivery, try awaitMore(since: seen, &run) { return try end(.success, &run) }
            }
            // Lines are written before diagnostics, because a reader may wait for them.
            watch.sayDiagnostics(run)
        }
    }

    /// Sleeps until there may be more, and lets the leader's thread print meanwhile. Returns true if the last
    /// line was written.
    private mutating func awaitMore(since seen: Interruption, _ run: inout CommandRun) throws -> Bool {
        var direct = DirectLines(source: watch.source, left: watch.options.limit.map { $0 - lines } ?? .max)
        try watch.source.awaitMore(
            in: watch.container, timeout: watch.wait(since: lastLine), since: seen, offering: &direct)
        watch.source = direct.source
        lines += direct.lines
        lastLine = direct.lastLine ?? lastLine
        if !direct.unwritten.isEmpty {
            try run.output.write(direct.unwritten)
            _ = flushing.note(direct.unwritten.count, at: lastLine)
        }
        return lines == watch.options.limit
    }

    /// Returns true if this was the last line that `--count` allows.
    private mutating func write(_ line: Source.Line, _ run: inout CommandRun) throws -> Bool {
        let bytes = watch.source.text(of: line)
        try run.output.write(bytes)
        lines += 1
        lastLine = monotonicNanoseconds()
        if flushing.note(bytes.count, at: lastLine) { try flush(&run, isDue: false) }
        return lines == watch.options.limit
    }

    /// Writes the cursor after the lines: a kill in between repeats lines and does not skip any.
    private mutating func flush(_ run: inout CommandRun, isDue: Bool) throws {
        try run.output.flush()
        flushing.noteFlush()
        try watch.keep(isDue: isDue)
    }

    private mutating func end(_ status: ExitStatus, _ run: inout CommandRun) throws -> ExitStatus {
        if let line = watch.source.summary(after: monotonicNanoseconds() - begun) { try run.output.writeLine(line) }
        try flush(&run, isDue: true)
        return status
    }
}

/// What the leader's thread needs to write lines while the thread of the stream sleeps.
struct DirectLines<Source: WatchSource>: DirectReader {
    var source: Source
    /// The number of lines that `--count` still allows.
    var left: Int
    private(set) var lines = 0
    private(set) var lastLine: Int64?
    /// Lines that were read, but could not be written at once.
    private(set) var unwritten: [UInt8] = []

    init(source: Source, left: Int) { (self.source, self.left) = (source, left) }

    mutating func deliver() -> Bool {
        if !unwritten.isEmpty || left == lines { return false }
        var isDone = true
        var bytes: [UInt8] = []
        do throws(CoordinationError) {
            let now = Interruption.latest
            while let line = try source.next(timeout: .zero, since: now) {
                bytes += source.text(of: line)
                lines += 1
                // More than a few lines are the work of the stream's own thread.
                isDone = bytes.count < 1_024 && lines < left
                if !isDone { break }
            }
        } catch {
            // The stream's own thread meets the same error.
            isDone = false
        }
        if bytes.isEmpty { return isDone }
        lastLine = monotonicNanoseconds()
        if StandardOutput.writeNow(bytes) { return isDone }
        unwritten = bytes
        return false
    }
}

/// The line "watching GROUP at CURSOR" of --verbose, and the cursor for the descriptor of --ready-fd: from here on every
/// change is seen when it happens. Printed once, when a leader watches every directory, or at once for a read-only
/// container.
struct Announcement {
    private let ready: ReadyDescriptor?
    /// The time until the next check; nil once the line was printed.
    private(set) var patience: Duration? = .milliseconds(1)

    init(_ ready: ReadyDescriptor?) { self.ready = ready }

    /// Returns true if the line has not been printed yet and is true now.
    mutating func isDue(_ container: Container) -> Bool {
        guard let patience else { return false }
        self.patience = min(patience * 2, .milliseconds(10))
        return container.isReadOnly || container.awaitLeader(timeout: .zero)
    }

    mutating func print(at cursor: Cursor, _ run: borrowing CommandRun) throws(CoordinationError) {
        patience = nil
        let group = run.arguments.positional("GROUP").map { PipeText.escaped($0) } ?? ""
        run.explain("watching \(group) at \(cursor)")
        try ready?.write(cursor)
    }
}
