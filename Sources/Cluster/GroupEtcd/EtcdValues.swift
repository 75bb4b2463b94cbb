/// A key, its value, and the revisions at which it was created and changed.
package struct EtcdKeyValue: Equatable, Sendable {
    package var key, value: [UInt8]
    package var createRevision, modRevision, version: UInt64
    /// The lease that removes the key when it ends; 0 for none.
    package var lease: Int64

    package init(
        key: [UInt8], value: [UInt8], createRevision: UInt64 = 0, modRevision: UInt64 = 0, version: UInt64 = 0,
        lease: Int64 = 0
    ) {
        self.key = key
        self.value = value
        self.createRevision = createRevision
        self.modRevision = modRevision
        self.version = version
        self.lease = lease
    }
}

/// A condition of a transaction.
package enum EtcdCompare: Equatable, Sendable {
    /// The key is not there: its create revision is 0.
    case absent([UInt8])
    /// The key is there: its create revision is more than 0.
    case present([UInt8])
    /// The key is there and has this value.
    case value([UInt8], equals: [UInt8])
    /// The key was written this number of times since it was created; 0 if it is not there.
    case version([UInt8], equals: UInt64)
    /// The key was last written at this revision; 0 if it is not there.
    case modRevision([UInt8], equals: UInt64)
    /// All keys that begin with these bytes, if there are any, were last written before this revision.
    case allBefore(prefix: [UInt8], revision: UInt64)
}

/// A range of keys, and how to read it.
package struct EtcdRange: Equatable, Sendable {
    package enum Order: Equatable, Sendable {
        case key
        /// By the revision of the last change. etcd reads all keys of the range before it takes the first `limit`.
        case modRevision
    }

    package var key: [UInt8]
    /// The end, which is not part of the range; nil for one key.
    package var end: [UInt8]?
    /// The revision at which to read; 0 for the newest.
    package var revision: UInt64 = 0
    /// Keys that were changed before this revision are left out.
    package var minimumModRevision: UInt64 = 0
    /// The largest number of keys; 0 for all. An answer of more than 64 MiB is malformed.
    package var limit = 0
    /// Whether one member may answer alone, with a state that may be old. Otherwise a quorum takes part.
    package var isSerializable = false
    package var keysOnly = false
    package var countOnly = false
    package var order = Order.key

    package init(key: [UInt8], end: [UInt8]? = nil) { (self.key, self.end) = (key, end) }

    package static func key(_ key: [UInt8]) -> Self { Self(key: key) }

    /// Returns the range of all keys that begin with these bytes.
    package static func prefix(_ prefix: [UInt8]) -> Self {
        Self(key: prefix.isEmpty ? [0] : prefix, end: endOfPrefix(prefix))
    }

    /// Returns the first key after all keys that begin with these bytes. If there is no such key, returns one zero
    /// byte, which etcd reads as no end.
    package static func endOfPrefix(_ prefix: [UInt8]) -> [UInt8] {
        var end = prefix
        while let last = end.popLast() {
            if last < 0xFF { return end + [last + 1] }
        }
        return [0]
    }
}

/// An operation of a transaction.
package enum EtcdOperation: Equatable, Sendable {
    case put([UInt8], [UInt8], lease: Int64 = 0)
    case delete([UInt8], end: [UInt8]? = nil)
    case range(EtcdRange)
}

/// The result of reading a range.
package struct EtcdRangeResult: Equatable, Sendable {
    /// The revision of the store at the time of the reading, which may be newer than the revision that was read.
    package var revision: UInt64
    package var clusterIdentifier: UInt64 = 0
    package var keyValues: [EtcdKeyValue]
    /// Whether there are more keys than the limit.
    package var hasMore: Bool
    /// The number of keys in the range, whatever the limit is.
    package var count: UInt64
}

/// The result of a transaction.
package struct EtcdTransactionResult: Equatable, Sendable {
    /// Whether all conditions were true, and the operations of `then` were executed.
    package var succeeded: Bool
    /// The store's revision after the transaction: that of its writes, if it has written anything.
    package var revision: UInt64
    package var clusterIdentifier: UInt64
    /// The result of each `range` of the branch that ran, in order.
    package var ranges: [EtcdRangeResult]
    /// The number of keys that each `delete` of the branch that ran has removed, in order.
    package var deleted: [UInt64]
}

/// The state of the member that answered.
package struct EtcdStatus: Equatable, Sendable {
    package var version: String
    package var clusterIdentifier, memberIdentifier: UInt64
    package var revision: UInt64
    /// The size of the database's file, and the part of it that is used, in bytes. etcd's quota limits `dbSize`.
    package var dbSize, dbSizeInUse: UInt64
    /// The member that leads; 0 if there is none.
    package var leader: UInt64
    package var raftTerm, raftIndex, raftAppliedIndex: UInt64
    package var isLearner: Bool
    /// Alarms, like "memberID:… alarm:NOSPACE", and others.
    package var errors: [String]
}

/// A change of a key.
package struct EtcdEvent: Equatable, Sendable {
    package enum Kind: Equatable, Sendable { case put, delete }

    package var kind: Kind
    /// The key after the change. For a deletion, only its name and its revision (`modRevision`) are set.
    package var keyValue: EtcdKeyValue

    package init(kind: Kind, keyValue: EtcdKeyValue) { (self.kind, self.keyValue) = (kind, keyValue) }
}

/// A response of a watch: changes that come together.
package struct EtcdWatchResponse: Equatable, Sendable {
    /// The revision of the member's store when it made the response. A watch cannot resume from there, because older
    /// events may be on their way.
    package var revision: UInt64
    /// The events, in the order of their revisions. All events of one revision are in one response. A watch resumes
    /// from the `modRevision` of the last event, plus 1.
    package var events: [EtcdEvent]
    /// Whether the response has no events, and shows only that the member is alive. etcd before 3.4.25 sends such a
    /// response while older events are on their way.
    package var isProgress: Bool
    package var clusterIdentifier: UInt64 = 0

    package init(revision: UInt64, events: [EtcdEvent], isProgress: Bool, clusterIdentifier: UInt64 = 0) {
        self.revision = revision
        self.events = events
        self.isProgress = isProgress
        self.clusterIdentifier = clusterIdentifier
    }
}
