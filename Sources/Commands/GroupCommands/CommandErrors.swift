package import GroupCommandLine
package import GroupContainer
package import GroupSystemCalls
import GroupBytes

extension CoordinationError.Remedy {
    /// Returns a remedy in a command's own words, which its error prints as they are.
    package static func ofCommand(_ text: String) -> Self { Self(.ofCommand, text) }
}

extension CoordinationError.Remedy.Code {
    /// The words of a command.
    package static let ofCommand = Self(rawValue: "command")
}

extension CoordinationError {
    /// Returns the error for a file of the user's own that a command could not write.
    package static func unwritable(_ file: [UInt8], operation: String, _ errno: Errno) -> CoordinationError {
        var error = CoordinationError(errno, operation: operation, item: printable(file))
        switch errno {
        case .noSuchEntry: error.remedy = Remedy(.makeDirectory, "create the directory of the file first")
        case .accessDenied, .notPermitted: error.remedy = Remedy(.choosePath, "name a file that you may write")
        default: break
        }
        return error
    }

    /// Returns the error for a file of the user's own that a command could not read.
    package static func unreadable(_ file: [UInt8], operation: String, _ errno: Errno) -> CoordinationError {
        var error = CoordinationError(errno, operation: operation, item: printable(file))
        if [.accessDenied, .notPermitted].contains(errno) {
            error.remedy = Remedy(.choosePath, "name a file that you may read")
        }
        return error
    }
}

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

    /// Returns whether a command can be run, as far as access(2) shows.
    static func exists(_ name: String) -> Bool { fault(of: Array(name.utf8)) == nil }

    private static func fault(of name: [UInt8]) -> Errno? {
        // Otherwise the directories themselves would be found.
        if name.isEmpty { return .noSuchEntry }
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
