public import GroupContainer

/// The change counts of a pasteboard: see `GroupPasteboard.changeCounts()`. While nothing changes, the iteration waits
/// in the kernel.
public struct PasteboardChangeCounts: AsyncSequence, Sendable {
    /// A change count.
    public typealias Element = Int
    /// The error with which the iteration fails.
    public typealias Failure = CoordinationError

    let counts: DefaultsValues<Int>

    /// Returns an iterator.
    public func makeAsyncIterator() -> Iterator { Iterator(counts: counts.makeAsyncIterator()) }

    /// The position of one consumer.
    public struct Iterator: AsyncIteratorProtocol {
        fileprivate var counts: DefaultsValues<Int>.Iterator
        private var last: Int?

        fileprivate init(counts: DefaultsValues<Int>.Iterator) { self.counts = counts }

        /// Returns the next change count, or nil when the task is cancelled.
        public mutating func next() async throws(CoordinationError) -> Int? {
            // A count that was set while the sequence was made comes twice from the suite.
            while let count = try await counts.next() {
                if count == last { continue }
                last = count
                return count
            }
            return nil
        }
    }
}
