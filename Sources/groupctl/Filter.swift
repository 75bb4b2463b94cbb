import GroupCommandLine
import GroupCommands
import GroupSystemCalls

/// A command that turns its input into its output.
enum Filter {
    /// One that cannot be started has status 126 or 127, as a shell gives it, and is said. It dies with this process.
    static func run(
        _ command: [[UInt8]], input: [UInt8], for run: borrowing CommandRun
    ) throws -> (output: [UInt8], status: ExitStatus) {
        do throws(Errno) {
            let (output, status) = try ChildProcess.filter(command, input: input)
            return (output, ExitStatus(rawValue: status))
        } catch {
            return ([], try CommandRefusal.status(of: command, error, for: run))
        }
    }
}

/// A command that cannot be started.
enum CommandRefusal {
    /// 127 where there is none, 126 where it may not be run; said as well.
    static func status(
        of command: [[UInt8]], _ error: Errno, for run: borrowing CommandRun
    ) throws(Errno) -> ExitStatus {
        let status: ExitStatus
        switch error {
        case .noSuchEntry: status = .commandNotFound
        case .accessDenied: status = .commandNotExecutable
        default: throw error
        }
        run.complain("cannot run '\(PipeText.escaped(command.first ?? []))': \(error)")
        return status
    }
}
