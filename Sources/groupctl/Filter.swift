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
        _ command: [[UInt8]], input: [UInt8], of item: String, _ operation: String, for run: borrowing CommandRun
    ) throws -> (output: [UInt8], status: ExitStatus) {
        let outcome: (output: [UInt8], status: Int32)?
        do throws(Errno) {
            outcome = try ChildProcess.filter(command, input: input, limit: limit)
        } catch {
            if let status = CommandRefusal.known(error, of: command, for: run) { return ([], status) }
            throw CoordinationError.command(error, item, operation)
        }
        guard let outcome else { throw CoordinationError.tooMuchOutput(limit: limit, item, operation) }
        return (outcome.output, ExitStatus(rawValue: outcome.status))
    }
}
