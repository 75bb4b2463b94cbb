import Cluster
import GroupCluster
import GroupContainer

/// The locks of the cluster that processes of this container request, on their way from the records to etcd and back.
/// Used by the machine's thread.
///
///     waiting ── etcd gives the lock ──▶ given ── all before it is applied ──▶ granted ── lost, released ──▶ ended
///
/// A process gets the lock only when this machine has applied every entry that was committed before the grant. So it
/// sees all changes of the lock's former holders. A process that wants nothing but that (`ClusterLock.isBarrier`) gets
/// its grant in the same way, and has no lock in etcd.
final class Locks {
    private struct Grant {
        var identifier: String
        /// The number of the last entry before the grant.
        var index: UInt64
    }

    private let container: Container
    private let records: ClusterRecords
    private let book: RecordBook
    private let link: EtcdLink
    /// The names of the grants that were requested, by the names of the requests.
    private var names: [String: ClusterName] = [:]
    private var given: [Grant] = []
    /// The grants for which etcd is asked whether they still have their locks.
    private var asked: Set<ClusterName> = []

    init(_ container: Container, _ records: ClusterRecords, _ book: RecordBook, _ link: EtcdLink) {
        self.container = container
        self.records = records
        self.book = book
        self.link = link
    }

    /// Whether a process holds or awaits a lock. Such a process may be killed, which changes no record.
    var areWatched: Bool { !book.locks.isEmpty }

    /// Requests from etcd the locks that processes want, and releases those that they want no more.
    func takeRecords() throws {
        for lock in book.locks.values.sorted(by: { $0.identifier < $1.identifier }) {
            let isWanted =
                try !lock.isGivenUp && Presence.isThere(ClusterRecords.presence(lock.identifier), in: container)
            if let grant = names[lock.identifier] {
                if isWanted && lock.state != .ended {
                    if lock.state == .granted, lock.proof == .wanted, asked.insert(grant).inserted {
                        let aim = EtcdLocks.Request.Aim.proof(Array(lock.lock.utf8))
                        link.send(.ask(.init(identifier: lock.identifier, grant: grant, aim: aim)))
                    }
                    continue
                }
                names[lock.identifier] = nil
                asked.remove(grant)
                given.removeAll { $0.identifier == lock.identifier }
                link.send(.release(lock: lock.inEtcd, grant: grant))
                try records.remove(lock: lock.identifier)
            } else if lock.state == .waiting && isWanted {
                let grant = ClusterName.fresh()
                names[lock.identifier] = grant
                let aim = lock.inEtcd.map { EtcdLocks.Request.Aim.lock($0) } ?? .index
                link.send(.ask(.init(identifier: lock.identifier, grant: grant, aim: aim)))
            } else if lock.state == .granted {
                // An earlier run of the program got this grant, for a session that has ended or will end.
                try end(lock.identifier)
            } else if !isWanted {
                try records.remove(lock: lock.identifier)
            }
        }
        try book.update()
    }

    /// Notes that etcd gave a lock, behind the entry with that index. Returns whether it is still wanted.
    func take(_ identifier: String, _ grant: ClusterName, _ index: UInt64) -> Bool {
        guard names[identifier] == grant else { return false }
        given.append(Grant(identifier: identifier, index: index))
        return true
    }

    /// Notes whether a grant still has its lock.
    func take(_ identifier: String, _ grant: ClusterName, isHeld: Bool) throws {
        guard names[identifier] == grant else { return }
        asked.remove(grant)
        if !isHeld { return try end(identifier) }
        try records.update(lock: identifier) { lock in
            if lock.state != .granted || lock.proof != .wanted { return false }
            lock.proof = .given
            return true
        }
    }

    /// Returns whether a lock was given, and all entries before it are known.
    func hasGiven(upTo index: UInt64) -> Bool { given.contains { $0.index <= index } }

    /// Grants the locks that were given. To be called when all entries up to `index` are applied.
    func grant(upTo index: UInt64) throws {
        for grant in given where grant.index <= index {
            guard let name = names[grant.identifier] else { continue }
            try records.update(lock: grant.identifier) { lock in
                if lock.state != .waiting { return false }
                (lock.state, lock.grant) = (.granted, name.text)
                return true
            }
        }
        given.removeAll { $0.index <= index }
    }

    /// Requests the awaited locks again, in a new session of etcd. The locks of the old session are gone, and so a
    /// grant that came before its end is void.
    func beganSession() throws {
        try book.update()
        for lock in book.locks.values where lock.inEtcd != nil {
            switch lock.state {
            case .granted: try end(lock.identifier)
            case .waiting:
                guard let grant = names.removeValue(forKey: lock.identifier) else { continue }
                given.removeAll { $0.identifier == lock.identifier }
                link.send(.release(lock: lock.inEtcd, grant: grant))
            case .ended: continue
            }
        }
        try book.update()
        try takeRecords()
    }

    private func end(_ identifier: String) throws {
        try records.update(lock: identifier) { lock in
            if lock.state == .ended { return false }
            lock.state = .ended
            return true
        }
    }
}

extension ClusterLockRequest {
    /// The name of the lock in etcd; nil where the request is for no lock.
    fileprivate var inEtcd: [UInt8]? { ClusterLock.isBarrier(lock) ? nil : Array(lock.utf8) }
}
