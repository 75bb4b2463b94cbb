import SystemCalls

/// What goes on in a container at one moment.
public struct ContainerStatus: Sendable {
    /// A live member.
    public struct Member: Sendable {
        /// Its process.
        public var processIdentifier: Int32
        /// Its user.
        public var user: UInt32
        /// What it says it is.
        public var purpose: String
        /// When it joined, in nanoseconds since 1970.
        public var since: Int64
        /// It looks after changes made without coordination.
        public var isSteward: Bool
        /// How its process was called, cut after 4,096 bytes; nil where the system will not say.
        public var command: String?
        /// What its process is doing; nil where the system will not say.
        public var condition: CoordinationError.Holder.Condition?
        /// What it holds and waits for; at most nineteen are shown.
        public var accesses: [Access]
    }

    /// A lease, or the wait for one.
    public struct Access: Sendable {
        /// The item's path, cut after 87 bytes.
        public var path: String
        /// Alone, rather than shared.
        public var isWriting: Bool
        /// A folder with everything below it.
        public var isWholeFolder: Bool
        /// Still waiting.
        public var isWaiting: Bool
        /// Since when, in nanoseconds since 1970.
        public var since: Int64
        /// What it is for: the purpose of the coordinator that asked.
        public var purpose: String
    }

    /// The container's identifier, drawn at random when it was made.
    public var container: String
    /// Those alive now, this process among them.
    public var members: [Member]
    /// How many changes the journal has counted.
    public var sequence: UInt64
    /// The place behind the last of them.
    public var cursor: Cursor
    /// How many files the journal has.
    public var journalFiles: Int
}

extension Container {
    /// Who is here, what they hold and wait for, and where the journal stands. Errors: `damaged`.
    /// System calls: fcntl(F_OFD_GETLK) for each slot in use
    public func status() throws(CoordinationError) -> ContainerStatus {
        let roster = member.roster
        let hasSteward = member.hasSteward(ofTerm: roster.map.load64(RosterLayout.term))
        let steward = hasSteward ? Int(clamping: roster.map.load64(RosterLayout.steward)) : 0
        let members = roster.liveMembers().map { live in
            let process = live.process
            return ContainerStatus.Member(
                processIdentifier: live.processIdentifier, user: live.user, purpose: live.purpose, since: live.started,
                isSteward: live.slot + 1 == steward, command: process?.command, condition: process?.condition,
                accesses: roster.accesses(of: live).map { access in
                    ContainerStatus.Access(
                        path: access.path, isWriting: access.claim.part.mode != .reading,
                        isWholeFolder: access.claim.part.mode == .structural, isWaiting: access.claim.stage != .held,
                        since: access.since, purpose: access.purpose)
                })
        }
        let end = try member.journal.log.end()
        return ContainerStatus(
            container: member.format.container, members: members, sequence: end.sequence,
            cursor: member.journal.cursor(at: end),
            journalFiles: try member.journal.log.fileNumbers().count)
    }
}
