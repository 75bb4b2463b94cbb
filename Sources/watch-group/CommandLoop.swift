import CommandLineKit
import ContainerCommands
import GroupContainer
import SystemCalls

/// Runs COMMAND for each batch that settles, never two at once; the place moves on only when it succeeds.
struct CommandLoop {
    private var watch: Watch
    private var follower: SettledFollower
    private let command: [[UInt8]]
    private var batch = Batch()
    private var retry = Retry()
    private var runs = 0
    private var lastRun = monotonicNanoseconds()

    init(_ watch: Watch, _ command: [[UInt8]]) {
        (self.watch, self.command) = (watch, command)
        let settling = watch.options.settling
        follower = watch.follower.settled(
            for: settling?.quiet ?? WatchOptions.settlingOfCommand, atMost: settling?.atMost)
    }

    mutating func run(_ run: inout CommandRun) throws -> ExitStatus {
        try watch.keep(follower.cursor, isDue: true)
        while true {
            if let number = watch.signals.received { return .signal(number) }
            let now = monotonicNanoseconds()
            if !batch.isEmpty && retry.wait(from: now) == 0 {
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
                if watch.isSilent(since: lastRun) { return .timedOut }
            }
        }
    }

    private func wait(from now: Int64) -> Duration {
        let wait = watch.wait(since: lastRun)
        return batch.isEmpty ? wait : min(wait, .nanoseconds(retry.wait(from: now)))
    }

    /// Nil: go on.
    private mutating func runCommand(_ run: inout CommandRun) throws -> ExitStatus? {
        let child: ChildProcess
        do throws(Errno) {
            child = try ChildProcess.start(
                command, input: batch.input(separatedByNUL: watch.options.separatesByNUL), variables: variables)
        } catch {
            let name = PipeText.escaped(command.first ?? [])
            run.complain("cannot run '\(name)': \(error)")
            if error == .noSuchEntry { return .commandNotFound }
            if error == .accessDenied { return .commandNotExecutable }
            throw error
        }
        let (status, signal) = try end(of: child)
        lastRun = monotonicNanoseconds()
        if status == 0 {
            if let cursor = batch.cursor { try watch.keep(cursor, isDue: true) }
            (batch, retry) = (Batch(), Retry())
            runs += 1
            if runs == watch.options.limit { return .success }
        } else if signal == nil {
            let pause = retry.noteFailure(at: lastRun)
            run.complain(
                "'\(PipeText.escaped(command.first ?? []))' ended with status \(status); it is run again in "
                    + "\(Timestamp.duration(pause)), with what changes until then")
        }
        return signal.map(ExitStatus.signal)
    }

    /// A signal that ends us is passed on, and its end awaited: nobody is left behind, and a place that it has reached
    /// is kept.
    private func end(of child: consuming ChildProcess) throws(Errno) -> (status: Int32, signal: Int32?) {
        var passedOn: Int32?
        while true {
            if let status = try child.wait(nanoseconds: 100_000_000) { return (status, passedOn) }
            if passedOn == nil, let number = watch.signals.received {
                child.signal(number)
                passedOn = number
            }
        }
    }

    private var variables: [(name: String, value: [UInt8])] {
        [
            ("GROUP_CONTAINER", watch.container.path.bytes),
            ("GROUP_CURSOR", Array((batch.cursor.map { $0.isNowhere ? "" : $0.description } ?? "").utf8)),
            ("GROUP_RESCAN", Array((batch.isRescan ? "1" : "").utf8)),
            ("GROUP_PATHS", Array("\(batch.count)".utf8)), ("GROUP_FAILURES", Array("\(retry.failures)".utf8)),
        ]
    }
}
