import GroupBytes
package import GroupCommandLine
import GroupContainer
package import GroupSystemCalls

/// Runs COMMAND for a batch: its input, its environment, its end, and when it is run again.
package struct BatchRunner {
    package enum Outcome {
        /// COMMAND succeeded; the number of successes so far.
        case succeeded(Int)
        /// COMMAND failed and is run again; `retry` holds the time.
        case failed
        /// The calling command ends with this status.
        case ended(ExitStatus)
    }

    private let command: [[UInt8]]
    private let signals: TerminationSignals
    package private(set) var retry = Retry()
    package private(set) var lastRun = monotonicNanoseconds()
    private var runs = 0

    /// What the next run after a failure gets, for the message to the user.
    private let again: String

    package init(_ command: [[UInt8]], _ signals: TerminationSignals, again: String) {
        self.command = command
        self.signals = signals
        self.again = again
    }

    package mutating func run(
        input: [UInt8], variables: [(name: String, value: [UInt8])], for run: borrowing CommandRun
    ) throws -> Outcome {
        let status: Int32
        do throws(Errno) {
            let source = try FileDescriptor.inMemory(input)
            var process = try CommandProcess(command, input: source.number, variables: variables, signals)
            // A batch that COMMAND finishes after a signal still counts.
            status = try process.wait()
        } catch {
            return .ended(try CommandStartFailure.statusOrThrow(of: command, error, for: run))
        }
        lastRun = monotonicNanoseconds()
        if status == 0 {
            retry = Retry()
            runs += 1
            // The work of this run was done and counts as done, even if a signal is about to end this process: the
            // caller checks for signals next.
            return .succeeded(runs)
        }
        if let signal = signals.received { return .ended(.signal(signal)) }
        let pause = retry.noteFailure(at: lastRun)
        run.complain(
            "'\(PipeText.escaped(command.first ?? []))' ended with status \(status); it is run again in "
                + "\(Timestamp.duration(pause)), \(again)")
        return .failed
    }
}
