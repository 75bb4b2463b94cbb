extension CoordinationError {
    /// No message was posted to such a channel, and nobody listens to it.
    package static func noSuchChannel(_ name: String, operation: String) -> CoordinationError {
        CoordinationError(
            .notFound, item: printable(Array(name.utf8)), operation: operation,
            cause: "there is no channel of that name",
            advice: "groupctl channels list shows those that there are")
    }

    /// Nobody has listened to a channel under a name, or that listener was removed.
    package static func noSuchListener(_ name: String, of channel: String, operation: String) -> CoordinationError {
        CoordinationError(
            .notFound, item: printable(Array("\(channel)/\(name)".utf8)), operation: operation,
            cause: "there is no listener of that name", advice: "groupctl channels status shows those that there are")
    }
}
