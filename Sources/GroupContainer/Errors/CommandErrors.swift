package import GroupSystemCalls

extension CoordinationError {
    /// Returns the error for a command that makes content: it could not be run, or could not be given its input.
    package static func command(_ errno: Errno, _ item: String, _ operation: String) -> CoordinationError {
        CoordinationError(errno, item: item, operation: operation)
    }

    /// Returns the error for a command that printed more than is kept in memory.
    package static func tooMuchOutput(limit: Int, _ item: String, _ operation: String) -> CoordinationError {
        CoordinationError(
            .limitReached, item: item, operation: operation, cause: "the command has printed more than \(limit) bytes",
            advice:
                "nothing was changed; for an item that is larger, run it under groupctl lock, and have it write there")
    }
}
