import GroupCommandLine
import GroupCommands
import GroupContainer
import GroupSystemCalls

/// Runs a command that turns its input into its output.
enum Filter {
    /// The largest output, in bytes: it is kept in memory.
    static let limit = 256 << 20

    /// Runs a command and returns its output and its status. A command that cannot be started is reported and has
    /// status 126 or 127, as in a shell. The command is killed when the calling thread ends. Errors: those of the
    /// system, about the item; `limitReached`.
    static func run(
        _ command: [[UInt8]], input: [UInt8], of item: String, in container: Container, _ operation: String,
        for run: borrowing CommandRun
    ) throws -> (output: [UInt8], status: ExitStatus) {
        let outcome: (output: [UInt8], status: Int32)?
        do throws(Errno) {
            outcome = try ChildProcess.filter(
                command, input: input, limit: limit, variables: [WaitingHolders.variable(in: container)])
        } catch {
            if let status = CommandStartFailure.statusIfCommand(error, of: command, for: run) { return ([], status) }
            var failure = CoordinationError(error, operation: operation, item: item)
            failure.containerPath = container.path.description
            throw failure
        }
        guard let outcome else {
            throw CoordinationError(
                .limitReached, operation: operation, item: item, containerPath: container.path.description,
                reason: "the command printed more than \(limit) bytes; nothing was changed",
                remedy: .ofCommand("run the command under groupctl lock, and have it write the item itself"))
        }
        return (outcome.output, ExitStatus(rawValue: outcome.status))
    }
}
