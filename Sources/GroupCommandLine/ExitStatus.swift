/// How a command ends; scripts depend on every number (docs: the table in the commands' contract).
package struct ExitStatus: RawRepresentable, Hashable, Sendable {
    /// What exit(3) is given.
    package let rawValue: Int32

    /// A status by its number, for one that is passed on.
    package init(rawValue: Int32) { self.rawValue = rawValue }

    /// Done, also when nothing had to change, and when the output pipe was closed.
    package static let success = ExitStatus(rawValue: 0)

    /// Any failure that has no number of its own.
    package static let failure = ExitStatus(rawValue: 1)

    /// watch-group: the time passed without a line.
    package static let timedOut = ExitStatus(rawValue: 2)

    /// refresh: the widget has nothing to show.
    package static let noData = ExitStatus(rawValue: 3)

    /// With `--exit-code`: nothing had to change.
    package static let unchanged = ExitStatus(rawValue: 3)

    /// `--if` or `--if-generation` does not hold.
    package static let conflict = ExitStatus(rawValue: 4)

    /// The command line is wrong (EX_USAGE).
    package static let usage = ExitStatus(rawValue: 64)

    /// Damaged, or written by a newer format (EX_DATAERR).
    package static let damaged = ExitStatus(rawValue: 65)

    /// No such group, item or key (EX_NOINPUT).
    package static let notFound = ExitStatus(rawValue: 66)

    /// This file system cannot do it (EX_UNAVAILABLE).
    package static let unsupported = ExitStatus(rawValue: 69)

    /// Input/output error or disk full (EX_IOERR).
    package static let inputOutput = ExitStatus(rawValue: 74)

    /// The lock was not granted in time (EX_TEMPFAIL).
    package static let lockTimedOut = ExitStatus(rawValue: 75)

    /// Not permitted, or leads out of the container (EX_NOPERM).
    package static let notPermitted = ExitStatus(rawValue: 77)

    /// COMMAND was found and could not be run, as timeout(1) says it.
    package static let commandNotExecutable = ExitStatus(rawValue: 126)

    /// COMMAND was not found, as timeout(1) says it.
    package static let commandNotFound = ExitStatus(rawValue: 127)

    /// Ended by a signal, after cleaning up.
    package static func signal(_ number: Int32) -> ExitStatus { ExitStatus(rawValue: 128 + number) }
}
