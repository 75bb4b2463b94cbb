import GroupCommandLine
import GroupCommands
import GroupContainer
import GroupSystemCalls

/// A command that turns its input into its output.
enum Filter {
    /// Of its output, in bytes: it is kept in memory.
    static let limit = 256 << 20

    /// One that cannot be started has status 126 or 127, as a shell gives it, and is said. It dies with this process.
    /// Errors: those of the system, said of the item; `limitReached`
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
