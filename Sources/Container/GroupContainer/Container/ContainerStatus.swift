public import FoundationEssentials
import GroupLocking
import GroupLog
import GroupSystemCalls

/// The state of a container at one moment.
public struct ContainerStatus: Sendable {
    /// A live member.
    public struct Member: Sendable {
        /// The process number of the member.
        public var processIdentifier: Int32
        /// The PID namespace of `processIdentifier`, as in `CoordinationError.Holder`; nil where a signal to it reaches
        /// the member.
        public var pidNamespace: UInt64?
        /// The identifier of the member's user.
        public var userIdentifier: UInt32
        /// The purpose that the member gave.
        public var purpose: String
        /// The time when the member joined.
        public var since: Date { Date(nanoseconds: sinceNanoseconds) }
        /// That time in nanoseconds since 1970, which a `Date` has only to about 120 ns.
        package var sinceNanoseconds: Int64
        /// Whether the member is the leader, which watches for changes made without coordination.
        public var isLeader: Bool
        /// The command that started the process, cut after 4,096 bytes; nil where the system does not show it.
        public var command: String?
        /// The condition of the process; nil where the system does not show it.
        public var condition: CoordinationError.Holder.Condition?
        /// The locks that the member holds and waits for; at most nineteen are shown.
        public var locks: [Lock]
        /// The items that the member presents.
        public var presentedItems: [PresentedItem]
        /// The number in `members` of the nearest member whose process started this one's, directly or not, while this
        /// one waits for a lock; nil where there is none.
        package var ancestor: Int?

        /// `process 7`, or `process 7 of PID namespace 4026532001`
        package var processText: String { MemberProcess.text(processIdentifier, pidNamespace) }
    }

    /// A lock, or the wait for one.
    public struct Lock: Sendable {
        /// The item's path, cut after 87 bytes.
        public var path: String
        /// Whether the lock is exclusive, rather than shared.
        public var isWriting: Bool
        /// Whether the lock covers a directory with everything below it.
        public var isWholeDirectory: Bool
        /// Whether the member still waits for the lock.
        public var isWaiting: Bool
        /// The time since when the member holds or waits for the lock.
        public var since: Date { Date(nanoseconds: sinceNanoseconds) }
        /// That time in nanoseconds since 1970, which a `Date` has only to about 120 ns.
        package var sinceNanoseconds: Int64
        /// The purpose of the coordinator that requested the lock.
        public var purpose: String
        /// The request that the lock belongs to, with those that were made under it.
        package var request: Request
        /// The locks that keep this one waiting; at most 32 are given.
        package var blockers: [Blocker] = []

        /// A lock, by the number of its member in `members`, and its number in that member's `locks`.
        package struct Blocker: Hashable, Sendable {
            package var member: Int
            package var lock: Int
        }

        /// A request, by the slot of its member and its number there.
        package struct Request: Hashable, Sendable {
            package var slot: Int
            package var number: UInt64
        }
    }

    /// An item that a member presents.
    public struct PresentedItem: Sendable {
        /// The item's path.
        public var path: String
        /// The questions that its presenter answers.
        public var answers: PresenterQuestions
        /// The time since when the item is presented.
        public var since: Date { Date(nanoseconds: sinceNanoseconds) }
        /// That time in nanoseconds since 1970, which a `Date` has only to about 120 ns.
        package var sinceNanoseconds: Int64
        /// The questions that are open.
        public var questions: [OpenQuestion]
    }

    /// A question to a presenter that is not over.
    public struct OpenQuestion: Sendable {
        /// What is asked.
        public var wanted: PresenterQuestions
        /// `asked`, `answering`, `answered`, `granted` (the request has its access), `passedOver`, `failed`, or `over`
        /// (the presenter has not reacquired yet).
        public var state: String
        /// The process that asks, in its own PID namespace.
        public var processIdentifier: Int32
        /// The purpose of the coordinator that asks.
        public var purpose: String
        /// The requested item; cut after 87 bytes.
        public var item: String
        /// The time of the question.
        public var since: Date { Date(nanoseconds: sinceNanoseconds) }
        /// That time in nanoseconds since 1970, which a `Date` has only to about 120 ns.
        package var sinceNanoseconds: Int64
    }

    /// The log of a suite or of a channel.
    public struct Log: Sendable {
        /// The suite's or the channel's name.
        public var name: String
        /// The size on the disk in bytes, with earlier files.
        public var size: UInt64
        /// The number of sets, or messages, since the log was made.
        public var sequence: UInt64
        /// The number of keys that are set, or of messages that are kept.
        public var count: Int
        /// The listeners of a channel, the one that is furthest behind first.
        public var listeners: [GroupChannel.Listener] = []
        /// The error that prevented reading the log; nil where all is well.
        public var fault: CoordinationError?
    }

    /// The container's identifier, drawn at random when it was made.
    public var containerIdentifier: String
    /// The members that are alive now, with this process if it is one.
    public var members: [Member]
    /// The sequence number of the last change; 0 where there was none.
    public var sequence: SequenceNumber
    /// The position behind the last change.
    public var cursor: Cursor
    /// The number of the journal's files.
    public var journalFileCount: Int
    /// The size of the journal's files in bytes.
    package var journalBytes: UInt64
    /// The bytes that can still be written on the container's file system; nil where that is not known.
    package var freeBytes: UInt64?
    /// The logs of suites, by their names.
    public var suites: [Log]
    /// The logs of channels, by their names.
    public var channels: [Log]
}

extension Container {
    /// Returns the members, what they hold and wait for, the journal's end, and the state of suites and channels, which
    /// are read for it. Errors: `damaged` (the journal). System calls: fcntl(F_OFD_GETLK) for each slot in use
    public func status() throws(CoordinationError) -> ContainerStatus { try status(withLogs: true) }

    /// The form of `status()` that leaves the suites and channels out, which are read for it, unless `withLogs`.
    package func status(withLogs: Bool) throws(CoordinationError) -> ContainerStatus {
        try opened.locating { () throws(CoordinationError) in try presentStatus(withLogs) }
    }

    private func presentStatus(_ withLogs: Bool) throws(CoordinationError) -> ContainerStatus {
        let memberTable = opened.memberTable
        let hasLeader = opened.hasLeader(ofTerm: memberTable.map.load64(MemberTableLayout.term))
        let leader = hasLeader ? Int(clamping: memberTable.map.load64(MemberTableLayout.leader)) : 0
        // Without the table, the rest is known all the same: requests and the doctor report the damage.
        let presented = (try? opened.presenterTable())?.entries() ?? []
        var processes = ProcessTable()
        var published: [[MemberTable.PublishedLock]] = []
        let members = memberTable.liveMembers().map { live in
            // Before a ticket is drawn the order of the waiters is not known: such an access does not count as waiting
            // yet.
            let locks = memberTable.publishedLocks(of: live).filter { $0.claim.stage == .held || $0.claim.ticket > 0 }
            published.append(locks)
            let process = processes.process(of: live)
            return ContainerStatus.Member(
                processIdentifier: process.identifier, pidNamespace: process.pidNamespace, userIdentifier: live.user,
                purpose: live.purpose, sinceNanoseconds: live.started, isLeader: live.slot + 1 == leader,
                command: process.command, condition: process.condition.map(CoordinationError.Holder.Condition.init),
                locks: locks.map { access in
                    ContainerStatus.Lock(
                        path: access.path, isWriting: access.claim.part.mode != .shared,
                        isWholeDirectory: access.claim.part.mode == .tree, isWaiting: access.claim.stage != .held,
                        sinceNanoseconds: access.since, purpose: access.purpose,
                        request: .init(slot: access.owner.slot, number: access.owner.number))
                },
                presentedItems: presented.filter { ($0.slot, $0.nonce) == (live.slot, live.nonce) }.map(opened.shown))
        }
        let end = try translating(opened.journal.log.end())
        var status = ContainerStatus(
            containerIdentifier: opened.format.container, members: members,
            sequence: SequenceNumber(rawValue: end.sequence),
            cursor: opened.journal.cursor(at: end),
            journalFileCount: try translating(opened.journal.log.segmentNumbers()).count,
            journalBytes: size("journal"), freeBytes: try? opened.directory.group.freeSpace().bytes,
            suites: withLogs ? suiteLogs() : [], channels: withLogs ? channelLogs() : [])
        status.findBlockers(published)
        return status
    }

    private func suiteLogs() -> [ContainerStatus.Log] {
        opened.directory.storeNames(of: .suite).map { name in
            log(name, of: .suite) { (status) throws(CoordinationError) in
                guard let suite = try SuiteStore.open(opened, suite: name, creating: false) else { return }
                let (state, end) = try translating(suite.present())
                (status.sequence, status.count) = (end.sequence, state.entries.count)
            }
        }
    }

    private func channelLogs() -> [ContainerStatus.Log] {
        opened.directory.storeNames(of: .channel).map { name in
            log(name, of: .channel) { (status) throws(CoordinationError) in
                guard let channel = try ChannelStore.open(opened, channel: name, creating: false) else { return }
                let (state, end) = try translating(channel.present())
                (status.sequence, status.count) = (end.sequence, state.messages.count)
                status.listeners = GroupChannel.listeners(in: state)
            }
        }
    }

    /// Returns the size of the files of a directory in `.group`.
    private func size(_ label: String) -> UInt64 {
        guard let directory = try? opened.directory.existingDirectory(label), let names = try? directory.entryNames()
        else { return 0 }
        return names.reduce(0) { $0 + ((try? directory.status(of: $1))?.size ?? 0) }
    }

    /// Returns the items that members of these processes hold or wait for. System calls: those for the members in
    /// `status`.
    package func accessedItems(by isMeant: (Int32) -> Bool) -> [String] {
        var processes = ProcessTable()
        return opened.memberTable.liveMembers().filter {
            let process = processes.process(of: $0)
            return process.pidNamespace == nil && isMeant(process.identifier)
        }.flatMap(opened.memberTable.publishedLocks(of:))
            .filter { $0.claim.stage == .held || $0.claim.ticket > 0 }.map(\.path)
    }

    /// Returns whether another process waits for an item that members of these processes hold. System calls: as those
    /// of `status`
    package func isAwaited(from isMeant: (Int32) -> Bool) -> Bool {
        guard let members = try? status(withLogs: false).members else { return false }
        let isOne = members.map { $0.pidNamespace == nil && isMeant($0.processIdentifier) }
        return members.indices.contains { waiter in
            !isOne[waiter]
                && members[waiter].locks.contains { $0.isWaiting && $0.blockers.contains { isOne[$0.member] } }
        }
    }

    /// Returns the state of a suite's or channel's log. The opened log is not kept, unlike those in use: it would stay
    /// in memory.
    private func log(
        _ name: String, of kind: LogFacts.Kind,
        _ look: (inout ContainerStatus.Log) throws(CoordinationError) -> Void
    ) -> ContainerStatus.Log {
        var status = ContainerStatus.Log(name: name, size: 0, sequence: 0, count: 0)
        if let directory = try? opened.directory.existingDirectory("\(kind.directory)/\(name)"),
            let names = try? directory.entryNames()
        {
            status.size = size("\(kind.directory)/\(name)")
            // Opening a log without files would create its first one.
            if !names.contains(where: { SegmentedLog.segmentNumber($0) != nil }) { return status }
        }
        do { try look(&status) } catch { status.fault = error }
        return status
    }
}
