package import GroupCommandLine
package import GroupContainer
package import GroupSystemCalls
import Glibc

/// A command that cannot be started.
package enum CommandRefusal {
    /// 127 where there is none, 126 where it may not be run; said as well.
    package static func status(
        of command: [[UInt8]], _ error: Errno, for run: borrowing CommandRun
    ) throws(CoordinationError) -> ExitStatus {
        if let status = known(error, of: command, for: run) { return status }
        throw .command(error, PipeText.escaped(command.first ?? []), "run")
    }

    /// Nil where it is not the command's fault.
    package static func known(
        _ error: Errno, of command: [[UInt8]], for run: borrowing CommandRun
    ) -> ExitStatus? {
        let status: ExitStatus
        switch error {
        case .noSuchEntry: status = .commandNotFound
        case .accessDenied: status = .commandNotExecutable
        default: return nil
        }
        run.complain("cannot run '\(PipeText.escaped(command.first ?? []))': \(error)")
        return status
    }

    /// Before it is needed: looks it up as exec does. Nil where it can be run, as far as that can be seen.
    package static func atStart(of command: [[UInt8]]?, for run: borrowing CommandRun) -> ExitStatus? {
        guard let command, let name = command.first else { return nil }
        guard let error = fault(of: name) else { return nil }
        return known(error, of: command, for: run)
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
        if unsafe access(path.map { CChar(bitPattern: $0) } + [0], X_OK) == 0 { return nil }
        return Errno(errno) == .accessDenied ? .accessDenied : .noSuchEntry
    }
}
