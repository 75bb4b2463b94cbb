import GroupContainer

/// The outcome of a change that the cluster decides, for a caller that did not get the answer.
public enum ClusterOutcome: String, Hashable, Sendable {
    /// The cluster has accepted the change, and it is made here.
    case accepted
    /// An item was changed before; nothing was changed.
    case conflict
    /// The cluster has not committed the change, and will not; nothing was changed.
    case unavailable
    /// The cluster does not take such a change; nothing was changed.
    case failed
    /// The cluster has not answered yet.
    case pending
    /// The operation is not known: it is another container's, its outcome was returned by its call, or it is long over.
    case forgotten
}
