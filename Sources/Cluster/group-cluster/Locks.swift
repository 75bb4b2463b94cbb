import Cluster
import GroupCluster
import GroupContainer

/// The locks of the cluster that processes of this container request, on their way from the records to etcd and back.
/// Used by the machine's thread.
///
///     waiting ── etcd gives the lock ──▶ given ── all before it is applied ──▶ granted ── lost, released ──▶ ended
///
/// A process gets the lock only when this machine has applied every entry that was committed before the grant. So it
/// sees all changes of the lock's former holders.
final class Locks {
    private struct Grant {
        var identifier: String
        /// Whether the log was read after etcd gave the lock, so that all entries before the grant are known.
        var isRead = false
    }

    private let container: Container
    private let records: ClusterRecords
    private let book: RecordBook
    private let link: EtcdLink
    /// The names of the grants that were requested, by the names of the requests.
    private var names: [String: ClusterName] = [:]
    private var given: [Grant] = []

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
                if isWanted && lock.state != .ended { continue }
                names[lock.identifier] = nil
                given.removeAll { $0.identifier == lock.identifier }
                link.send(.release(lock: Array(lock.lock.utf8), grant: grant))
                try records.remove(lock: lock.identifier)
            } else if lock.state == .waiting && isWanted {
                let grant = ClusterName.fresh()
                names[lock.identifier] = grant
                link.send(.acquire(identifier: lock.identifier, lock: Array(lock.lock.utf8), grant: grant))
            } else if lock.state == .granted {
                // An earlier run of the program got this grant, for a session that has ended or will end.
                try end(lock.identifier)
            } else if !isWanted {
                try records.remove(lock: lock.identifier)
            }
        }
        try book.update()
    }

    /// Notes that etcd gave a lock. Returns whether the log must be read now.
    func take(_ identifier: String, _ grant: ClusterName) -> Bool {
        guard names[identifier] == grant else { return false }
        given.append(Grant(identifier: identifier))
        return true
    }

    /// Notes that the log was read.
    func read() { for index in given.indices { given[index].isRead = true } }

    /// Whether a lock was given, and all entries before it are known.
    var hasGiven: Bool { given.contains(where: \.isRead) }

    /// Grants the locks that were given. To be called when all entries that are known are applied.
    func grant() throws {
        for grant in given where grant.isRead {
            guard let name = names[grant.identifier] else { continue }
            try records.update(lock: grant.identifier) { lock in
                if lock.state != .waiting { return false }
                (lock.state, lock.grant) = (.granted, name.text)
                return true
            }
        }
        given.removeAll { $0.isRead }
    }

    /// Requests the awaited locks again, in a new session of etcd. The locks of the old session are gone, and so a
    /// grant that came before its end is void.
    func beganSession() throws {
        try book.update()
        for lock in book.locks.values {
            switch lock.state {
            case .granted: try end(lock.identifier)
            case .waiting:
                guard let grant = names.removeValue(forKey: lock.identifier) else { continue }
                given.removeAll { $0.identifier == lock.identifier }
                link.send(.release(lock: Array(lock.lock.utf8), grant: grant))
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
