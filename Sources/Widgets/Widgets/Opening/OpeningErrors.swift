package import GroupContainer

extension CoordinationError {
    /// Returns the error for opening a text that is not a URL.
    static func malformedURL(_ url: String, longest: Int) -> CoordinationError {
        CoordinationError(
            .invalidArgument, operation: "open", item: String(url.prefix(200)),
            reason: "a URL begins with a scheme and ':', and has no control characters and at most \(longest) bytes")
    }

    /// Returns the error for a registration that has no valid scheme, or names no program.
    package static func malformedAppLink(_ scheme: String) -> CoordinationError {
        CoordinationError(
            .invalidArgument, operation: "register a scheme", item: scheme,
            reason:
                "a scheme has up to 100 letters, digits, '+', '-' and '.', and begins with a letter; the program to "
                + "start is a path and its arguments")
    }

    /// Returns the error for an app that is not started, as another user may have registered its command.
    static func unchosenApp(_ program: String, scheme: String) -> CoordinationError {
        CoordinationError(
            .notPermitted, operation: "start the app of '\(scheme)'", item: program,
            reason: "it does not run, and another user of the container may have registered this command",
            remedy: Remedy(Remedy.Code(rawValue: "startApp"), "start the app yourself; it gets the URL then"))
    }

    /// Returns the error for the app of a scheme that cannot be started.
    static func unstartableApp(_ program: String, scheme: String, cause: any Error) -> CoordinationError {
        CoordinationError(
            .notFound, operation: "start the app of '\(scheme)'", item: program, reason: "\(cause)",
            remedy: Remedy(
                Remedy.Code(rawValue: "startApp"), "start the app once, which registers its present location"),
            cause: cause)
    }
}
