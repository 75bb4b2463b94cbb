import GroupCommandLine
import GroupCommands
import GroupContainer
import GroupSystemCalls

/// Runs COMMAND for the keys of each batch that settles, never two at once; the cursor advances only when COMMAND
/// succeeds.
struct KeyCommandLoop {
    private var watch: KeyWatch
    private var runner: BatchRunner
    private var batch: KeyBatch

    init(_ watch: KeyWatch, _ command: [[UInt8]]) {
        self.watch = watch
        runner = BatchRunner(command, watch.signals, again: "with what changes until then")
        let settling = watch.options.settling
        batch = KeyBatch(quiet: settling.quiet.inNanoseconds, atMost: settling.atMost.inNanoseconds)
    }

    mutating func run(_ run: inout CommandRun) throws -> ExitStatus {
        try watch.keep(isDue: true)
        while true {
            if let number = watch.signals.received { return .signal(number) }
            let now = monotonicNanoseconds()
            let pause = max(batch.wait(from: now), runner.retry.wait(from: now))
            if !batch.isEmpty && pause == 0 {
                if let status = try runCommand(&run) { return status }
                continue
            }
            let wait = watch.wait(since: runner.lastRun)
            let line = try watch.next(timeout: batch.isEmpty ? wait : min(Watch.heartbeat, .nanoseconds(pause)))
            watch.sayDiagnostics(run)
            if let line {
                note(line)
                if let reason = line.reason { run.complain("something that was set is lost: \(reason)") }
            } else if batch.isEmpty {
                try watch.keep(isDue: true)
                if watch.isSilent(since: runner.lastRun) { return .timedOut }
            }
        }
    }

    private mutating func note(_ line: KeyLine) {
        let now = monotonicNanoseconds()
        switch line.kind {
        case .set, .removed, .present: batch.note(key: line.change.key, at: now)
        case .cleared: batch.noteCleared(at: now)
        case .rescan: batch.noteRescan(at: now)
        case .bookmark, .degraded: break
        }
    }

    /// Returns the exit status to end with; nil to continue.
    private mutating func runCommand(_ run: inout CommandRun) throws -> ExitStatus? {
        switch try runner.run(input: input, variables: variables, for: run) {
        case .succeeded(let count):
            batch = batch.successor
            try watch.keep(isDue: true)
            return count == watch.options.limit ? .success : nil
        case .failed: return nil
        case .ended(let status): return status
        }
    }

    /// A line for each key, escaped as in the lines of watch-group; or each key unescaped, with a NUL after it.
    private var input: [UInt8] {
        batch.keys.flatMap { key in
            watch.options.separatesByNUL
                ? Array(key.utf8) + [0] : Array((PipeText.escaped(Array(key.utf8)) + "\n").utf8)
        }
    }

    private var variables: [(name: String, value: [UInt8])] {
        let texts = [
            ("GROUP_SUITE", watch.options.suite), ("GROUP_CURSOR", watch.cursor.isNowhere ? "" : "\(watch.cursor)"),
            ("GROUP_KEYS", "\(batch.keys.count)"), ("GROUP_CLEARED", batch.isCleared ? "1" : ""),
            ("GROUP_RESCAN", batch.isRescan ? "1" : ""), ("GROUP_FAILURES", "\(runner.retry.failures)"),
        ]
        return [("GROUP_CONTAINER", watch.container.pathForCommands)] + texts.map { ($0.0, Array($0.1.utf8)) }
    }
}

extension Duration {
    /// The duration in nanoseconds, limited to `Int64.max`.
    fileprivate var inNanoseconds: Int64 {
        let (nanoseconds, isOver) = components.seconds.multipliedReportingOverflow(by: 1_000_000_000)
        let (sum, isOverToo) = nanoseconds.addingReportingOverflow(components.attoseconds / 1_000_000_000)
        return isOver || isOverToo ? .max : sum
    }
}
