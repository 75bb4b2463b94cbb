import GroupSystemCalls

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
        /// Takes part in electing the leader, who sees what is changed without coordination, for as long as this
        /// follows.
        private var following: LeaderElection.Following?
        private var hasBegun = false
        private var presence = PresenceCheck()

        init(_ reader: Result<ChangeReader, CoordinationError>) { self.reader = reader }

        /// The next change; nil when the task is cancelled. Errors: `damaged`, `notFound` when the container was
        /// removed, and those of finding the place.
        public mutating func next() async throws(CoordinationError) -> Change? { try await next(by: nil) }

        var cursor: Cursor { get throws(CoordinationError) { try reader.get().cursor } }

        /// Nil also when the moment, of the monotonic clock, has come.
        mutating func next(by moment: Int64?) async throws(CoordinationError) -> Change? {
            var reader = try self.reader.get()
            if !hasBegun {
                hasBegun = true
                following = reader.member.beginFollowing()
                reader.noteBlindness()
            }
            while true {
                if reader.wantsSnapshot {
                    // Linear in the journal, at least: not for a thread of the pool either.
                    let unread = reader
                    reader = try await Coordinator.offload { Self.takingSnapshot(unread) }.get()
                }
                let found = Result { () throws(CoordinationError) in try reader.next() }
                // Also where it failed: it knows how to go on.
                self.reader = .success(reader)
                if let change = try found.get() { return change }
                if reader.lookForLeader() {
                    self.reader = .success(reader)
                    continue
                }
                self.reader = .success(reader)
                if Task.isCancelled { return nil }
                try presence.check(reader.member, "follow")
                if let moment, moment <= monotonicNanoseconds() { return nil }
                following?.election.lookAfterLeader()
                let place = reader
                await reader.member.sleeper.wait(until: moment) { place.hasMore }
            }
        }

        private static func takingSnapshot(_ unread: ChangeReader) -> Result<ChangeReader, CoordinationError> {
            Result { () throws(CoordinationError) in
                var reader = unread
                try reader.takeSnapshot()
                return reader
            }
        }
    }
}

extension Container {
    /// The changes since a place: `.start`, `.now` (this call), behind a `Cursor`, or `.snapshot`, with what stands
    /// there first. With `matching`, what a filter lets through: patterns (`*`, `?`, `[…]` within a component, `**`
    /// across directories), kinds, not one's own. Where the container is read-only nobody wakes it: it looks every 100
    /// ms.
    ///
    /// Where a cursor's place was lost, one `rescan` comes first, and then what changes; with `afterRescan: .snapshot`,
    /// what stands there comes in between, as `present`, with a `bookmark` behind it.
    public func changes(
        since origin: ChangeOrigin = .now, matching filter: ChangeFilter = .everything,
        afterRescan policy: RescanPolicy = .marker
    ) -> Changes {
        Changes(
            Result { () throws(CoordinationError) in
                try ChangeReader(member, since: origin, matching: filter, afterRescan: policy)
            })
    }
}
