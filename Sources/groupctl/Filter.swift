import CommandLineKit
import ContainerCommands
import SystemCalls

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
            let status: ExitStatus
            switch error {
            case .noSuchEntry: status = .commandNotFound
            case .accessDenied: status = .commandNotExecutable
            default: throw error
            }
            run.complain("cannot run '\(PipeText.escaped(command.first ?? []))': \(error)")
            return ([], status)
        }
    }
}
