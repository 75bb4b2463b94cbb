extension CoordinationError {
    /// Returns the error for opening a text that is not a URL.
    package static func malformedURL(_ url: String, longest: Int) -> CoordinationError {
        CoordinationError(
            .invalidArgument, item: String(url.prefix(200)), operation: "open",
            cause: "it is no URL: it begins with a scheme and ':', has no control characters, and at most "
                + "\(longest) bytes")
    }

    /// Returns the error for a registration that has no valid scheme, or names no program.
    package static func malformedAppLink(_ scheme: String) -> CoordinationError {
        CoordinationError(
            .invalidArgument, item: scheme, operation: "register a scheme",
            cause:
                "a scheme has up to 100 letters, digits, '+', '-' and '.', and begins with a letter; what is started "
                + "for it is a program and its arguments")
    }

    /// Returns the error for the app of a scheme that cannot be started.
    package static func unstartableApp(_ program: String, scheme: String, cause: String) -> CoordinationError {
        CoordinationError(
            .notFound, item: program, operation: "start the app of '\(scheme)'", cause: cause,
            advice: "start the app once, and it registers where it is now")
    }
}
