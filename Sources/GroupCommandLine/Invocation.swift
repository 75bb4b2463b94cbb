/// What the user asked for.
package enum Invocation: Sendable, Equatable {
    /// Do it.
    case run(ParsedArguments)

    /// Print this text, which ends in a newline, and end with 0.
    case help(String)

    /// Print the version and end with 0.
    case version
}
