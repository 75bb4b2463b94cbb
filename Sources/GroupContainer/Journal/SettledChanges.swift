import GroupSystemCalls

/// The changes as they settle: see `Changes.settled(for:atMost:)`.
public struct SettledChanges: AsyncSequence, Sendable {
    /// One change.
    public typealias Element = Change

    private let changes: Changes
    private let settling: Settling

    init(_ changes: Changes, _ settling: Settling) { (self.changes, self.settling) = (changes, settling) }

    /// Starts at the sequence's place.
    public func makeAsyncIterator() -> Iterator { Iterator(changes.makeAsyncIterator(), settling) }

    /// Where one consumer stands.
    public struct Iterator: AsyncIteratorProtocol {
        private var changes: Changes.Iterator
        private var desk: SettlingDesk
        private var ready: ArraySlice<Change> = []

        init(_ changes: Changes.Iterator, _ settling: Settling) {
            self.changes = changes
            desk = SettlingDesk(settling)
        }

        /// The next change; nil when the task is cancelled: what is held back then comes to who begins at the last
        /// change's cursor. Errors: as those of `Changes.Iterator`.
        public mutating func next() async throws(CoordinationError) -> Change? {
            while ready.isEmpty {
                let now = monotonicNanoseconds()
                let begin = try changes.cursor
                if let batch = desk.release(at: now, end: begin, isBehind: true) {
                    ready = batch[...]
                    break
                }
                if let change = try await changes.next(by: now) {
                    desk.note(change, from: begin, behind: try changes.cursor, at: monotonicNanoseconds())
                    continue
                }
                if let batch = desk.release(at: now, end: begin, isBehind: false) {
                    ready = batch[...]
                    break
                }
                let wait = desk.wait(from: now)
                if let change = try await changes.next(by: wait == .max ? nil : now + wait) {
                    desk.note(change, from: begin, behind: try changes.cursor, at: monotonicNanoseconds())
                } else if Task.isCancelled {
                    return nil
                }
            }
            return ready.popFirst()
        }
    }
}

extension Changes {
    /// One change a path once nothing happened to it for `quiet`, as `ChangeFollower.settled(for:atMost:)`.
    public func settled(for quiet: Duration, atMost: Duration? = nil) -> SettledChanges {
        SettledChanges(self, Settling(quiet, atMost))
    }
}
