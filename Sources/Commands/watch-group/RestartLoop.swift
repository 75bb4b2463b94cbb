import GroupBytes
import GroupCommandLine
import GroupCommands
import GroupContainer
import GroupSystemCalls

/// Keeps a long-running COMMAND running (`--restart`): for each batch that settles, the running one is ended, and
/// COMMAND is started again.
struct RestartLoop<Source: WatchSource>: ~Copyable {
    private var watch: Watch<Source>
    private let command: [[UInt8]]
    private var batch: Source.Batch
    /// Whether COMMAND is to be started without a change.
    private var isDue: Bool
    private var child: SupervisedProcess?
    private var lastStart = monotonicNanoseconds()

    init(_ watch: Watch<Source>, _ command: [[UInt8]]) {
        (self.watch, self.command) = (watch, command)
        batch = watch.source.emptyBatch
        isDue = watch.options.runsAtStart
    }

    mutating func run(_ run: inout CommandRun) throws -> ExitStatus {
        do {
            let status = try follow(run)
            try end(by: watch.signals.received.flatMap(Signal.init) ?? .terminate)
            return status
        } catch {
            try? end(by: .terminate)
            throw error
        }
    }

    private mutating func follow(_ run: borrowing CommandRun) throws -> ExitStatus {
        try watch.keep(isDue: true)
        while true {
            let seen = Interruption.latest
            if let number = watch.signals.received { return .signal(number) }
            reportEnd(run)
            let now = monotonicNanoseconds()
            let pause = isDue ? 0 : batch.wait(from: now)
            if pause == 0 {
                if !isDue, !batch.isOverdue(at: now), try watch.add(to: &batch, timeout: .zero, since: seen, run) {
                    continue
                }
                if let status = try restart(run) { return status }
                continue
            }
            let due = Duration.nanoseconds(pause)
            let wait = batch.isEmpty ? watch.wait(since: lastStart) : watch.pause.map { min($0, due) } ?? due
            let hasAdded = try watch.add(to: &batch, timeout: wait, since: seen, run)
            watch.sayDiagnostics(run)
            if batch.isEmpty && !hasAdded {
                try watch.keep(isDue: false)
                if watch.isSilent(since: lastStart) { return .timedOut }
            }
        }
    }

    /// Ends the running COMMAND and starts it again with the batch. The cursor advances then. Returns the exit status
    /// to end with if COMMAND cannot be started.
    private mutating func restart(_ run: borrowing CommandRun) throws -> ExitStatus? {
        try end(by: .terminate)
        let input = try FileDescriptor.inMemory(batch.input(separatedByNUL: watch.options.separatesByNUL))
        do throws(Errno) {
            let started = try SupervisedProcess(
                command, variables: watch.variables(of: batch, failures: 0), input: input.number, output: -1)
            let number = started.identifier
            child = consume started
            try WorkThread.start {
                ChildProcess.awaitEnd(of: number)
                Interruption.raise()
            }
        } catch {
            return try CommandStartFailure.statusOrThrow(of: command, error, for: run)
        }
        (batch, isDue, lastStart) = (batch.successor, false, monotonicNanoseconds())
        run.explain("started '\(PipeText.escaped(command.first ?? []))'")
        try watch.keep(isDue: true)
        return nil
    }

    /// Says that COMMAND has ended by itself: it is started again at the next change.
    private mutating func reportEnd(_ run: borrowing CommandRun) {
        guard child?.hasEnded == true, let ended = child.take() else { return }
        let name = PipeText.escaped(command.first ?? [])
        switch ended.reap() {
        case 0: run.explain("'\(name)' has ended")
        case let status:
            run.complain("'\(name)' ended with status \(status); it is started again at the next change")
        }
    }

    /// Ends COMMAND, and all that it has started in its process group: with a signal, and after the grace with SIGKILL.
    private mutating func end(by signal: Signal) throws {
        guard let ending = child.take() else { return }
        let limit = monotonicNanoseconds() + watch.options.grace.nanoseconds
        ending.signal(signal)
        while !ending.hasEnded {
            let (seen, left) = (Interruption.latest, limit - monotonicNanoseconds())
            if ending.hasEnded || left <= 0 { break }
            Interruption.wait(since: seen, atMost: left)
        }
        ending.awaitGroup(until: limit)
        ending.endGroup()
        ending.awaitEnd()
        _ = ending.reap()
    }
}

extension SupervisedProcess {
    /// Takes the status of the process, which has ended, as a shell prints it.
    fileprivate consuming func reap() -> Int32 {
        while true {
            switch nextEvent() {
            case .exited(let status): return status
            case .killed(let signal): return 128 + signal
            case .stopped: continue
            case nil: return 0
            }
        }
    }
}
