import SystemCalls

/// The container's changes since a place, without end: in the order of the journal, each once; what happened while
/// nobody followed comes first. Each iterator reads on its own and keeps no more than its place, so a slow one costs no
/// memory and loses nothing.
public struct Changes: AsyncSequence, Sendable {
    /// One change.
    public typealias Element = Change

    /// Its place was taken when the sequence was made: nothing that comes after that is missed, however late it is
    /// iterated.
    private let reader: Result<ChangeReader, CoordinationError>

    init(_ reader: Result<ChangeReader, CoordinationError>) { self.reader = reader }

    /// Starts at the sequence's place.
    public func makeAsyncIterator() -> Iterator { Iterator(reader) }

    /// Where one consumer stands.
    public struct Iterator: AsyncIteratorProtocol {
        private var reader: Result<ChangeReader, CoordinationError>
        /// Takes part in electing the steward, who sees what is changed without coordination, for as long as this
        /// follows.
        private var following: Stewardship.Following?
        private var hasBegun = false

        init(_ reader: Result<ChangeReader, CoordinationError>) { self.reader = reader }

        /// The next change; nil when the task is cancelled. Errors: `damaged`, `notFound` when the container was
        /// removed, and those of finding the place.
        public mutating func next() async throws(CoordinationError) -> Change? {
            var reader = try self.reader.get()
            if !hasBegun {
                hasBegun = true
                following = reader.member.beginFollowing()
            }
            while true {
                let found = Result { () throws(CoordinationError) in try reader.next() }
                // Also where it failed: it knows how to go on.
                self.reader = .success(reader)
                if let change = try found.get() { return change }
                if Task.isCancelled { return nil }
                if reader.member.isGone {
                    throw CoordinationError(
                        .notFound, item: printable(reader.member.folder.path), operation: "follow",
                        cause: "the container was removed")
                }
                following?.stewardship.lookAfterSteward()
                await reader.member.sleeper.wait(for: reader)
            }
        }
    }
}

extension Container {
    /// The changes since a place: `.start`, `.now` (this call), or behind a `Cursor`. With `matching`, those of items
    /// that match one of the patterns (`*`, `?`, `[…]` within a component, `**` across folders). Where the container is
    /// read-only nobody wakes it: it looks every 100 ms.
    public func changes(since origin: ChangeOrigin = .now, matching patterns: [String] = []) -> Changes {
        Changes(Result { () throws(CoordinationError) in try ChangeReader(member, since: origin, matching: patterns) })
    }
}
