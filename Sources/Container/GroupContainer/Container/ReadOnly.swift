import GroupBytes
import GroupLocking
import GroupSystemCalls

extension OpenContainer {
    /// Returns the error for an operation that a process that may only read cannot do.
    func refusal(_ item: String, _ operation: String) -> CoordinationError {
        readOnly?.error(item, operation)
            ?? CoordinationError(.notFound, operation: operation, item: item, reason: "the item cannot be made")
    }

    /// Throws if this process may only read and an access would change something. Called before anything is waited for.
    func checkMayTake(_ intents: Few<AccessIntent>, _ operation: String) throws(CoordinationError) {
        guard let readOnly else { return }
        for intent in intents where intent.mode(concernsDirectory: false) ?? .shared > .shared {
            throw readOnly.error(intent.path.description, operation)
        }
        // A snapshot is made in staging.
        for intent in intents where intent.wantsSnapshot {
            throw readOnly.error(intent.path.description, "make a snapshot of")
        }
    }
}

extension Container {
    /// Whether the container can be read and followed, but every change of it is `notPermitted`: its file system is
    /// mounted read-only, or this user has no permission to write to its files. The value is determined when the first
    /// `Container` of this process opens it, and stays until the last one is gone.
    ///
    /// The value is also true where all 1,024 slots for members are taken: then every change of it is `limitReached`.
    ///
    /// This process is then no member:
    /// - Other processes do not see it in `status()` or in errors.
    /// - Its locks are real, but a deadlock through them ends only with the deadline of a waiter.
    /// - `.forUploading` is `notPermitted`, too.
    /// - Changes that are made without coordination are seen if a member that may write follows.
    /// - What a member that died has left half done is read as it is: of a transaction perhaps one item, and not the
    ///   other.
    /// - A journal that was not recovered after a crash is read up to where it is whole.
    public var isReadOnly: Bool { opened.isReadOnly }

    /// Whether another user may write the container's records: it is shared with a Unix group, or belongs to another
    /// user. A command that a record names may then be one that this user has not chosen. System calls: statx(2)
    package var hasOtherUsers: Bool {
        opened.directory.isShared || (try? opened.directory.root.status().owner) != effectiveUser()
    }

    /// The cause, or nil where the container can be written.
    package var readOnlyCause: String? { opened.readOnly?.reason }

    /// Throws the error that changing an item would throw if the container can only be read.
    package func checkNotReadOnly(_ item: ItemPath, _ operation: String) throws(CoordinationError) {
        if let readOnly = opened.readOnly { throw readOnly.error(item.description, operation).located(in: opened) }
    }
}
