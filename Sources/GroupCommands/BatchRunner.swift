package import GroupCommandLine
import GroupContainer
package import GroupSystemCalls

/// Runs COMMAND for what settled: its input, its environment, its end, and when it is to be run again.
package struct BatchRunner {
    package enum Outcome {
        /// So many times by now.
        case succeeded(Int)
        /// It is run again; `retry` says when.
        case failed
        /// With it watch-group ends.
        case ended(ExitStatus)
    }

    private let command: [[UInt8]]
    private let signals: TerminationSignals
    package private(set) var retry = Retry()
    package private(set) var lastRun = monotonicNanoseconds()
    private var runs = 0

    /// What comes with the next run of one that failed, for its user.
    private let again: String

    package init(_ command: [[UInt8]], _ signals: TerminationSignals, again: String) {
        (self.command, self.signals, self.again) = (command, signals, again)
    }

    package mutating func run(
        input: [UInt8], variables: [(name: String, value: [UInt8])], for run: borrowing CommandRun
    ) throws -> Outcome {
        let child: ChildProcess
        do throws(Errno) {
            child = try ChildProcess.start(command, input: input, variables: variables)
        } catch {
            let name = PipeText.escaped(command.first ?? [])
            if [.noSuchEntry, .accessDenied].contains(error) { run.complain("cannot run '\(name)': \(error)") }
            if error == .noSuchEntry { return .ended(.commandNotFound) }
            if error == .accessDenied { return .ended(.commandNotExecutable) }
            throw CoordinationError.command(error, name, "run")
        }
        let (status, signal) = try end(of: child)
        lastRun = monotonicNanoseconds()
        if status == 0 {
            retry = Retry()
            runs += 1
            // Its work was done, and is kept as such, also where a signal is to end us: the next look finds it.
            return .succeeded(runs)
        }
        // A terminal sends it to both: COMMAND may have ended before it was seen here.
        if let signal = signal ?? signals.received { return .ended(.signal(signal)) }
        let pause = retry.noteFailure(at: lastRun)
        run.complain(
            "'\(PipeText.escaped(command.first ?? []))' ended with status \(status); it is run again in "
                + "\(Timestamp.duration(pause)), \(again)")
        return .failed
    }

    /// A signal that ends us is passed on, and its end awaited: nobody is left behind, and a place that it has reached
    /// is kept.
    private func end(of child: consuming ChildProcess) throws(Errno) -> (status: Int32, signal: Int32?) {
        var passedOn: Int32?
        while true {
            if let status = try child.wait(nanoseconds: 100_000_000) { return (status, passedOn) }
            if passedOn == nil, let number = signals.received {
                child.signal(number)
                passedOn = number
            }
        }
    }
}
