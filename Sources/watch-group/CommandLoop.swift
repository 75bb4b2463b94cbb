import GroupCommandLine
import GroupCommands
import GroupContainer
import GroupSystemCalls

/// Runs COMMAND for each batch that settles, never two at once; the cursor advances only when COMMAND succeeds.
struct CommandLoop {
    private var watch: Watch
    private var follower: SettledFollower
    private var runner: BatchRunner
    private var batch = Batch()

    init(_ watch: Watch, _ command: [[UInt8]]) {
        self.watch = watch
        runner = BatchRunner(command, watch.signals, again: "with what changes until then")
        let settling = watch.options.settling
        follower = watch.follower.settled(
            for: settling?.quiet ?? WatchOptions.settlingOfCommand, atMost: settling?.atMost)
    }

    mutating func run(_ run: inout CommandRun) throws -> ExitStatus {
        try watch.keep(follower.cursor, isDue: true)
        while true {
            if let number = watch.signals.received { return .signal(number) }
            let now = monotonicNanoseconds()
            if !batch.isEmpty && runner.retry.wait(from: now) == 0 {
                if let status = try runCommand(&run) { return status }
                continue
            }
            let isWatched = watch.announcement.isDue(watch.container)
            let changes = try follower.nextBatch(timeout: isWatched ? .zero : wait(from: now))
            if isWatched { watch.announcement.say(at: follower.place, run) }
            watch.sayDiagnostics(run)
            for change in changes {
                batch.add(change)
                if case .degraded(let reason) = change.kind {
                    run.complain("watching is incomplete: '\(change.path)': \(reason)")
                }
            }
            batch.cursor = follower.cursor
            if batch.isEmpty {
                try watch.keep(follower.cursor, isDue: true)
                if watch.isSilent(since: runner.lastRun) { return .timedOut }
            }
        }
    }

    private func wait(from now: Int64) -> Duration {
        let wait = watch.wait(since: runner.lastRun)
        return batch.isEmpty ? wait : min(wait, .nanoseconds(runner.retry.wait(from: now)))
    }

    /// Returns the exit status to end with; nil to continue.
    private mutating func runCommand(_ run: inout CommandRun) throws -> ExitStatus? {
        switch try runner.run(
            input: batch.input(separatedByNUL: watch.options.separatesByNUL), variables: variables, for: run)
        {
        case .succeeded(let count):
            if let cursor = batch.cursor { try watch.keep(cursor, isDue: true) }
            batch = Batch()
            return count == watch.options.limit ? .success : nil
        case .failed: return nil
        case .ended(let status): return status
        }
    }

    private var variables: [(name: String, value: [UInt8])] {
        [
            ("GROUP_CONTAINER", watch.container.pathForCommands),
            ("GROUP_CURSOR", Array((batch.cursor.map { $0.isNowhere ? "" : $0.description } ?? "").utf8)),
            ("GROUP_RESCAN", Array((batch.isRescan ? "1" : "").utf8)),
            ("GROUP_PATHS", Array("\(batch.count)".utf8)), ("GROUP_FAILURES", Array("\(runner.retry.failures)".utf8)),
        ]
    }
}
