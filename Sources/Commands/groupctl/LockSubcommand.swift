import GroupBytes
import GroupCommandLine
import GroupCommands
import GroupContainer
import GroupSystemCalls

/// Runs COMMAND while the items are locked, and returns COMMAND's exit status.
func lock(_ run: inout CommandRun) throws -> ExitStatus {
    guard let command = run.arguments.command else { throw run.arguments.usageError("COMMAND is missing") }
    let paths = run.arguments.positionals("PATH").map { ItemPath(bytes: $0) }
    let conflict = try run.arguments.text("conflict-exit-code").map { text in
        guard let status = Int32(text), (0...255).contains(status) else {
            throw run.arguments.usageError("--conflict-exit-code: '\(text)' is not a number from 0 to 255")
        }
        return ExitStatus(rawValue: status)
    }
    let intents = paths.map { run.arguments.flag("shared") ? AccessIntent.reading($0) : .writing($0) }
    do {
        let container = try run.openContainer()
        let progress = run.progress("locking '\(PipeText.escaped(paths.first?.bytes ?? []))'")
        defer { progress.end() }
        let coordinator = container.coordinator(purpose: run.options.purpose).blocking
        return try coordinator.coordinate(intents, timeout: run.lockTimeout) { _ in
            progress.end()
            do throws(Errno) {
                let variables = [WaitingHolders.variable(in: container)]
                return ExitStatus(
                    rawValue: try CommandProcess.runUnderLock(command, variables: variables, for: run))
            } catch {
                return try CommandStartFailure.statusOrThrow(of: command, error, for: run)
            }
        }
    } catch let error as CoordinationError {
        guard let conflict, [.lockTimedOut, .deadlock].contains(error.code) else { throw error }
        run.complain(of: error)
        return conflict
    }
}
