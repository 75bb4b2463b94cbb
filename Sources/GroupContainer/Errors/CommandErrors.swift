package import GroupSystemCalls

extension CoordinationError {
    /// A command that makes content could not be run, or not be given what it reads.
    package static func command(_ errno: Errno, _ item: String, _ operation: String) -> CoordinationError {
        CoordinationError(errno, item: item, operation: operation)
    }

    /// It printed more than is kept in memory.
    package static func tooMuchOutput(limit: Int, _ item: String, _ operation: String) -> CoordinationError {
        CoordinationError(
            .limitReached, item: item, operation: operation, cause: "the command has printed more than \(limit) bytes",
            advice:
                "nothing was changed; for an item that is larger, run it under groupctl lock, and have it write there")
    }
}
