import GroupCommandLine
import GroupCommands
import GroupContainer
import GroupSystemCalls

/// What is watched, whichever way it is told: the container, the follower, the file that keeps the place.
struct Watch {
    let options: WatchOptions
    let container: Container
    let follower: ChangeFollower
    private(set) var cursorFile: CursorFile?
    var announcement = Announcement()
    /// With --verbose: what happens to this process as a member.
    private var diagnostics: DiagnosticFollower?
    let signals: TerminationSignals

    /// How often, with nothing to do, it looks whether its reader or its container is gone and writes the cursor file.
    static let heartbeat = Duration.milliseconds(100)

    init(_ run: inout CommandRun) throws {
        let arguments = run.arguments
        options = try WatchOptions(run)
        var origin = options.origin
        container = try run.openContainer()
        // Not before: while it waits for the opening, nobody looks for them, and they end it at once.
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

    /// After the line that says that it watches, which scripts wait for.
    mutating func sayDiagnostics(_ run: borrowing CommandRun) {
        if announcement.patience != nil { return }
        while let event = diagnostics?.next(timeout: .zero) { run.explain("\(event.code.rawValue): \(event)") }
    }

    mutating func keep(_ cursor: Cursor, isDue: Bool) throws(CoordinationError) {
        try cursorFile?.note(cursor, isDue: isDue)
    }

    /// How long to wait for a change: until something else is to be done, `--timeout` since a moment among it.
    func wait(since last: Int64) -> Duration {
        let silence = options.silence.map { $0 - .since(last, to: monotonicNanoseconds()) }
        return max(.zero, [Self.heartbeat, silence, announcement.patience].compactMap(\.self).min() ?? Self.heartbeat)
    }

    /// Nothing came for as long as `--timeout` says.
    func isSilent(since last: Int64) -> Bool {
        options.silence.map { Duration.since(last, to: monotonicNanoseconds()) >= $0 } ?? false
    }
}

extension Duration {
    static func since(_ start: Int64, to now: Int64) -> Duration { .nanoseconds(now - start) }
}
