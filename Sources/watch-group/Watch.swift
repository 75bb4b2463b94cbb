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
    private var announcement = Announcement()
    /// The diagnostics of this process as a member, with --verbose.
    private var diagnostics: Follower<Diagnostic>?
    let signals: TerminationSignals

    /// How often an idle watch checks whether its reader or its container is gone, and writes the cursor file.
    private var heartbeat: Duration { .milliseconds(100) }

    init(_ options: Source.Options, _ run: inout CommandRun) throws {
        self.options = options.common
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
        source = try Source(options, in: container, since: origin, purpose: run.options.purpose)
        if Source.isCompleteAtOnce { announcement.print(at: source.readCursor, run) }
    }

    /// Reads from the source; prints the line "watching GROUP at CURSOR" once it is true.
    mutating func read<Found>(
        timeout: Duration, _ run: borrowing CommandRun,
        _ next: (inout Source, Duration) throws(CoordinationError) -> Found
    ) throws(CoordinationError) -> Found {
        let isWatched = announcement.isDue(container)
        let found = try next(&source, isWatched ? .zero : timeout)
        if isWatched { announcement.print(at: source.readCursor, run) }
        return found
    }

    /// Prints diagnostics, but only after the line "watching GROUP at CURSOR", because scripts wait for that line.
    mutating func sayDiagnostics(_ run: borrowing CommandRun) {
        if announcement.patience != nil { return }
        while let event = diagnostics?.next(timeout: .zero) { run.explain("\(event.code.rawValue): \(event)") }
    }

    mutating func keep(isDue: Bool) throws(CoordinationError) {
        let cursor = source.resumeCursor
        try cursorFile?.note(cursor, isDue: isDue)
    }

    /// Returns how long to wait for a line: until other work is due.
    var pause: Duration { min(heartbeat, announcement.patience ?? heartbeat) }

    /// Returns how long to wait for a line: until other work is due, including the end of `--timeout`, counted from
    /// `last`.
    func wait(since last: Int64) -> Duration {
        guard let silence = options.silence else { return pause }
        return max(.zero, min(pause, silence - Self.time(since: last)))
    }

    /// Returns true if nothing came for the time of `--timeout`.
    func isSilent(since last: Int64) -> Bool { options.silence.map { Self.time(since: last) >= $0 } ?? false }

    private static func time(since start: Int64) -> Duration { .nanoseconds(monotonicNanoseconds() - start) }
}
