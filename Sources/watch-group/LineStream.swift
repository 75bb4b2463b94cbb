import GroupCommandLine
import GroupCommands
import GroupContainer
import GroupSystemCalls

/// Writes a line to standard output for each change.
struct LineStream {
    private var watch: Watch
    private var source: Source
    private var flushing = Flushing()
    private var bookmarks = Bookmarks()
    private var summary = ChangeSummary()
    private var lines = 0
    private let begun = monotonicNanoseconds()
    private var lastLine: Int64

    init(_ watch: Watch) {
        self.watch = watch
        source = Source(watch.follower, watch.options.settling)
        lastLine = begun
    }

    mutating func run(_ run: inout CommandRun) throws -> ExitStatus {
        try watch.keep(source.cursor, isDue: true)
        while true {
            if let number = watch.signals.received { return try end(.signal(number), &run) }
            let isWatched = watch.announcement.isDue(watch.container)
            let wait = flushing.hasUnwritten || isWatched ? .zero : watch.wait(since: lastLine)
            let change = try source.next(timeout: wait)
            if isWatched { watch.announcement.say(at: source.place, run) }
            if let change {
                if try write(change, &run) { return try end(.success, &run) }
            } else if flushing.hasUnwritten {
                // No more changes are ready.
                try flush(&run, isDue: false)
            } else {
                if run.output.readerIsGone() { return .success }
                if try sayBookmark(&run) { return try end(.success, &run) }
                try watch.keep(source.cursor, isDue: true)
                if watch.isSilent(since: lastLine) { return try end(.timedOut, &run) }
            }
            // Lines are written before diagnostics, because a reader may wait for them.
            watch.sayDiagnostics(run)
        }
    }

    /// Returns true if this was the last line that `--count` allows.
    private mutating func write(_ change: Change, _ run: inout CommandRun) throws -> Bool {
        let line = watch.options.text.line(change, place: source.cursor)
        try run.output.write(line)
        summary.note(change)
        switch change.kind {
        case .rescan: bookmarks.noteRescan()
        case .bookmark: bookmarks.noteBookmark(at: change.sequence)
        default: break
        }
        lines += 1
        lastLine = monotonicNanoseconds()
        if flushing.note(line.count, at: lastLine) { try flush(&run, isDue: false) }
        return lines == watch.options.limit
    }

    /// Returns true if this was the last line that `--count` allows.
    private mutating func sayBookmark(_ run: inout CommandRun) throws -> Bool {
        guard watch.options.saysBookmarks, let bookmark = source.bookmark, !bookmark.cursor.isNowhere else {
            return false
        }
        let idle = monotonicNanoseconds() - lastLine
        return bookmarks.isDue(at: bookmark.sequence, idle: idle) ? try write(bookmark, &run) : false
    }

    /// Writes the cursor after the lines: a kill in between repeats lines and does not skip any.
    private mutating func flush(_ run: inout CommandRun, isDue: Bool) throws {
        try run.output.flush()
        flushing.noteFlush()
        try watch.keep(source.cursor, isDue: isDue)
    }

    private mutating func end(_ status: ExitStatus, _ run: inout CommandRun) throws -> ExitStatus {
        if case .terminal = watch.options.text.form {
            let line = summary.line(after: monotonicNanoseconds() - begun)
            try run.output.writeLine(line)
        }
        try flush(&run, isDue: true)
        return status
    }
}
