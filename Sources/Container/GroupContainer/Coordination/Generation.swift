// Imports nothing: no file, clock or process.

/// The version of an item's content, or of a key's value: a number that each change of it increases. Two generations of
/// one item can be compared; those of different items of one container, or keys of one suite, show in which order they
/// were changed.
public struct Generation: RawRepresentable, Hashable, Comparable, Sendable, Codable, CustomStringConvertible {
    /// The number, as it stands in the log: the sequence number of the change's record.
    public let rawValue: UInt64

    /// Creates a generation from its number, which another process or an earlier run has read.
    public init(rawValue: UInt64) { self.rawValue = rawValue }

    /// The generation of a key that is not set: 0.
    public static let unset = Generation(rawValue: 0)

    /// The number in digits.
    public var description: String { "\(rawValue)" }

    /// Returns whether the left change was made before the right one.
    public static func < (left: Generation, right: Generation) -> Bool { left.rawValue < right.rawValue }
}

/// The result of a change of an item.
public struct WriteResult: Hashable, Sendable {
    /// Whether the item was changed. False where the item already had the requested state: nothing was written or
    /// recorded.
    public let isChanged: Bool
    /// The item's new generation; for a removal, that of the removal. Nil where nothing was changed, in a transaction,
    /// whose changes get their generation together when it is committed, and for a removal that somebody else decides
    /// about.
    public let generation: Generation?

    package init(isChanged: Bool, generation: Generation?) {
        self.isChanged = isChanged
        self.generation = generation
    }

    /// The item already had the requested state.
    public static let unchanged = WriteResult(isChanged: false, generation: nil)
    /// The change becomes visible with its transaction.
    package static let staged = WriteResult(isChanged: true, generation: nil)

    /// Returns the result of a change that has this generation.
    package static func written(_ generation: Generation) -> WriteResult {
        WriteResult(isChanged: true, generation: generation)
    }
}
