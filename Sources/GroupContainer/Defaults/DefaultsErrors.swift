extension CoordinationError {
    /// Nothing is set under a key.
    package static func noSuchKey(_ key: String, in suite: String, operation: String) -> CoordinationError {
        ofDefaults(.notFound, key, in: suite, operation: operation, cause: "nothing is set under this key")
    }

    /// What is set under a key, or what was to be set, will not do.
    package static func ofDefaults(
        _ code: Code, _ key: String, in suite: String, operation: String, cause: String, advice: String? = nil
    ) -> CoordinationError {
        CoordinationError(
            code, item: "\(suite): \(printable(Array(key.utf8)))", operation: operation, cause: cause, advice: advice)
    }

    /// A file that is to be imported is not what it should be.
    package static func malformedImport(_ path: [UInt8], cause: String) -> CoordinationError {
        CoordinationError(
            .invalidContent, item: printable(path), operation: "import", cause: cause, advice: "nothing was imported")
    }
}

extension DefaultsChange {
    /// A change of no key, for a line that says that everything up to a place was told. Its kind says nothing.
    package static func bookmark(_ suite: String, at cursor: Cursor) -> DefaultsChange {
        DefaultsChange(
            kind: .present, suite: suite, key: "", old: nil, new: nil, generation: cursor.sequence, cursor: cursor,
            by: nil, time: 0, part: 0, parts: 1)
    }
}
