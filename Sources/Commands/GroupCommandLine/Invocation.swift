/// The request of a command line.
package enum Invocation: Sendable, Equatable {
    /// Run the command.
    case run(ParsedArguments)

    /// Print this text, which ends in a newline, and end with 0.
    case help(String)

    /// Print the version and end with 0.
    case version
}
