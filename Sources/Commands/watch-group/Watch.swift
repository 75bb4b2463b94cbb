import GroupCommandLine
import GroupCommands
import GroupContainer
import GroupSystemCalls

/// The container, the source and the cursor file of a watch, for lines and for COMMAND alike.
struct Watch<Source: WatchSource> {
    let options: WatchOptions
    let container: Container
    var source: Source
    private var cursorFile: CursorFile?
    private var announcement: Announcement
    /// The diagnostics of this process as a member, with --verbose.
    private var diagnostics: Follower<Diagnostic>?
    let signals: TerminationSignals

    init(_ options: Source.Options, _ run: inout CommandRun) throws {
        self.options = options.common
        announcement = Announcement(options.common.ready)
        var origin = self.options.origin
        container = try run.openContainer()
        // Signals are caught only from here on: no code looks for them during the opening, so there they end the
        // process at once.
        signals = TerminationSignals()
        if let path = run.arguments.value("cursor-file") {
            try container.checkMayKeep(path, CursorFile.operation)
            var file = CursorFile(path: path)
            if let cursor = try file.claim() { origin = .cursor(cursor) }
            cursorFile = file
        }
        _ = container.coordinator(purpose: run.options.purpose)
        if run.options.isVerbose { diagnostics = container.followDiagnostics() }
        if let doubt = Source.suite(of: options).flatMap(container.doubt(ofSuite:)) { run.remark(doubt) }
        source = try Source(options, in: container, since: origin, purpose: run.options.purpose)
        run.explainDoubts(of: source.includedPaths, in: container)
        if Source.isCompleteAtOnce { try announcement.print(at: source.readCursor, run) }
    }

    /// Reads from the source, and waits once for at most `timeout` (nil: no limit); prints the line "watching GROUP at
    /// CURSOR" once it is true.
    mutating func read<Found>(
        timeout: Duration?, _ run: borrowing CommandRun,
        _ next: (inout Source, Duration?) throws(CoordinationError) -> Found
    ) throws(CoordinationError) -> Found {
        let isWatched = announcement.isDue(container)
        let found = try next(&source, isWatched ? .zero : timeout)
        if isWatched { try announcement.print(at: source.readCursor, run) }
        return found
    }

    /// Prints diagnostics, but only after the line "watching GROUP at CURSOR", because scripts wait for that line.
    mutating func sayDiagnostics(_ run: borrowing CommandRun) {
        if announcement.patience != nil { return }
        while let event = diagnostics?.next(timeout: .zero) { run.explain("\(event.code.rawValue): \(event)") }
    }

    /// Whether the leader's thread may print the lines while this thread sleeps: nothing is to be done after each line.
    var allowsDirectDelivery: Bool { cursorFile == nil && announcement.patience == nil && source.allowsDirectDelivery }

    mutating func keep(isDue: Bool) throws(CoordinationError) {
        let cursor = source.resumeCursor
        try cursorFile?.note(cursor, isDue: isDue)
    }

    /// The time until other work than lines is due; nil if there is none.
    var pause: Duration? {
        let cursor = cursorFile?.wait(for: source.resumeCursor).map { Duration.nanoseconds($0) }
        return [announcement.patience, cursor].compactMap { $0 }.min()
    }

    /// Returns how long to wait for a line: until other work is due, including the end of `--timeout` and a bookmark,
    /// counted from `last`; nil if nothing is due.
    func wait(since last: Int64) -> Duration? {
        let idle = Self.time(since: last)
        let bookmark = source.bookmarkWait(idle: idle.nanoseconds).map { Duration.nanoseconds($0) }
        return [pause, options.silence.map { $0 - idle }, bookmark].compactMap { $0 }.min().map { max(.zero, $0) }
    }

    /// Adds the lines that come next to a batch, and waits for them once, at most `timeout`. Returns false if there are
    /// none.
    mutating func add(
        to batch: inout Source.Batch, timeout: Duration?, since seen: Interruption, _ run: borrowing CommandRun
    ) throws -> Bool {
        let lines = try read(timeout: timeout, run) { (source, timeout) throws(CoordinationError) in
            try source.nextBatch(timeout: timeout, since: seen)
        }
        for line in lines {
            batch.add(line, at: monotonicNanoseconds())
            if let complaint = source.complaint(about: line) { run.complain(complaint) }
        }
        return !lines.isEmpty
    }

    /// Returns the variables of COMMAND for a batch that it has failed with some times.
    func variables(of batch: Source.Batch, failures: Int) -> [(name: String, value: [UInt8])] {
        let cursor = source.resumeCursor
        let texts = [
            ("GROUP_CURSOR", cursor.isInvalid ? "" : "\(cursor)"), ("GROUP_RESCAN", batch.isRescan ? "1" : ""),
            ("GROUP_FAILURES", "\(failures)"),
        ]
        return [("GROUP_CONTAINER", container.path.bytes)]
            + (texts + source.variables(of: batch)).map { ($0.0, Array($0.1.utf8)) }
    }

    /// Returns true if nothing came for the time of `--timeout`.
    func isSilent(since last: Int64) -> Bool { options.silence.map { Self.time(since: last) >= $0 } ?? false }

    private static func time(since start: Int64) -> Duration { .nanoseconds(monotonicNanoseconds() - start) }
}
