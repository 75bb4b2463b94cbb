import SystemCalls

/// The container's changes since a place, without end: in the order of the journal, each once; what happened while
/// nobody followed comes first. Each iterator reads on its own and keeps no more than its place, so a slow one costs no
/// memory and loses nothing.
public struct Changes: AsyncSequence, Sendable {
    /// One change.
    public typealias Element = Change

    private let member: Member
    private let origin: ChangeOrigin
    private let patterns: [String]

    init(_ member: Member, _ origin: ChangeOrigin, _ patterns: [String]) {
        (self.member, self.origin, self.patterns) = (member, origin, patterns)
    }

    /// Starts at the sequence's place.
    public func makeAsyncIterator() -> Iterator { Iterator(member, origin, patterns) }

    /// Where one consumer stands.
    public struct Iterator: AsyncIteratorProtocol {
        private enum State {
            case notStarted(Member, ChangeOrigin, [String])
            case reading(ChangeReader, Stewardship.Following)
        }

        private var state: State

        init(_ member: Member, _ origin: ChangeOrigin, _ patterns: [String]) {
            state = .notStarted(member, origin, patterns)
        }

        /// The next change; nil when the task is cancelled. Errors: `damaged`, `notFound` when the container was
        /// removed.
        public mutating func next() async throws(CoordinationError) -> Change? {
            var reader: ChangeReader
            let following: Stewardship.Following
            switch state {
            case .notStarted(let member, let origin, let patterns):
                // A steward that is not ready yet keeps a thread of its own waiting, not one of the pool.
                following = await Coordinator.offload { member.beginFollowing() }
                reader = try ChangeReader(member, since: origin, matching: patterns)
            case .reading(let before, let stewardship): (reader, following) = (before, stewardship)
            }
            while true {
                let change = try reader.next()
                state = .reading(reader, following)
                if let change { return change }
                if Task.isCancelled { return nil }
                if reader.member.folder.isGone {
                    throw CoordinationError(
                        .notFound, item: printable(reader.member.folder.path), operation: "follow",
                        cause: "the container was removed")
                }
                await reader.member.sleeper.wait(for: reader)
            }
        }
    }
}

extension Container {
    /// The changes since a place: `.start`, `.now`, or behind a `Cursor`. With `matching`, those of items that match
    /// one of the patterns (`*`, `?`, `[…]` within a component, `**` across folders).
    public func changes(since origin: ChangeOrigin = .now, matching patterns: [String] = []) -> Changes {
        Changes(member, origin, patterns)
    }
}
