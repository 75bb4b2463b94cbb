import Dispatch
import GroupCluster
import GroupEtcd
import GroupSystemCalls

/// The locks that this machine requests from etcd. While another grant has one of them, a watch of all locks shows
/// which ones become free. Used by the thread of the order.
final class EtcdLocks {
    struct Request: Sendable {
        enum Aim {
            case lock([UInt8])
            /// Only the number of the last entry.
            case index
            /// Whether the grant still has this lock.
            case proof([UInt8])
        }
        let identifier: String
        let grant: ClusterName
        let aim: Aim
        /// The lock that is wanted, if one is.
        var lock: [UInt8]? { if case .lock(let lock) = aim { lock } else { nil } }
    }
    private enum Answer {
        /// The request is done with, and its event posted.
        case done
        /// Another grant has the lock, as of that revision.
        case held(UInt64)
        /// There is no session, so nothing was sent.
        case noSession
        case none
    }

    private let link: EtcdLink
    private let client: EtcdClient
    private var waiting: [Request] = []
    /// The grants for which an attempt has failed. etcd may still execute the attempt, even after the lock was granted
    /// and released.
    private var uncertain: Set<ClusterName> = []
    /// The releases that are not final. A lock that is still in etcd would stay there as long as the session is
    /// renewed. So each release is repeated until it has succeeded, at the earliest at the time `until`: etcd no longer
    /// executes earlier attempts to acquire the lock then.
    private var releases: [(lock: [UInt8], grant: ClusterName, until: DispatchTime)] = []
    private var watch: EtcdWatch?
    /// Whether to try again after a while: etcd has not answered, or a release is not final.
    private(set) var hasFailed = false

    init(_ link: EtcdLink, _ client: EtcdClient) { (self.link, self.client) = (link, client) }

    func ask(_ request: Request) {
        waiting.append(request)
        tryAcquiring { $0.identifier == request.identifier }
    }

    /// Tries to acquire the locks with these keys, which have become free.
    func acquireFreed(_ keys: Set<[UInt8]>) {
        tryAcquiring { request in request.lock.map { keys.contains(link.keys.lock($0)) } ?? false }
    }

    func release(_ lock: [UInt8]?, _ grant: ClusterName) {
        let isUncertain = uncertain.remove(grant) != nil
        waiting.removeAll { $0.grant == grant }
        if let lock, !isReleased(lock, grant) || isUncertain {
            releases.append((lock, grant, until: isUncertain ? .now() + 30 : .now()))
        }
        update()
    }

    func tryAgain() {
        hasFailed = false
        releases.removeAll { isReleased($0.lock, $0.grant) && $0.until <= .now() }
        tryAcquiring { _ in true }
    }

    func ended(_ watch: EtcdWatch) {
        guard self.watch === watch else { return }
        self.watch = nil
        // Locks may have become free since the watch's last event.
        tryAgain()
    }

    func stop() { watch?.cancel() }

    private func tryAcquiring(where isTried: (Request) -> Bool) {
        var seen: UInt64?
        waiting = waiting.compactMap { request in
            if !isTried(request) { return request }
            switch answer(to: request) {
            case .done: return nil
            case .held(let revision): seen = min(seen ?? revision, revision)
            case .noSession: hasFailed = true
            case .none:
                hasFailed = true
                if request.lock != nil { uncertain.insert(request.grant) }
            }
            return request
        }
        if watch == nil, let seen { startWatch(from: seen + 1) }
        update()
    }

    private func update() {
        if !releases.isEmpty { hasFailed = true }
        if waiting.isEmpty {
            watch?.cancel()
            watch = nil
        }
    }

    private func answer(to request: Request) -> Answer {
        let last = EtcdOperation.range(.key(link.keys.last))
        do throws(EtcdFailure) {
            let result: EtcdTransactionResult
            switch request.aim {
            case .lock(let lock):
                let lease = link.session.withLock { $0 }
                if lease == 0 { return .noSession }
                let key = link.keys.lock(lock)
                let text = Array(request.grant.text.utf8)
                result = try client.transaction(
                    if: [.absent(key)], then: [last, .put(key, text, lease: lease)], else: [last, .range(.key(key))])
                // An earlier attempt may have acquired the lock, and its answer may have been lost.
                if !result.succeeded && result.ranges.last?.keyValues.first?.value != text {
                    return .held(result.revision)
                }
            // A transaction that only reads is linearizable, and writes nothing.
            case .index: result = try client.transaction(then: [last])
            case .proof(let lock):
                let found = try client.transaction(then: [.range(.key(link.keys.lock(lock)))]).ranges.first
                let isHeld = found?.keyValues.first?.value == Array(request.grant.text.utf8)
                link.post(.proven(identifier: request.identifier, grant: request.grant, isHeld: isHeld))
                return .done
            }
            guard let range = result.ranges.first else { throw .malformed("an answer without its ranges") }
            let index = range.keyValues.first?.version ?? 0
            link.post(.granted(identifier: request.identifier, grant: request.grant, index: index))
            return .done
        } catch {
            return .none
        }
    }

    /// Releases a lock. Returns false if etcd has not confirmed the release.
    private func isReleased(_ lock: [UInt8], _ grant: ClusterName) -> Bool {
        let key = link.keys.lock(lock)
        return EtcdLink.failure { () throws(EtcdFailure) in
            _ = try client.transaction(if: [.value(key, equals: Array(grant.text.utf8))], then: [.delete(key)])
        } == nil
    }

    private func startWatch(from revision: UInt64) {
        let watch = EtcdWatch(link.configuration, prefix: link.keys.locks, from: revision)
        do {
            try link.startThread { link in
                try? watch.run { response in
                    let freed = response.events.filter { $0.kind == .delete }.map(\.keyValue.key)
                    if !freed.isEmpty { link.send(.locksFreed(Set(freed))) }
                    return true
                }
                link.send(.lockWatchEnded(watch))
            }
            self.watch = watch
        } catch {
            hasFailed = true
        }
    }
}
