extension CoordinationError {
    /// Returns the error for a key under which nothing is set.
    package static func noSuchKey(_ key: String, in suite: String, operation: String) -> CoordinationError {
        ofDefaults(.notFound, key, in: suite, operation: operation, cause: "nothing is set under this key")
    }

    /// Returns the error for a value that is set under a key, or was to be set, and cannot be used.
    package static func ofDefaults(
        _ code: Code, _ key: String, in suite: String, operation: String, cause: String, advice: String? = nil
    ) -> CoordinationError {
        CoordinationError(
            code, item: "\(suite): \(printable(Array(key.utf8)))", operation: operation, cause: cause, advice: advice)
    }

    /// Returns the error for a file that is to be imported and is not valid.
    package static func malformedImport(_ path: [UInt8], cause: String) -> CoordinationError {
        CoordinationError(
            .invalidContent, item: printable(path), operation: "import", cause: cause, advice: "nothing was imported")
    }
}

extension DefaultsChange {
    /// Returns a change without a key, for an output line which means that everything up to a place was delivered. Its
    /// kind has no meaning.
    package static func bookmark(_ suite: String, at cursor: Cursor) -> DefaultsChange {
        DefaultsChange(
            kind: .present, suite: suite, key: "", old: nil, new: nil, generation: cursor.sequence, cursor: cursor,
            by: nil, time: 0, part: 0, parts: 1)
    }
}
