import Dispatch
import GroupBytes
import GroupCluster
import GroupDigest
import GroupEtcd
import GroupSystemCalls

/// An event from the threads that use etcd, for the thread that owns the fold.
enum LinkEvent: Sendable {
    /// The log, read from a quorum at one revision, and the identifier of the etcd cluster.
    case reading(ClusterReading, cluster: UInt64)
    case readingFailed(EtcdFailure)
    /// The entry is in etcd.
    case committed(CommitRequest, OrderedEntry)
    /// A condition of the transaction was false, and nothing was changed: the number of the entry, the token of its
    /// lock, or the mark of its upload. `counter` is the number of this machine's last entry in etcd.
    case refused(CommitRequest, counter: UInt64, hasToken: Bool, hasUpload: Bool)
    case commitFailed(CommitRequest, EtcdFailure)
    /// Nothing was sent: etcd's database uses more than half of the budget.
    case roomUsed(CommitRequest, bytes: UInt64)
    /// The number of entries, read from time to time.
    case counted(UInt64)
    case event(OrderedEntry)
    case watchEnded(EtcdFailure?)
    /// A content is in the directory of contents, or could not be loaded.
    case content(digest: [UInt8], by: ClusterName, ContentResult)
    /// A lock was acquired, or nothing but the number of the last entry was wanted, which is `index`.
    case granted(identifier: String, grant: ClusterName, index: UInt64)
    /// Whether a grant still has its lock.
    case proven(identifier: String, grant: ClusterName, isHeld: Bool)
    /// The state that etcd has, or why it could not be read.
    case state(request: String, ClusterFold?, failure: String?)
    /// A new session with etcd began. The locks of the session before it are gone.
    case sessionBegan(Int64)
    case snapshotWritten(UInt64)
    /// The other machines, read from time to time.
    case machines([OtherMachine])
    case failed(String, EtcdFailure)

    enum ContentResult: Sendable {
        case here
        /// etcd does not have the content: it was replaced since, or never uploaded.
        case missing
        /// This machine's disk has no room for it.
        case noRoom(Errno)
        case failed(EtcdFailure)
    }
}

/// The threads that use etcd. The thread of the order reads and commits entries, writes snapshots, renews the session,
/// and acquires and releases locks. Two other threads load contents and watch the order. While another grant has a
/// requested lock, one more watches the locks. Each thread has its own connection.
final class EtcdLink: Sendable {
    enum Job: Sendable {
        case read
        case commit(CommitRequest, contents: [[UInt8]])
        case snapshot([UInt8], ClusterFold.Summary)
        case state(request: String)
        case ask(EtcdLocks.Request)
        case release(lock: [UInt8]?, grant: ClusterName)
        /// Locks have become free. The value has their keys.
        case locksFreed(Set<[UInt8]>)
        case lockWatchEnded(EtcdWatch)
        case stop
    }
    enum ContentJob: Sendable {
        case load([UInt8], by: ClusterName)
        case stop
    }

    let keys: ClusterKeys
    let configuration: EtcdConfiguration
    let machine: ClusterName
    let host: String
    let contents: ContentFiles
    private let jobs = Mailbox<Job>()
    let contentJobs = Mailbox<ContentJob>()
    let post: @Sendable (LinkEvent) -> Void
    private let watch = Guarded<EtcdWatch?>(nil)
    let session = Guarded<Int64>(0)
    /// The session of the program's last run, which may not have ended yet and may still have locks.
    private let lastSession: Int64
    /// The limit for the used part of etcd's database, history included. Above the limit, only empty entries are sent.
    private let roomLimit: Guarded<RoomLimit>
    private let room = Guarded((used: UInt64(0), isKnownUntil: DispatchTime(uptimeNanoseconds: 0)))
    private let threads = DispatchGroup()
    private let nextRenewal = Guarded(DispatchTime.now())
    /// An upload that is paused between two parts, and the keys of its pieces that are in etcd.
    let uploading = Guarded<(operation: ClusterName, present: Set<[UInt8]>)?>(nil)
    /// The operations whose uploads have a mark. The marks end with the session.
    let marked = Guarded<Set<ClusterName>>([])
    let access = Guarded(Access.unknown)
    let notes = Guarded(MachineNotes())

    /// How long the machine's session lasts after its last renewal, in seconds.
    static let sessionLength: Int64 = 15
    /// The time between two renewals of the session, in seconds. Each renewal also reads the number of entries. While
    /// etcd refuses this machine, the time is twice as long.
    static let renewal = 5.0
    /// The names of work that may fail, for people.
    static let renewing = "renew the session"
    static let writingSnapshot = "write a snapshot"

    init(
        _ configuration: EtcdConfiguration, _ keys: ClusterKeys, machine: ClusterName, host: String,
        contents: ContentFiles, lastSession: Int64, mostRoom: UInt64, post: @escaping @Sendable (LinkEvent) -> Void
    ) {
        self.lastSession = lastSession
        roomLimit = Guarded(RoomLimit(mostRoom))
        self.configuration = configuration
        self.keys = keys
        self.machine = machine
        self.host = host
        self.contents = contents
        self.post = post
    }

    func start() throws(Errno) {
        try startThread { $0.work() }
        try startThread { $0.loadContents() }
    }

    func startThread(_ body: @escaping @Sendable (EtcdLink) -> Void) throws(Errno) {
        threads.enter()
        do throws(Errno) {
            try WorkThread.start {
                body(self)
                self.threads.leave()
            }
        } catch {
            threads.leave()
            throw error
        }
    }

    /// Ends the threads, and waits for them for at most 3 seconds. A request in progress is not interrupted.
    func stop() {
        jobs.post(.stop)
        contentJobs.post(.stop)
        watch.withLock { $0?.cancel() }
        _ = threads.wait(timeout: .now() + .seconds(3))
    }

    func send(_ job: Job) { jobs.post(job) }
    func load(_ digest: [UInt8], by operation: ClusterName) { contentJobs.post(.load(digest, by: operation)) }

    // MARK: The order

    private func work() {
        let client = EtcdClient(configuration)
        let locks = EtcdLocks(self, client)
        while true {
            let job = jobs.next(until: nextRenewal.withLock { $0 })
            if renewIfDue(client) { locks.tryAgain() }
            switch job {
            case nil: break
            case .stop?:
                locks.stop()
                end(client)
                return
            case .read?: read(client)
            case .commit(let request, let contents)?: commit(request, contents, client)
            case .snapshot(let bytes, let summary)?: write(bytes, summary, client)
            case .state(let request)?: readState(request, client)
            case .ask(let request)?: locks.ask(request)
            case .release(let lock, let grant)?: locks.release(lock, grant)
            case .locksFreed(let keys)?: locks.acquireFreed(keys)
            case .lockWatchEnded(let watch)?: locks.ended(watch)
            }
            if locks.hasFailed && access.withLock({ $0 }) != .refused {
                nextRenewal.withLock { $0 = min($0, .now() + 0.5) }
            }
        }
    }

    /// Renews the session if it is time, and returns whether it was. Long work calls this, too, so that the session
    /// does not end meanwhile.
    @discardableResult
    func renewIfDue(_ client: EtcdClient) -> Bool {
        if nextRenewal.withLock({ $0 }) > .now() { return false }
        renew(client)
        let isRefused = access.withLock { $0 } == .refused
        nextRenewal.withLock { $0 = .now() + Self.renewal * (isRefused ? 2 : 1) }
        return true
    }

    /// Renews the session, or begins one. Reads the number of entries, and exchanges the machines' notes.
    private func renew(_ client: EtcdClient) {
        do throws(EtcdFailure) {
            var lease = session.withLock { $0 }
            if lease != 0, try client.keepLeaseAlive(lease) <= 0 { lease = 0 }
            if lease == 0 {
                // This fails without harm if that session has ended already.
                if lastSession != 0 { try? client.revokeLease(lastSession) }
                lease = try client.grantLease(seconds: Self.sessionLength)
                let key = keys.machine(machine)
                let text = Array(host.utf8)
                _ = try client.transaction(then: [.put(key, text, lease: lease)])
                session.withLock { [lease] in $0 = lease }
                post(.sessionBegan(lease))
            }
            let counts = try counts(client)
            post(.counted(counts.entries))
            exchangeNotes(counts, client)
        } catch {
            noteRefusal(error)
            post(.failed(Self.renewing, error))
        }
    }

    private func end(_ client: EtcdClient) {
        let lease = session.withLock { $0 }
        if lease == 0 { return }
        noteEnd(client)
        try? client.revokeLease(lease)
    }

    private func read(_ client: EtcdClient) {
        do throws(EtcdFailure) {
            try checkPermissions(client)
            let (reading, cluster, revision) = try reading(client)
            watch(from: revision + 1)
            post(.reading(reading, cluster: cluster))
        } catch {
            noteRefusal(error)
            post(.readingFailed(error))
        }
    }

    /// The number of entries in the first page. Each entry has up to 1 MiB.
    private static let firstPage = 16

    /// Reads the log at one revision. Returns it with the identifier of the etcd cluster and the revision.
    func reading(_ client: EtcdClient) throws(EtcdFailure) -> (ClusterReading, UInt64, UInt64) {
        var range = EtcdRange.prefix(keys.entries)
        range.limit = Self.firstPage
        let first = try firstPage(&range, client)
        guard first.ranges.count == 3 else { throw .malformed("an answer without its ranges") }
        let count = first.ranges[0].keyValues.first?.version ?? 0
        var found = first.ranges[2].keyValues
        if first.ranges[2].hasMore, let last = found.last {
            (range.key, range.revision) = (last.key + [0], first.revision)
            try client.forEach(in: range) { found.append($0) }
        }
        found.sort { $0.modRevision < $1.modRevision }
        var entries: [OrderedEntry] = []
        for (index, keyValue) in found.enumerated() {
            guard let (machine, number) = keys.entry(keyValue.key), UInt64(found.count - index) <= count else {
                continue
            }
            // The indexes of entries have no gaps, and the last entry has the index `count`.
            entries.append(
                OrderedEntry(
                    index: count - UInt64(found.count - index) + 1, revision: keyValue.modRevision, machine: machine,
                    number: number, bytes: keyValue.value))
        }
        let snapshot = try snapshot(first.ranges[1].keyValues.first, at: first.revision, client)
        return (
            ClusterReading(count: count, snapshot: snapshot, entries: entries), first.clusterIdentifier, first.revision
        )
    }

    /// Reads the first page, with the name of the last entry and that of the snapshot. If the answer is too large, or
    /// does not come in time, the page is requested again with a quarter of the entries.
    private func firstPage(_ range: inout EtcdRange, _ client: EtcdClient) throws(EtcdFailure) -> EtcdTransactionResult
    {
        while true {
            do throws(EtcdFailure) {
                return try client.transaction(
                    then: [.range(.key(keys.last)), .range(.key(keys.snapshot)), .range(range)])
            } catch {
                switch error {
                case .malformed where range.limit > 1, .noAnswer where range.limit > 1: range.limit /= 4
                default: throw error
                }
            }
        }
    }

    /// Returns the used part of etcd's database, in bytes: its size at most five seconds ago, plus what this machine
    /// has sent since.
    private func usedRoom(_ client: EtcdClient) throws(EtcdFailure) -> UInt64 {
        let known = room.withLock { $0 }
        let bound = roomLimit.withLock { $0.bound }
        if known.used <= bound && DispatchTime.now() < known.isKnownUntil { return known.used }
        let used = try client.status().dbSizeInUse
        room.withLock { $0 = (used, .now() + Self.renewal) }
        return used
    }

    private func commit(_ request: CommitRequest, _ digests: [[UInt8]], _ client: EtcdClient) {
        do throws(EtcdFailure) {
            let entry = try? ClusterEntry(bytes: request.bytes)
            // An empty entry is sent nevertheless, since it decides the fate of an entry that may have been sent.
            if entry?.changes.isEmpty != true, case let used = try usedRoom(client),
                roomLimit.withLock({ $0.exceeded(by: used) })
            {
                return post(.roomUsed(request, bytes: used))
            }
            removeMarks(except: entry?.operation, client)
            guard let (puts, isUploaded) = try upload(digests, by: entry?.operation ?? .zero, client) else {
                // The rest of a large upload is queued behind other jobs, so that readings and locks do not wait for
                // it.
                return jobs.post(.commit(request, contents: digests))
            }
            let size = digests.reduce(UInt64(request.bytes.count)) { $0 + (contents.size(of: $1) ?? 0) }
            room.withLock { $0.used += size }
            let counter = keys.counter(of: machine)
            var compares: [EtcdCompare] = [
                request.number == 1 ? .absent(counter) : .value(counter, equals: Array("\(request.number - 1)".utf8))
            ]
            if let token = request.token {
                compares.append(.value(keys.lock(token.lock), equals: Array(token.grant.text.utf8)))
            }
            var operations: [EtcdOperation] = [
                .put(counter, Array("\(request.number)".utf8)),
                .put(keys.entry(request.number, of: machine), request.bytes),
                .put(keys.last, Array("\(machine.text)/\(request.number)".utf8)),
            ]
            operations += puts
            if isUploaded, let operation = entry?.operation {
                compares.append(.present(keys.upload(operation)))
                operations.append(.delete(keys.upload(operation)))
                // A removal of unused contents that began earlier finds this key, which is younger, and leaves the
                // contents.
                operations.append(.put(keys.contents(of: operation), []))
            }
            operations.append(.range(.key(keys.last)))
            var otherwise: [EtcdOperation] = [.range(.key(counter))]
            otherwise.append(.range(.key(keys.lock(request.token?.lock ?? []))))
            otherwise.append(.range(.key(keys.upload(entry?.operation ?? .zero))))
            let result = try client.transaction(if: compares, then: operations, else: otherwise)
            if result.succeeded {
                if let operation = entry?.operation { marked.withLock { _ = $0.remove(operation) } }
                guard let last = result.ranges.first?.keyValues.first else { throw .malformed("no last entry") }
                post(
                    .committed(
                        request,
                        OrderedEntry(
                            index: last.version, revision: last.modRevision, machine: machine,
                            number: request.number, bytes: request.bytes)))
                return
            }
            guard result.ranges.count == 3 else { throw .malformed("an answer without its ranges") }
            let number = result.ranges[0].keyValues.first.flatMap { UInt64(String(decoding: $0.value, as: UTF8.self)) }
            let hasToken = result.ranges[1].keyValues.first?.value == request.token.map { Array($0.grant.text.utf8) }
            post(
                .refused(
                    request, counter: number ?? 0, hasToken: hasToken || request.token == nil,
                    hasUpload: !isUploaded || !result.ranges[2].keyValues.isEmpty))
        } catch {
            noteRefusal(error)
            post(.commitFailed(request, error))
        }
    }

    static func failure(_ body: () throws(EtcdFailure) -> Void) -> EtcdFailure? {
        do throws(EtcdFailure) { try body() } catch { return error }
        return nil
    }

    // MARK: The watch

    /// Watches the order from a revision on, and ends the watch before it.
    private func watch(from revision: UInt64) {
        let watch = EtcdWatch(configuration, prefix: keys.order, from: revision)
        self.watch.withLock { old in
            old?.cancel()
            old = watch
        }
        do {
            try startThread { link in link.run(watch) }
        } catch {
            // Without its watch, the connection is made anew later.
            post(.watchEnded(.noAnswer("no thread for the watch: \(error)")))
        }
    }

    private func run(_ watch: EtcdWatch) {
        var failure: EtcdFailure?
        do throws(EtcdFailure) {
            try watch.run { response in
                self.take(response)
                return true
            }
        } catch {
            failure = error
        }
        if self.watch.withLock({ $0 === watch }) { post(.watchEnded(failure)) }
    }

    /// Posts the entries of a response. All events of one revision come in one response, so the key of an entry and the
    /// key `last` come together.
    private func take(_ response: EtcdWatchResponse) {
        var entries: [UInt64: (machine: ClusterName, number: UInt64, bytes: [UInt8])] = [:]
        for event in response.events where event.kind == .put {
            let keyValue = event.keyValue
            if let (machine, number) = keys.entry(keyValue.key) {
                entries[keyValue.modRevision] = (machine, number, keyValue.value)
            }
        }
        for event in response.events where event.kind == .put && event.keyValue.key == keys.last {
            guard let entry = entries[event.keyValue.modRevision] else { continue }
            post(
                .event(
                    OrderedEntry(
                        index: event.keyValue.version, revision: event.keyValue.modRevision, machine: entry.machine,
                        number: entry.number, bytes: entry.bytes)))
        }
    }
}
