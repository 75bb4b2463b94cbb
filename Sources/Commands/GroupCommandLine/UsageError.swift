/// A mistake in the command line (status 64).
package struct UsageError: Error, Equatable, CustomStringConvertible {
    /// What is wrong, with the nearest known name if there is one. Words of the user are escaped for a terminal.
    package let message: String

    /// A word of the user may have any length.
    private static let longest = 1_000

    /// Where to read more: `try 'groupctl read --help'`.
    package let hint: String

    /// The GROUP of a call without the PATH that has to follow: it may be both.
    package var groupOfMissingPath: [UInt8]?

    /// The names of the command and its subcommands.
    package let commandPath: [String]

    /// Creates an error in the call of the command with these names: `["groupctl", "read"]`.
    package init(_ message: String, commandPath: [String]) {
        self.message = message.count <= Self.longest ? message : message.prefix(Self.longest) + "…"
        self.commandPath = commandPath
        self.hint = "try '\(commandPath.joined(separator: " ")) --help'"
    }

    /// The message and the hint on one line.
    package var description: String { "\(message) (\(hint))" }
}
