import GroupCommandLine
import GroupCommands
import GroupContainer
import GroupSystemCalls

/// The container, the follower and the cursor file of a watch, for lines and for COMMAND alike.
struct Watch {
    let options: WatchOptions
    let container: Container
    let follower: ChangeFollower
    private(set) var cursorFile: CursorFile?
    var announcement = Announcement()
    /// The diagnostics of this process as a member, with --verbose.
    private var diagnostics: DiagnosticFollower?
    let signals: TerminationSignals

    /// How often an idle watch checks whether its reader or its container is gone, and writes the cursor file.
    static let heartbeat = Duration.milliseconds(100)

    init(_ run: inout CommandRun) throws {
        let arguments = run.arguments
        options = try WatchOptions(run)
        var origin = options.origin
        container = try run.openContainer()
        // Signals are caught only from here on: no code looks for them during the opening, so there they end the
        // process at once.
        signals = TerminationSignals()
        if let path = arguments.value("cursor-file") {
            try container.checkMayKeep(path, CursorFile.operation)
            var file = CursorFile(path: path)
            if let cursor = try file.claim() { origin = .cursor(cursor) }
            cursorFile = file
        }
        _ = container.coordinator(purpose: run.options.purpose)
        if run.options.isVerbose { diagnostics = container.followDiagnostics() }
        follower = try container.follow(
            since: origin, matching: options.filter, afterRescan: options.rescanPolicy)
    }

    /// Prints diagnostics, but only after the line "watching GROUP at CURSOR", because scripts wait for that line.
    mutating func sayDiagnostics(_ run: borrowing CommandRun) {
        if announcement.patience != nil { return }
        while let event = diagnostics?.next(timeout: .zero) { run.explain("\(event.code.rawValue): \(event)") }
    }

    mutating func keep(_ cursor: Cursor, isDue: Bool) throws(CoordinationError) {
        try cursorFile?.note(cursor, isDue: isDue)
    }

    /// Returns how long to wait for a change: until other work is due, including the end of `--timeout`, counted from
    /// `last`.
    func wait(since last: Int64) -> Duration {
        let silence = options.silence.map { $0 - .since(last, to: monotonicNanoseconds()) }
        return max(.zero, [Self.heartbeat, silence, announcement.patience].compactMap(\.self).min() ?? Self.heartbeat)
    }

    /// Returns true if nothing came for the time of `--timeout`.
    func isSilent(since last: Int64) -> Bool {
        options.silence.map { Duration.since(last, to: monotonicNanoseconds()) >= $0 } ?? false
    }
}

extension Duration {
    static func since(_ start: Int64, to now: Int64) -> Duration { .nanoseconds(now - start) }
}
