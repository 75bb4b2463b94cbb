package import FoundationEssentials
import GroupBytes
package import GroupContainer

/// A strict change that a process of this container requests from the cluster: accepted with all its parts, or with
/// none.
///
/// The caller stages the contents, records the request in the suite of `ClusterRecords`, and waits for the outcome. The
/// program `group-cluster` sends the request, applies it, and records its outcome.
package struct ClusterRequest: Codable, Equatable, Sendable {
    /// The limits of one call, and the directory for its contents.
    package static let terms = Proposal.Terms(
        decider: "the cluster", directory: ClusterRecords.contentsDirectory, largestContent: 64 << 20,
        largestCount: 1_024, presence: ClusterRecords.caller(of:))

    package enum State: String, Codable, Sendable {
        /// The request waits for its turn.
        case waiting
        /// The request was perhaps sent.
        case sent
        /// The cluster has accepted the request, and it is applied here.
        case accepted
        /// An item was changed since, or the fencing token no longer has its lock. Nothing was changed anywhere.
        case conflict
        /// The request was surely not committed: the cluster was not reached in time.
        case unavailable
        /// The cluster does not take the request: its path, type or size, for example.
        case failed

        package var isOver: Bool { ![.waiting, .sent].contains(self) }
    }

    /// The name of the operation, 32 hexadecimal digits. The outcome is found by this name later.
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
    /// The generations of the changed items when the request was applied, in the order of the parts without the checks:
    /// of the item at `path`, or after a move at `destination`. A generation is 0 if there is no item, or if it could
    /// not be read in time.
    package var generations: [UInt64] = []
    /// Whether the caller no longer waits. A request that was not sent is then taken back: see
    /// `ClusterRecords.beginSending`. A caller that was killed sets nothing. The program removes its record when that
    /// is old, and its contents when the request is over and the caller is not present (`ClusterRecords.caller`).
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

/// A lock of the cluster that a process of this container requests. The lock protects nothing by itself: its grant is
/// the fencing token of the requests that are made under it.
package struct ClusterLockRequest: Codable, Equatable, Sendable {
    package enum State: String, Codable, Sendable {
        case waiting
        /// This machine has the lock, and everything before its grant is applied here.
        case granted
        /// This machine no longer has the lock: its session in etcd ended, or its program was started anew.
        case ended
    }
    /// The name of the request, 32 hexadecimal digits.
    package let identifier: String
    package let lock: String
    package var processIdentifier: Int32
    package var state = State.waiting
    package var grant: String?
    /// Whether the grant still had the lock, as etcd knows, after the caller has asked; nil as long as it has not.
    package var proof: Proof?
    package enum Proof: String, Codable, Sendable { case wanted, given }
    /// Whether the caller no longer wants the lock. The program finds a caller that was killed by
    /// `ClusterRecords.presence`.
    package var isGivenUp = false

    package init(identifier: String, lock: String, processIdentifier: Int32) {
        self.identifier = identifier
        self.lock = lock
        self.processIdentifier = processIdentifier
    }
}

/// A process's request for the state of the cluster, as etcd has it.
package struct ClusterStateRequest: Codable, Equatable, Sendable {
    /// The name of the request, 32 hexadecimal digits. The file with the state, in the directory of contents, has it,
    /// too: the bytes are those of a snapshot.
    package let name: String
    /// The index of the last entry in the state, when the file is there.
    package var index: UInt64?
    /// Why there is no file.
    package var failure: String?

    package init(name: String) { self.name = name }
}

/// A person's decision while the program runs, and the program's answer. The decision holds only for the situation that
/// the person has seen.
package struct ClusterDecision: Codable, Equatable, Sendable {
    package enum Kind: String, Codable, Sendable {
        case joinAnew
        case sendRemovals
        /// Join anew though the cluster has the history that this machine has seen, as their contents differ.
        case repair
    }
    /// The name of the decision, 32 hexadecimal digits.
    package let name: String
    package let kind: Kind
    /// The number of withheld removals that the person has seen.
    package let removals: Int
    package var answer: String?

    /// The answer of a program that has done what was decided.
    package static let done = "done"

    init(name: String, kind: Kind, removals: Int) {
        self.name = name
        self.kind = kind
        self.removals = removals
    }
}

/// The status of this machine in its cluster, which the program records for `group-cluster status`, `groupctl doctor`
/// and callers.
package struct ClusterStatus: Codable, Equatable, Sendable {
    package struct Conflict: Codable, Equatable, Sendable {
        /// The path of the item with the conflict name.
        package var path: Data
        package var foundAt: Date
        /// The path as text.
        package var copy: String { printable(Array(path)) }
        package init(_ path: [UInt8], foundAt: Date) {
            self.path = Data(path)
            self.foundAt = foundAt
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
        /// The index of the last entry that the machine had applied when it last noted that; nil if it has noted none.
        package var index: UInt64?
        /// The time at which this machine last found the other one's session, by this machine's clock; nil if the other
        /// one is running, or was never found running.
        package var seenAt: Date?
        /// The time at which the other machine last noted its index, by its own clock.
        package var notedAt: Date?
        /// The number of removals that it withholds, when it last noted that.
        package var withheld: Int?
        /// The items that it has and does not send; nil for none.
        package var unmirrored: Own?

        package struct Own: Codable, Equatable, Sendable {
            package var count: Int
            /// The first of them, each as text: the path, and the reason.
            package var first: [String]
            package init(count: Int, first: [String]) { (self.count, self.first) = (count, first) }
        }

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
        /// The paths of the files `.groupignore` of which not everything is used, with the reasons.
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
    /// The items that a `.groupignore` keeps out of the cluster, with a directory counted as one, and the faults of
    /// these files; nil if there are neither.
    package var ignored: Ignored?
    /// The reason why the program sends and applies nothing until a person has decided: another history, or a newer
    /// version.
    package var paused: String?
    /// The number of removals that are withheld because most items were gone at once, until a person accepts them or
    /// all items are back; nil for none.
    package var withheld: Int?
    /// The paths of files with values of this machine for which the cluster has others.
    package var replaced: [String]?
    package var failure: String?
    /// What a person has to do about the failure; nil where it may end by itself.
    package var remedy: String?
    /// The other machines; nil where they were never read.
    package var machines: [Machine]?

    package init(
        name: String, host: String, machine: String, endpoints: [String], processIdentifier: Int32, since: Date
    ) {
        self.name = name
        self.host = host
        self.machine = machine
        self.endpoints = endpoints
        self.processIdentifier = processIdentifier
        self.since = since
    }
}
