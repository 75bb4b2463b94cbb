/// Whether a change survives a power cut once its call has returned.
public enum Durability: Sendable {
    /// The content, the directory entry and the journal's record are on the disk. The default.
    case durable
    /// The change is atomic and visible at once, but the kernel chooses when to write it to the disk. After a power cut
    /// it is whole or absent only where the file system guarantees that order. For data that can be made again.
    case relaxed
    /// Every machine of the container's cluster will have the change, and this one has it, when the call returns. All changes
    /// of a call are accepted together, or none is. Only the calls of `Coordinator` and `BlockingCoordinator` take it: see
    /// their description.
    case replicated

    /// Checks that a change of something that is no item is not to be replicated alone. Error: `invalidArgument`
    package func checkIsLocal(_ operation: String, _ item: String) throws(CoordinationError) {
        if self != .replicated { return }
        throw CoordinationError(
            .invalidArgument, operation: operation, item: item,
            reason: "only changes of items can be replicated when the call returns")
    }
}
