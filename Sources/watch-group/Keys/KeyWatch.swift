import GroupCommandLine
import GroupCommands
import GroupContainer
import GroupSystemCalls

/// The keys that are watched, whichever way it is told.
struct KeyWatch {
    let options: KeyWatchOptions
    let container: Container
    private var follower: DefaultsFollower
    private var cursorFile: CursorFile?
    private var diagnostics: DiagnosticFollower?
    let signals: TerminationSignals
    /// A bookmark is due when all of what is set was told.
    private var isInSnapshot: Bool

    /// Of those that were left out in a row, until something else gets its turn.
    private static let mostPassedOver = 1_024

    init(_ options: KeyWatchOptions, _ run: inout CommandRun) throws {
        self.options = options
        var origin = options.origin
        container = try run.openContainer()
        // Not before: while it waits for the opening, nobody looks for them, and they end it at once.
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
        // Nobody has to look for what happens: who sets a key tells it.
        let group = run.arguments.positional("GROUP").map { PipeText.escaped($0) } ?? ""
        run.explain("watching \(group) at \(follower.place)")
    }

    /// In front of what was not given yet.
    var cursor: Cursor { follower.cursor }

    /// The next line that is wanted; nil if none came in time, or if it is time to look after other things.
    mutating func next(timeout: Duration) throws(CoordinationError) -> KeyLine? {
        var timeout = timeout
        for _ in 0..<Self.mostPassedOver {
            if isInSnapshot && follower.isBetweenRecords {
                isInSnapshot = false
                return .bookmark(options.suite, at: follower.cursor)
            }
            guard let change = try follower.next(timeout: timeout) else { return nil }
            // What is set follows, or how it differs.
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

    /// How long to wait for a change: until something else is to be done, `--timeout` since a moment among it.
    func wait(since last: Int64) -> Duration {
        guard let silence = options.silence else { return Watch.heartbeat }
        return max(.zero, min(Watch.heartbeat, silence - .since(last, to: monotonicNanoseconds())))
    }

    /// Nothing came for as long as `--timeout` says.
    func isSilent(since last: Int64) -> Bool {
        options.silence.map { Duration.since(last, to: monotonicNanoseconds()) >= $0 } ?? false
    }
}
