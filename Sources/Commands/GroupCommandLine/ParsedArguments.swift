import GroupBytes

/// The words of a command line, sorted by their meaning.
package struct ParsedArguments: Sendable, Equatable {
    /// A value with the name of its option or positional.
    package struct NamedValue: Sendable, Equatable {
        /// The option's long name, or the positional's name.
        package let name: String

        /// The bytes as given; empty for a flag.
        package let value: [UInt8]
    }

    /// The names from the program to the innermost subcommand: `["groupctl", "defaults", "set"]`.
    package internal(set) var commandPath: [String]

    /// Every option in the order given, flags with an empty value.
    package internal(set) var options: [NamedValue] = []

    /// Every positional in the order given.
    package internal(set) var namedPositionals: [NamedValue] = []

    /// The COMMAND to run and its arguments; nil if none was given, never empty.
    package internal(set) var command: [[UInt8]]?

    /// The names of the subcommands: `["defaults", "set"]`.
    package var subcommands: [String] { Array(commandPath.dropFirst()) }

    /// Every positional in the order given, without names.
    package var positionals: [[UInt8]] { namedPositionals.map(\.value) }

    /// Returns whether the option was given.
    package func flag(_ name: String) -> Bool { options.contains { $0.name == name } }

    /// Returns the last value of the option.
    package func value(_ name: String) -> [UInt8]? { options.last { $0.name == name }?.value }

    /// Returns every value of the option, in order.
    package func values(_ name: String) -> [[UInt8]] { occurrences(of: name).map(\.value) }

    /// Returns all occurrences of these options, in their common order: the last match of `--include` and `--exclude`
    /// wins.
    package func occurrences(of names: String...) -> [NamedValue] { options.filter { names.contains($0.name) } }

    /// Returns the first word of the positional.
    package func positional(_ name: String) -> [UInt8]? { namedPositionals.first { $0.name == name }?.value }

    /// Returns every word of the positional.
    package func positionals(_ name: String) -> [[UInt8]] {
        namedPositionals.filter { $0.name == name }.map(\.value)
    }

    /// Returns the option's last value as text; throws a usage error if it is not UTF-8.
    package func text(_ name: String) throws(UsageError) -> String? {
        guard let bytes = value(name) else { return nil }
        guard let text = bytes.validText else { throw usageError("--\(name): the value is not valid UTF-8") }
        return text
    }

    /// Returns the option's last value as a time; throws a usage error if it is none.
    package func time(_ name: String) throws(UsageError) -> Duration? {
        guard let text = try text(name) else { return nil }
        do throws(TimeArgumentError) {
            return try TimeArgument.parse(text)
        } catch {
            throw usageError("--\(name): \(error)")
        }
    }

    /// Returns the option's last value as a number of at least 1; throws a usage error if it is none.
    package func positiveNumber(_ name: String) throws(UsageError) -> Int? {
        guard let text = try text(name) else { return nil }
        if let number = Int(text), number > 0 { return number }
        throw usageError("--\(name): '\(PipeText.escaped(Array(text.utf8)))' is not a positive number")
    }

    /// Returns a usage error that points to this command's help.
    package func usageError(_ message: String) -> UsageError { UsageError(message, commandPath: commandPath) }
}
