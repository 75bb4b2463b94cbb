import GroupCommandLine
import GroupCommands
import GroupContainer
import GroupSystemCalls

/// The watched keys, for lines and for COMMAND alike.
struct KeyWatch {
    let options: KeyWatchOptions
    let container: Container
    private var follower: DefaultsFollower
    private var cursorFile: CursorFile?
    private var diagnostics: DiagnosticFollower?
    let signals: TerminationSignals
    /// True until all values of a snapshot were returned; then a bookmark is due.
    private var isInSnapshot: Bool

    /// How many changes in a row the filter may reject before `next` returns.
    private static let mostPassedOver = 1_024

    init(_ options: KeyWatchOptions, _ run: inout CommandRun) throws {
        self.options = options
        var origin = options.origin
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
        isInSnapshot = origin == .snapshot
        _ = container.coordinator(purpose: run.options.purpose)
        let defaults = try GroupDefaults(container, suite: options.suite, purpose: run.options.purpose)
        if run.options.isVerbose { diagnostics = container.followDiagnostics() }
        follower = try defaults.follow(since: origin)
        // The watch is complete at once, without a leader: the process that sets a key wakes the followers.
        let group = run.arguments.positional("GROUP").map { PipeText.escaped($0) } ?? ""
        run.explain("watching \(group) at \(follower.place)")
    }

    /// The place before the first change that was not returned yet.
    var cursor: Cursor { follower.cursor }

    /// Returns the next line that passes the filter; nil if none came in time, or if other work is due.
    mutating func next(timeout: Duration) throws(CoordinationError) -> KeyLine? {
        var timeout = timeout
        for _ in 0..<Self.mostPassedOver {
            if isInSnapshot && follower.isBetweenRecords {
                isInSnapshot = false
                return .bookmark(options.suite, at: follower.cursor)
            }
            guard let change = try follower.next(timeout: timeout) else { return nil }
            // After a rescan, either all values follow, or the values that differ.
            if change.kind == .rescan { isInSnapshot = true }
            let line = KeyLine(change)
            if options.filter.wants(line) { return line }
            timeout = .zero
        }
        return nil
    }

    mutating func keep(isDue: Bool) throws(CoordinationError) {
        let cursor = cursor
        try cursorFile?.note(cursor, isDue: isDue)
    }

    mutating func sayDiagnostics(_ run: borrowing CommandRun) {
        while let event = diagnostics?.next(timeout: .zero) { run.explain("\(event.code.rawValue): \(event)") }
    }

    /// Returns how long to wait for a change: until other work is due, including the end of `--timeout`, counted from
    /// `last`.
    func wait(since last: Int64) -> Duration {
        guard let silence = options.silence else { return Watch.heartbeat }
        return max(.zero, min(Watch.heartbeat, silence - .since(last, to: monotonicNanoseconds())))
    }

    /// Returns true if nothing came for the time of `--timeout`.
    func isSilent(since last: Int64) -> Bool {
        options.silence.map { Duration.since(last, to: monotonicNanoseconds()) >= $0 } ?? false
    }
}
