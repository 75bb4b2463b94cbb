import GroupBytes
package import GroupCommandLine
package import GroupContainer
package import GroupSystemCalls

/// The handling of a command that cannot be started.
package enum CommandStartFailure {
    /// Prints why the command cannot be started, and returns the exit status: 127 if it does not exist, 126 if it may
    /// not be run. Errors: any other `error`, as a `CoordinationError`.
    package static func statusOrThrow(
        of command: [[UInt8]], _ error: Errno, for run: borrowing CommandRun
    ) throws(CoordinationError) -> ExitStatus {
        if let status = statusIfCommand(error, of: command, for: run) { return status }
        throw CoordinationError(error, operation: "run", item: PipeText.escaped(command.first ?? []))
    }

    /// Prints why the command cannot be started, and returns the exit status, if the command does not exist or may not
    /// be run. Returns nil for any other error.
    package static func statusIfCommand(
        _ error: Errno, of command: [[UInt8]], for run: borrowing CommandRun
    ) -> ExitStatus? {
        let status: ExitStatus
        switch error {
        case .noSuchEntry: status = .commandNotFound
        case .accessDenied: status = .commandNotExecutable
        default: return nil
        }
        run.complain(
            "cannot run '\(PipeText.escaped(command.first ?? []))': \(error)",
            status == .commandNotFound ? .notFound : .notPermitted)
        return status
    }

    /// Looks the command up as execvp(3) does, so that a missing command is reported when the program starts. Returns
    /// nil if the command can be run, as far as access(2) shows, or if `command` is nil.
    package static func check(_ command: [[UInt8]]?, for run: borrowing CommandRun) -> ExitStatus? {
        guard let command, let name = command.first else { return nil }
        guard let error = fault(of: name) else { return nil }
        return statusIfCommand(error, of: command, for: run)
    }

    private static func fault(of name: [UInt8]) -> Errno? {
        if name.contains(UInt8(ascii: "/")) { return fault(at: name) }
        let directories = Array((environmentValue("PATH") ?? "/bin:/usr/bin").utf8)
            .split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
        var worst = Errno.noSuchEntry
        for directory in directories {
            guard let error = fault(at: (directory.isEmpty ? [] : directory + [UInt8(ascii: "/")]) + name) else {
                return nil
            }
            if error == .accessDenied { worst = error }
        }
        return worst
    }

    private static func fault(at path: [UInt8]) -> Errno? {
        do throws(Errno) {
            try checkMayExecute(path)
            return nil
        } catch {
            return error == .accessDenied ? .accessDenied : .noSuchEntry
        }
    }
}
