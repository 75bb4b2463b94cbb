import Cluster
import GroupContainer

/// The requests, locks and posts that processes have recorded for the program. Each record is decoded when it has
/// changed. Used by the machine's thread.
final class RecordBook {
    private(set) var requests: [String: ClusterRequest] = [:]
    private(set) var locks: [String: ClusterLockRequest] = [:]
    private(set) var posts: [String: RelayedPost] = [:]
    private(set) var states: [String: ClusterStateRequest] = [:]
    /// The decision of a person.
    private(set) var decision: ClusterDecision?
    private let records: ClusterRecords
    private var changes: Follower<DefaultsChange>

    /// Reads all records.
    init(_ records: ClusterRecords) throws {
        self.records = records
        changes = try records.changes(since: .snapshot)
        try update()
    }

    /// Reads the records that have changed since the last call.
    func update() throws {
        while let change = try changes.next(timeout: .zero) {
            switch change.kind {
            case .set, .removed, .present: note(change.key)
            case .cleared, .rescan:
                (requests, locks, posts, states, decision) = ([:], [:], [:], [:], nil)
                for key in records.keys { note(key) }
            case .degraded: continue
            }
        }
    }

    /// The requests, in the order in which they were made.
    var requestsInOrder: [ClusterRequest] {
        requests.values.sorted { ($0.queuedAt, $0.operation) < ($1.queuedAt, $1.operation) }
    }

    private func note(_ key: String) {
        switch ClusterRecords.Key(key) {
        // Any member may have written a record: one that has another name than its key is none.
        case .request(let name): requests[name] = records.request(name).flatMap { $0.operation == name ? $0 : nil }
        case .lock(let name): locks[name] = records.lock(name).flatMap { $0.identifier == name ? $0 : nil }
        case .post(let name): posts[name] = records.post(name).flatMap { $0.identifier == name ? $0 : nil }
        case .state(let name): states[name] = records.stateRequest(name).flatMap { $0.name == name ? $0 : nil }
        case .decision: decision = records.decision
        case nil: return
        }
    }
}
