import GroupBytes
import GroupCommands
import GroupContainer

extension CoordinationError {
    /// Returns the error for a channel that does not exist.
    static func noSuchChannel(_ channel: GroupChannel, _ container: Container, operation: String) -> CoordinationError {
        CoordinationError(
            .notFound, operation: operation, item: printable(Array(channel.name.utf8)),
            containerPath: container.path.description, reason: "there is no channel of that name",
            remedy: .ofCommand("groupctl channels list shows the channels"))
    }

    /// Returns the error for a listener that does not exist.
    static func noSuchListener(
        _ name: String, of channel: GroupChannel, _ container: Container, operation: String
    ) -> CoordinationError {
        CoordinationError(
            .notFound, operation: operation, item: printable(Array("\(channel.name)/\(name)".utf8)),
            containerPath: container.path.description, reason: "there is no listener of that name",
            remedy: .ofCommand("groupctl channels status shows the listeners of the channel"))
    }
}
