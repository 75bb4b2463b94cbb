package import GroupCommandLine
package import GroupContainer
package import GroupSystemCalls

/// Runs a command that turns its input into its output.
package enum Filter {
    /// The largest output of `update`, in bytes: it is kept in memory.
    package static let limit = 256 << 20
    /// The largest snapshot of `refresh`: the widget's record has it as text, of which there are several copies in
    /// memory.
    package static let snapshotLimit = 32 << 20

    /// Runs a command, with a file as its standard input, and returns its output and its status, and the signal that
    /// another process has sent meanwhile; nil if it printed more than `limit` bytes, and was killed. A command that cannot be started is reported and has status 126 or 127, as
    /// in a shell. Errors: those of the system, about the item.
    package static func run(
        _ command: [[UInt8]], input: borrowing FileDescriptor, atMost limit: Int = Filter.limit, of item: String,
        in container: Container, _ operation: String, for run: borrowing CommandRun
    ) throws -> (output: [UInt8], status: ExitStatus, signal: Int32?)? {
        do throws(Errno) {
            let variables = [WaitingHolders.variable(in: container)]
            guard
                let outcome = try CommandProcess.filterUnderLock(
                    command, input: input, atMost: limit, variables: variables, for: run)
            else { return nil }
            return (outcome.output, ExitStatus(rawValue: outcome.status), outcome.signal)
        } catch {
            if let status = CommandStartFailure.statusIfCommand(error, of: command, for: run) {
                return ([], status, nil)
            }
            var failure = CoordinationError(error, operation: operation, item: item)
            failure.containerPath = container.path.description
            throw failure
        }
    }
}
