import GroupSystemCalls

/// What goes on in a container at one moment.
public struct ContainerStatus: Sendable {
    /// A live member.
    public struct Member: Sendable {
        /// Its process.
        public var processIdentifier: Int32
        /// Where `processIdentifier` counts, as in `CoordinationError.Holder`; nil where a signal to it reaches the
        /// member.
        public var pidNamespace: UInt64?
        /// Its user.
        public var user: UInt32
        /// What it says it is.
        public var purpose: String
        /// When it joined, in nanoseconds since 1970.
        public var since: Int64
        /// It looks after changes made without coordination.
        public var isLeader: Bool
        /// How its process was called, cut after 4,096 bytes; nil where the system will not say.
        public var command: String?
        /// What its process is doing; nil where the system will not say.
        public var condition: CoordinationError.Holder.Condition?
        /// What it holds and waits for; at most nineteen are shown.
        public var accesses: [Access]

        /// `process 7`, or `process 7 of PID namespace 4026532001`
        package var processText: String { MemberProcess.text(processIdentifier, pidNamespace) }
    }

    /// A lock, or the wait for one.
    public struct Access: Sendable {
        /// The item's path, cut after 87 bytes.
        public var path: String
        /// Alone, rather than shared.
        public var isWriting: Bool
        /// A directory with everything below it.
        public var isWholeDirectory: Bool
        /// Still waiting.
        public var isWaiting: Bool
        /// Since when, in nanoseconds since 1970.
        public var since: Int64
        /// What it is for: the purpose of the coordinator that asked.
        public var purpose: String
    }

    /// The log of a suite or of a channel.
    public struct Log: Sendable {
        /// The suite's or the channel's name.
        public var name: String
        /// On the disk, its earlier files included.
        public var bytes: UInt64
        /// How many sets, or messages, it has counted since it was made.
        public var sequence: UInt64
        /// How many keys are set, or messages are kept.
        public var count: Int
        /// Of a channel: who listens, the one that is the furthest behind first.
        public var listeners: [GroupChannel.Listener] = []
        /// Why nothing of it can be told; nil where all is well.
        public var fault: CoordinationError?
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
    /// By their names.
    public var suites: [Log]
    /// The same.
    public var channels: [Log]
}

extension Container {
    /// Who is here, what they hold and wait for, where the journal stands, and what is kept of suites and channels,
    /// which are read for it. Errors: `damaged` (the journal). System calls: fcntl(F_OFD_GETLK) for each slot in use
    public func status() throws(CoordinationError) -> ContainerStatus {
        let memberTable = member.memberTable
        let hasLeader = member.hasLeader(ofTerm: memberTable.map.load64(MemberTableLayout.term))
        let leader = hasLeader ? Int(clamping: memberTable.map.load64(MemberTableLayout.leader)) : 0
        var processes = ProcessTable()
        let members = memberTable.liveMembers().map { live in
            let process = processes.process(of: live)
            return ContainerStatus.Member(
                processIdentifier: process.identifier, pidNamespace: process.pidNamespace, user: live.user,
                purpose: live.purpose, since: live.started, isLeader: live.slot + 1 == leader,
                command: process.command, condition: process.condition,
                // Before its ticket is drawn nobody knows who comes before whom: it does not wait yet.
                accesses: memberTable.accesses(of: live).filter { $0.claim.stage == .held || $0.claim.ticket > 0 }.map {
                    access in
                    ContainerStatus.Access(
                        path: access.path, isWriting: access.claim.part.mode != .reading,
                        isWholeDirectory: access.claim.part.mode == .structural, isWaiting: access.claim.stage != .held,
                        since: access.since, purpose: access.purpose)
                })
        }
        let end = try member.journal.log.end()
        return ContainerStatus(
            container: member.format.container, members: members, sequence: end.sequence,
            cursor: member.journal.cursor(at: end),
            journalFiles: try member.journal.log.fileNumbers().count,
            suites: member.directory.storeNames(of: .suite).map { name in
                log(name, of: .suite) { (status) throws(CoordinationError) in
                    guard let suite = try SuiteStore.open(member, suite: name, creating: false) else { return }
                    let (state, place) = try suite.present()
                    (status.sequence, status.count) = (place.sequence, state.entries.count)
                }
            },
            channels: member.directory.storeNames(of: .channel).map { name in
                log(name, of: .channel) { (status) throws(CoordinationError) in
                    guard let channel = try ChannelStore.open(member, channel: name, creating: false) else { return }
                    let (state, place) = try channel.present()
                    (status.sequence, status.count) = (place.sequence, state.messages.count)
                    status.listeners = GroupChannel.listeners(in: state)
                }
            })
    }

    /// The items that members of these processes hold or wait for. System calls: as of the members in `status`.
    package func accessedItems(by isMeant: (Int32) -> Bool) -> [String] {
        var processes = ProcessTable()
        return member.memberTable.liveMembers().filter {
            let process = processes.process(of: $0)
            return process.pidNamespace == nil && isMeant(process.identifier)
        }.flatMap(member.memberTable.accesses(of:))
            .filter { $0.claim.stage == .held || $0.claim.ticket > 0 }.map(\.path)
    }

    /// Not kept as those are that are used: they would stay in memory.
    private func log(
        _ name: String, of kind: LogFacts.Kind,
        _ look: (inout ContainerStatus.Log) throws(CoordinationError) -> Void
    ) -> ContainerStatus.Log {
        var status = ContainerStatus.Log(name: name, bytes: 0, sequence: 0, count: 0)
        if let directory = try? member.directory.existingDirectory("\(kind.directory)/\(name)"),
            let names = try? directory.entryNames()
        {
            status.bytes = names.reduce(0) { $0 + ((try? directory.status(of: $1))?.size ?? 0) }
            // Opening it would begin it.
            if !names.contains(where: { SegmentedLog.fileNumber($0) != nil }) { return status }
        }
        do { try look(&status) } catch { status.fault = error }
        return status
    }
}
