import GroupCommandLine
import GroupCommands
import GroupContainer
import GroupSystemCalls

/// Writes a line to standard output for each change of a key.
struct KeyStream {
    private var watch: KeyWatch
    private var flushing = Flushing()
    private var lines = 0
    private var lastLine = monotonicNanoseconds()

    init(_ watch: KeyWatch) { self.watch = watch }

    mutating func run(_ run: inout CommandRun) throws -> ExitStatus {
        try watch.keep(isDue: true)
        while true {
            if let number = watch.signals.received { return try end(.signal(number), &run) }
            let line = try watch.next(timeout: flushing.hasUnwritten ? .zero : watch.wait(since: lastLine))
            if let line {
                if try write(line, &run) { return try end(.success, &run) }
            } else if flushing.hasUnwritten {
                // No more changes are ready.
                try flush(&run, isDue: false)
            } else {
                if run.output.readerIsGone() { return .success }
                try watch.keep(isDue: true)
                if watch.isSilent(since: lastLine) { return try end(.timedOut, &run) }
            }
            // Lines are written before diagnostics, because a reader may wait for them.
            watch.sayDiagnostics(run)
        }
    }

    /// Returns true if this was the last line that `--count` allows.
    private mutating func write(_ line: KeyLine, _ run: inout CommandRun) throws -> Bool {
        let bytes = watch.options.text.line(line)
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
        try flush(&run, isDue: true)
        return status
    }
}
