package import FoundationEssentials
import GroupBytes
package import GroupContainer

/// A strict change that a process of this container asks the cluster for: accepted with all its parts, or with none.
///
/// The caller stages the contents, records the request in the suite of `ClusterRecords`, and waits for its end; the program
/// `group-cluster` sends it, applies it, and records what became of it.
package struct ClusterRequest: Codable, Equatable, Sendable {
    /// What the cluster takes of one call.
    package static let terms = Proposal.Terms(
        decider: "the cluster", directory: ClusterRecords.contentsDirectory, largestContent: 64 << 20,
        largestCount: 1_024, presence: ClusterRecords.caller(of:))

    package enum State: String, Codable, Sendable {
        /// The request waits for its turn.
        case waiting
        /// The request was sent, perhaps.
        case sent
        /// The cluster has accepted the request, and it is applied here.
        case accepted
        /// An item was changed since, or the fencing token is no longer right; nothing was changed anywhere.
        case conflict
        /// The request was surely not committed: the cluster was not reached in time.
        case unavailable
        /// The request cannot be sent: a path, a type or a size that the cluster does not take.
        case failed

        package var isOver: Bool { ![.waiting, .sent].contains(self) }
    }

    /// The name of the operation, 32 hexadecimal digits, by which its fate can be asked for later.
    package let operation: String
    package var parts: [Proposal.Part]
    /// The lock of the cluster that must still be held when the request is committed.
    package var lock: String?
    /// The name of the grant of that lock: the fencing token.
    package var grant: String?
    package var purpose: String
    package var processIdentifier: Int32
    package var queuedAt: Date
    package var state = State.waiting
    package var reason: String?
    /// The code of the error of a failed request; nil is `invalidArgument`.
    package var code: String?
    /// The generations of the items at `path`, of a move at `destination`, after the request was applied, in the order of
    /// the parts without the checks; 0 where there is no item.
    package var generations: [UInt64] = []
    /// Whether the caller no longer waits: what was not sent is taken back. See `ClusterRecords.beginSending`. A caller that was
    /// killed is noticed by `ClusterRecords.caller`; its record and its contents are the program's to remove.
    package var isGivenUp = false

    package init(
        operation: String, parts: [Proposal.Part], lock: String? = nil, grant: String? = nil, purpose: String,
        processIdentifier: Int32, queuedAt: Date
    ) {
        self.operation = operation
        self.parts = parts
        self.lock = lock
        self.grant = grant
        self.purpose = purpose
        self.processIdentifier = processIdentifier
        self.queuedAt = queuedAt
    }
}

/// A lock of the cluster that a process of this container asks for. The lock itself protects nothing: its grant is the token
/// of the requests that are committed under it.
package struct ClusterLockRequest: Codable, Equatable, Sendable {
    package enum State: String, Codable, Sendable {
        case waiting
        /// This machine has the lock, and everything before its grant is applied here.
        case granted
        /// The lock was given back, or another machine has it since.
        case ended
        /// The cluster was not reached.
        case failed
    }
    /// The name of the request, 32 hexadecimal digits.
    package let identifier: String
    package let lock: String
    package var processIdentifier: Int32
    package var state = State.waiting
    package var grant: String?
    package var reason: String?
    /// Whether the caller wants the lock no more. A caller that was killed is noticed by `ClusterRecords.presence`.
    package var isGivenUp = false

    package init(identifier: String, lock: String, processIdentifier: Int32) {
        (self.identifier, self.lock, self.processIdentifier) = (identifier, lock, processIdentifier)
    }
}

/// What a person has decided while the program runs, and what the program has answered. The decision is for the
/// situation that the person has seen.
package struct ClusterDecision: Codable, Equatable, Sendable {
    package enum Kind: String, Codable, Sendable {
        case joinAnew
        case sendRemovals
    }
    /// The name of the decision, 32 hexadecimal digits.
    package let name: String
    package let kind: Kind
    /// The number of removals that the person has seen.
    package let removals: Int
    package var answer: String?

    /// The answer of a program that has done what was decided.
    package static let done = "done"

    init(name: String, kind: Kind, removals: Int) { (self.name, self.kind, self.removals) = (name, kind, removals) }
}

/// What the program states about the cluster, for `group-cluster status`, `groupctl doctor` and callers.
package struct ClusterStatus: Codable, Equatable, Sendable {
    package struct Conflict: Codable, Equatable, Sendable {
        /// The path of the item with the conflict name.
        package var path: Data
        package var foundAt: Date
        /// The path as text.
        package var copy: String { printable(Array(path)) }
        package init(_ path: [UInt8], foundAt: Date) {
            (self.path, self.foundAt) = (Data(path), foundAt)
        }
    }
    package struct Unmirrored: Codable, Equatable, Sendable {
        package var path: String
        package var reason: String
        package init(path: String, reason: String) { (self.path, self.reason) = (path, reason) }
    }

    /// Another machine of the cluster.
    package struct Machine: Codable, Equatable, Sendable {
        /// The name of the machine in the cluster.
        package var machine: String
        /// The name of the machine, for people.
        package var host: String
        /// Whether its program had a session in etcd when that was last read.
        package var isRunning: Bool
        /// The index of the last entry that it had applied when it last noted that; nil for a program that does not.
        package var index: UInt64?
        /// When this machine has last found its session, by this machine's clock; nil where it runs, or never did.
        package var seenAt: Date?
        /// When it last noted its index, by its own clock.
        package var notedAt: Date?

        package init(
            machine: String, host: String, isRunning: Bool, index: UInt64?, seenAt: Date?, notedAt: Date?
        ) {
            self.machine = machine
            self.host = host
            self.isRunning = isRunning
            self.index = index
            self.seenAt = seenAt
            self.notedAt = notedAt
        }
    }

    package struct Ignored: Codable, Equatable, Sendable {
        package var count: Int
        /// The paths of the files, and the reasons.
        package var faults: [Unmirrored]
        package init(count: Int, faults: [Unmirrored]) { (self.count, self.faults) = (count, faults) }
    }

    /// The name of the cluster's container.
    package var name: String
    /// The name of this machine, for people.
    package var host: String
    /// The name of this machine in the cluster: 32 hexadecimal digits.
    package var machine: String
    package var endpoints: [String]
    package var processIdentifier: Int32
    package var isConnected = false
    /// When the connection was made or lost.
    package var since: Date
    /// The index of the last entry that is folded here.
    package var index: UInt64 = 0
    /// The number of entries in the cluster, when it was last read.
    package var count: UInt64 = 0
    package var readAt: Date?
    /// The number of items that are not applied here yet.
    package var toApply = 0
    /// The number of changes and requests that are not sent yet.
    package var toSend = 0
    package var conflicts: [Conflict] = []
    package var unmirrored: [Unmirrored] = []
    /// The number of items that a `.groupignore` keeps out of the cluster, of which a directory counts as one, and which of
    /// these files cannot be used; nil where there are none.
    package var ignored: Ignored?
    /// Why the program sends and applies nothing until a person has decided: another history, a newer version.
    package var paused: String?
    /// How many removals are not sent before a person has accepted them, as most items were gone at once; nil for none.
    package var withheld: Int?
    /// Files with values of this machine for which the cluster has others.
    package var replaced: [String]?
    package var failure: String?
    /// What a person has to change, where etcd refuses this machine until then; nil for other failures.
    package var remedy: String?
    /// The other machines; nil where they were never read.
    package var machines: [Machine]?

    package init(
        name: String, host: String, machine: String, endpoints: [String], processIdentifier: Int32, since: Date
    ) {
        (self.name, self.host, self.machine, self.endpoints) = (name, host, machine, endpoints)
        (self.processIdentifier, self.since) = (processIdentifier, since)
    }
}
