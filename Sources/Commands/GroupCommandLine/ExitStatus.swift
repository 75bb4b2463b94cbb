/// The exit status of a command; scripts depend on every number. docs/guide/shell.md lists them for users.
package struct ExitStatus: RawRepresentable, Hashable, Sendable {
    /// The argument of exit(3).
    package let rawValue: Int32

    /// Creates a status that is passed on.
    package init(rawValue: Int32) { self.rawValue = rawValue }

    /// Success, also when nothing had to change, and when the output pipe was closed.
    package static let success = ExitStatus(rawValue: 0)

    /// A failure that has no number of its own.
    package static let failure = ExitStatus(rawValue: 1)

    /// The end of `--timeout` without a line, for the commands that wait for changes.
    package static let timedOut = ExitStatus(rawValue: 2)

    /// The result of refresh when there is nothing new to show.
    package static let noData = ExitStatus(rawValue: 3)

    /// The status for no change, with `--exit-code`.
    package static let unchanged = ExitStatus(rawValue: 3)

    /// The status when the condition of `--if` or `--if-generation` does not hold.
    package static let conflict = ExitStatus(rawValue: 4)

    /// A mistake in the command line (EX_USAGE).
    package static let usage = ExitStatus(rawValue: 64)

    /// Damaged data, data in another format, or content that is not what it should be (EX_DATAERR).
    package static let damaged = ExitStatus(rawValue: 65)

    /// A group, item or key that does not exist (EX_NOINPUT).
    package static let notFound = ExitStatus(rawValue: 66)

    /// A file system that lacks what is needed (EX_UNAVAILABLE).
    package static let unsupported = ExitStatus(rawValue: 69)

    /// A service that was not reached; nothing was changed (EX_UNAVAILABLE).
    package static let unavailable = ExitStatus(rawValue: 69)

    /// An input/output error, or a full disk (EX_IOERR).
    package static let inputOutput = ExitStatus(rawValue: 74)

    /// A lock that was not granted in time (EX_TEMPFAIL).
    package static let lockTimedOut = ExitStatus(rawValue: 75)

    /// A change whose answer was lost: it may be made or not (EX_PROTOCOL).
    package static let unknown = ExitStatus(rawValue: 76)

    /// An operation that is not permitted, or a path out of the container (EX_NOPERM).
    package static let notPermitted = ExitStatus(rawValue: 77)

    /// A COMMAND that was found and could not be run, as in timeout(1).
    package static let commandNotExecutable = ExitStatus(rawValue: 126)

    /// A COMMAND that was not found, as in timeout(1).
    package static let commandNotFound = ExitStatus(rawValue: 127)

    /// Returns the status of an end by a signal, after cleaning up.
    package static func signal(_ number: Int32) -> ExitStatus { ExitStatus(rawValue: 128 + number) }
}
