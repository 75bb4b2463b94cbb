import Cluster
import GroupCluster
import GroupContainer

/// The locks of the cluster that processes of this container ask for: from the records of the requests to etcd, and back.
/// Used by the thread of the machine.
///
///     waiting ── etcd gives the lock ──▶ given ── everything before it is applied here ──▶ granted ── lost, given back ──▶ ended
final class Locks {
    private struct Grant {
        var identifier: String
        /// Whether the cluster's entries were read since etcd has given the lock: those before it are known.
        var isRead = false
    }

    private let container: Container
    private let records: ClusterRecords
    private let book: RecordBook
    private let link: EtcdLink
    /// The names of the grants that were asked for, by the names of the requests.
    private var names: [String: ClusterName] = [:]
    private var given: [Grant] = []

    init(_ container: Container, _ records: ClusterRecords, _ book: RecordBook, _ link: EtcdLink) {
        (self.container, self.records, self.book, self.link) = (container, records, book, link)
    }

    /// Whether a process has a lock, or waits for one: it may be killed, which changes no record.
    var areWatched: Bool { !book.locks.isEmpty }

    /// Asks etcd for what processes want, and gives back what they want no more.
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
                // Of an earlier run: its session has ended, or will.
                try end(lock.identifier)
            } else if !isWanted {
                try records.remove(lock: lock.identifier)
            }
        }
        try book.update()
    }

    /// Takes what etcd says of a lock. Returns whether the cluster's entries are to be read.
    func take(_ event: ClusterLockEvent) throws -> Bool {
        switch event {
        case .granted(let identifier, let grant, _):
            guard names[identifier] == grant else { return false }
            given.append(Grant(identifier: identifier))
            return true
        case .ended(let identifier): try end(identifier)
        case .failed(let identifier, let reason):
            try records.update(lock: identifier) { lock in
                (lock.state, lock.reason) = (.failed, reason)
                return true
            }
        }
        return false
    }

    /// Notes that the cluster's entries were read.
    func read() { for place in given.indices { given[place].isRead = true } }

    /// Whether a lock was given, and everything before it is known.
    var hasGiven: Bool { given.contains(where: \.isRead) }

    /// Grants the locks that were given. To be called when everything that is known is applied.
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

    /// Asks again for the locks that are waited for, in a session of etcd that has just begun. Those of an earlier session are gone; a
    /// grant that came before its end is worth nothing.
    func beganSession() throws {
        try book.update()
        for lock in book.locks.values {
            switch lock.state {
            case .granted: try end(lock.identifier)
            case .waiting:
                guard let grant = names.removeValue(forKey: lock.identifier) else { continue }
                given.removeAll { $0.identifier == lock.identifier }
                link.send(.release(lock: Array(lock.lock.utf8), grant: grant))
            case .ended, .failed: continue
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
