import GroupCommandLine
import GroupCommands
import GroupContainer
import GroupSystemCalls

/// Runs COMMAND for each batch that settles, never two at once; the cursor advances only when COMMAND succeeds.
struct CommandLoop<Source: WatchSource> {
    private var watch: Watch<Source>
    private var runner: BatchRunner
    private var batch: Source.Batch
    /// Whether COMMAND is to be run without a change.
    private var isDue: Bool

    init(_ watch: Watch<Source>, _ command: [[UInt8]]) {
        self.watch = watch
        runner = BatchRunner(command, watch.signals, again: "with the changes until then")
        batch = watch.source.emptyBatch
        isDue = watch.options.runsAtStart
    }

    mutating func run(_ run: inout CommandRun) throws -> ExitStatus {
        try watch.keep(isDue: true)
        while true {
            let seen = Interruption.latest
            if let number = watch.signals.received { return .signal(number) }
            let now = monotonicNanoseconds()
            let pause = max(isDue ? 0 : batch.wait(from: now), runner.retry.wait(from: now))
            if (isDue || !batch.isEmpty) && pause == 0 {
                // While this process did not run, changes may have come that are not read yet: the writers may not have
                // paused.
                if !isDue, !batch.isOverdue(at: now), try watch.add(to: &batch, timeout: .zero, since: seen, run) {
                    continue
                }
                if let status = try runCommand(&run) { return status }
                continue
            }
            let due = Duration.nanoseconds(pause)
            let wait =
                batch.isEmpty && !isDue ? watch.wait(since: runner.lastRun) : watch.pause.map { min($0, due) } ?? due
            let hasAdded = try watch.add(to: &batch, timeout: wait, since: seen, run)
            watch.sayDiagnostics(run)
            if batch.isEmpty && !isDue && !hasAdded {
                try watch.keep(isDue: false)
                if watch.isSilent(since: runner.lastRun) { return .timedOut }
            }
        }
    }

    /// Returns the exit status to end with; nil to continue.
    private mutating func runCommand(_ run: inout CommandRun) throws -> ExitStatus? {
        switch try runner.run(
            input: batch.input(separatedByNUL: watch.options.separatesByNUL),
            variables: watch.variables(of: batch, failures: runner.retry.failures), for: run)
        {
        case .succeeded(let count):
            (batch, isDue) = (batch.successor, false)
            try watch.keep(isDue: true)
            return count == watch.options.limit ? .success : nil
        case .failed: return nil
        case .ended(let status): return status
        }
    }
}
