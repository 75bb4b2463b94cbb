import GroupBytes
import GroupCommands
import GroupContainer

extension CoordinationError {
    /// Returns the error for a key under which nothing is set.
    static func noSuchKey(_ key: String, in defaults: GroupDefaults, operation: String) -> CoordinationError {
        ofDefaults(.notFound, operation: operation, key, in: defaults, reason: "nothing is set under this key")
    }

    /// Returns the error for a value that is set under a key, or was to be set, and cannot be used.
    static func ofDefaults(
        _ code: Code, operation: String, _ key: String, in defaults: GroupDefaults, reason: String,
        remedy: Remedy? = nil
    ) -> CoordinationError {
        CoordinationError(
            code, operation: operation, item: "\(defaults.suite): \(printable(Array(key.utf8)))",
            containerPath: defaults.container.path.description, reason: reason, remedy: remedy)
    }

    /// Returns the error for a file that is to be imported and is not valid.
    static func malformedImport(_ file: [UInt8], reason: String) -> CoordinationError {
        CoordinationError(
            .invalidContent, operation: "import", item: printable(file), reason: "\(reason); nothing was imported")
    }
}
