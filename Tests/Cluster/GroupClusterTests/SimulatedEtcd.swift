import GroupCluster

/// As much of etcd as the cluster uses: revisions, transactions, ranges, watches, compaction, locks with leases. A copy
/// of the value is a backup.
struct SimulatedEtcd {
    enum Answer {
        case committed
        case refused(counter: UInt64, hasToken: Bool)
    }

    private(set) var revision: UInt64 = 1
    /// The version of the key `t`.
    private(set) var count: UInt64 = 0
    private var counters: [ClusterName: UInt64] = [:]
    private(set) var entries: [OrderedEntry] = []
    /// What a watch can still see.
    private(set) var events: [OrderedEntry] = []
    private(set) var compacted: UInt64 = 0
    private(set) var snapshot: [UInt8]?
    private(set) var snapshotIndex: UInt64 = 0
    /// The value of each lock.
    private(set) var locks: [[UInt8]: ClusterName] = [:]

    mutating func commit(_ request: CommitRequest) -> Answer {
        let counter = counters[request.machine] ?? 0
        let hasToken = request.token.map { locks[$0.lock] == $0.grant } ?? true
        if counter != request.number - 1 || !hasToken { return .refused(counter: counter, hasToken: hasToken) }
        revision += 1
        count += 1
        counters[request.machine] = request.number
        let entry = OrderedEntry(
            index: count, revision: revision, machine: request.machine, number: request.number, bytes: request.bytes)
        entries.append(entry)
        events.append(entry)
        return .committed
    }

    mutating func acquire(_ lock: [UInt8], _ grant: ClusterName) -> Bool {
        if let holder = locks[lock] { return holder == grant }
        revision += 1
        locks[lock] = grant
        return true
    }

    /// The lease of a lock's holder ends, or the holder gives the lock back.
    mutating func release(_ lock: [UInt8]) {
        revision += 1
        locks[lock] = nil
    }

    func read() -> ClusterReading { ClusterReading(count: count, snapshot: snapshot, entries: entries) }

    mutating func put(snapshot fold: ClusterFold) {
        if fold.index <= snapshotIndex { return }
        revision += 1
        (snapshot, snapshotIndex) = (fold.snapshot, fold.index)
        entries.removeAll { $0.index <= fold.index }
    }

    mutating func compact() {
        compacted = revision
        events = []
    }
}
