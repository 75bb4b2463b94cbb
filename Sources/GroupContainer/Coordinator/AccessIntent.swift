/// One item, and how it is wanted.
public struct AccessIntent: Hashable, Sendable {
    /// The item.
    public let path: ItemPath
    let mode: LeaseMode

    /// Shared with other readers; writers wait.
    public static func reading(_ path: ItemPath) -> AccessIntent { AccessIntent(path: path, mode: .reading) }

    /// Alone.
    public static func writing(_ path: ItemPath) -> AccessIntent { AccessIntent(path: path, mode: .writing) }
}

/// What a write did.
public enum WriteOutcome: Hashable, Sendable {
    /// The item has new content; the generation is the sequence of its record in the journal.
    case written(UInt64)
    /// It had this content already: nothing was written, nobody is told.
    case unchanged
}
