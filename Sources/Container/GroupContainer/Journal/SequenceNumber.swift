// Imports nothing: no file, clock or process.

/// The position of a change in the order of a container's journal: 1 for the container's first change, without gaps.
/// The changes of a transaction share one.
public struct SequenceNumber: RawRepresentable, Hashable, Comparable, Sendable, Codable, CustomStringConvertible {
    /// The number, as it stands in the journal.
    public let rawValue: UInt64

    /// Creates a sequence number from its number, which another process or an earlier run has read.
    public init(rawValue: UInt64) { self.rawValue = rawValue }

    /// The number in digits.
    public var description: String { "\(rawValue)" }

    /// Returns whether the left change was made before the right one.
    public static func < (left: SequenceNumber, right: SequenceNumber) -> Bool { left.rawValue < right.rawValue }
}
