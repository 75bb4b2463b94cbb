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
        run.output.interruptWhenReaderIsGone()
        while true {
            let seen = Interruption.latest
            if let number = watch.signals.received { return try end(.signal(number), &run) }
            let wait = flushing.hasUnwritten ? .zero : watch.wait(since: lastLine)
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
            }
            // Lines are written before diagnostics, because a reader may wait for them.
            watch.sayDiagnostics(run)
        }
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
