/// A mistake in the command line (status 64).
package struct UsageError: Error, Equatable, CustomStringConvertible {
    /// What is wrong, with the nearest known name if there is one. Words of the user are escaped for a terminal.
    package let message: String

    /// Where to read more: `try 'groupctl read --help'`.
    package let hint: String

    /// Creates an error in the call of the command with these names: `["groupctl", "read"]`.
    package init(_ message: String, commandPath: [String]) {
        self.message = message
        self.hint = "try '\(commandPath.joined(separator: " ")) --help'"
    }

    /// The message and the hint on one line.
    package var description: String { "\(message) (\(hint))" }
}
